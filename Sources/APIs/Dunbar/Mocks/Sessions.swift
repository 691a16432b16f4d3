import Contract
import ContractMocks
import DunbarAPI
import DunbarExamples

extension Dunbar.Session {
    /// The example: John's telephone, which asks.
    public static let example: Self = contractExample(DunbarExamples.session)
    /// Another session of John's.
    static let otherExample: Self = {
        var session = example
        (session.id, session.device, session.isCurrent) = (.init(example.id.rawValue + 1), "John's iPad", false)
        return session
    }()
}

extension DunbarMock {
    func sessions() {
        server.example(of: Dunbar.ListSessions.self) { [memory] _ in memory.use { $0.listed } }
        server.example(of: Dunbar.EndOtherSessions.self) { [memory] _ in
            memory.use { memory in memory.listed.removeAll { !$0.isCurrent } }
            return .init(message: "Other sessions ended")
        }
        server.example(answering: Dunbar.EndSession.self) { [memory] request in
            try memory.use { memory in
                guard let index = memory.listed.firstIndex(where: { $0.id == request.id }) else {
                    throw Problem(.notFound, "Session not found")
                }
                let ended = Dunbar.Confirmation(message: "Session ended")
                guard memory.listed[index].isCurrent else {
                    memory.listed.remove(at: index)
                    return Answer(.ok, ended)
                }
                memory.sessions = []
                return Answer(.ok, ended, headers: DunbarMemory.clearingCookie)
            }
        }
    }
}
