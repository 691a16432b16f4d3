import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.Report {
    /// The example: the first report.
    public static let example: Self = contractExample(MessengerExamples.report)
}

extension MessengerMock {
    func reports() {
        server.example(of: Messenger.CreateReport.self) { [memory] request in
            try memory.use { memory in
                if let user = request.user { _ = try memory.person(user) }
                if let message = request.message { _ = try memory.message(message) }
            }
            return .example
        }
    }
}
