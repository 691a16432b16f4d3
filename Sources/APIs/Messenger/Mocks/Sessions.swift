import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.Session {
    /// The example: Alice's telephone, which asks.
    public static let example: Self = contractExample(MessengerExamples.session)
    /// Another session of Alice's.
    static let otherExample: Self = {
        var session = example
        (session.id, session.device, session.current) = (.init(example.id.rawValue + 1), "Alice's iPad", false)
        return session
    }()
}

extension MessengerMock {
    func sessions() {
        server.example(of: Messenger.ListSessions.self) { [memory] _ in memory.use { $0.listed } }
        server.example(of: Messenger.EndOtherSessions.self) { [memory] _ in
            memory.use { memory in memory.listed.removeAll { !$0.current } }
            return Empty()
        }
        server.example(of: Messenger.EndSession.self) { [memory] request in
            try memory.use { memory in
                guard let index = memory.listed.firstIndex(where: { $0.id == request.id }) else {
                    throw Problem(.notFound, "Session not found")
                }
                if memory.listed[index].current {
                    memory.endSessions()
                } else {
                    memory.listed.remove(at: index)
                }
                return Empty()
            }
        }
    }
}
