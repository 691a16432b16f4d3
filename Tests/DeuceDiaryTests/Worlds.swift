import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryCheck
import Testbed

extension DeuceDiaryHost {
    func world() -> DeuceDiaryWorld {
        DeuceDiaryWorld(Server(baseURL: baseURL, transport: transport, sockets: sockets), tokens: tokens)
    }

    var tokens: TokenSource {
        .issuer { [issuer] bearer in
            try issuer.issue(
                bearer.subject, email: bearer.email, firstName: bearer.firstName, lastName: bearer.lastName)
        }
    }
}

func time(_ text: String) -> DeuceDiary.Timestamp {
    guard let time = DeuceDiary.Timestamp(text) else { preconditionFailure("no time: \(text)") }
    return time
}
