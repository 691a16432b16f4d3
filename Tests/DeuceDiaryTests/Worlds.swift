import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryCheck
import DeuceDiaryExamples
import Testbed

extension DeuceDiaryHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> DeuceDiaryWorld {
        let described = DescribedTransport(transport, sockets, baseURL: baseURL, Described.api)
        var server = Server(baseURL: baseURL, transport: described, sockets: described)
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

/// The API's description, which every answer to a scenario is held to.
enum Described {
    static let api = SharedDescription(DeuceDiary.self, title: "Deuce Diary", examples: DeuceDiaryExamples.all)
}
