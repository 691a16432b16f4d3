import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryCheck
import Testbed

extension DeuceDiaryHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> DeuceDiaryWorld {
        var server = Server(baseURL: baseURL, transport: transport, sockets: sockets)
        server.coverage = coverage
        return DeuceDiaryWorld(server, tokens: tokens)
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
