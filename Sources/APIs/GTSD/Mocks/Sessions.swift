import Contract
import ContractMocks
import GTSDAPI
import GTSDExamples

extension GTSD.Session {
    /// The example: Anna's telephone, which asks.
    public static let example: Self = contractExample(GTSDExamples.session)
    /// Another session of Anna's.
    static let otherExample: Self = {
        var session = example
        (session.id, session.device, session.current) = ("4503599627370497", "Anna's iPad", false)
        return session
    }()
}

extension GTSDMock {
    func sessions() {
        server.example(of: GTSD.ListSessions.self) { [memory] _ in
            APIResponse(.init(sessions: memory.use { $0.listed }))
        }
        server.example(of: GTSD.EndOtherSessions.self) { [memory] _ in
            memory.use { memory in memory.listed.removeAll { !$0.current } }
            return APIResponse(message: "Other sessions ended successfully")
        }
        server.example(of: GTSD.EndSession.self) { [memory] request in
            try memory.use { memory in
                guard let index = memory.listed.firstIndex(where: { $0.id == request.sessionId }) else {
                    throw Problem(.notFound, "Session not found")
                }
                if memory.listed[index].current {
                    memory.sessions.endAll()
                } else {
                    memory.listed.remove(at: index)
                }
                return APIResponse(message: "Session ended successfully")
            }
        }
    }
}
