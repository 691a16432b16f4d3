import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func sessions(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(use: listSessions)
        routes.on(use: endOtherSessions)
        routes.on(answering: endSession)
    }

    func listSessions(_ request: Dunbar.ListSessions, from caller: Caller) async throws -> [Dunbar.Session] {
        let now = time.milliseconds()
        return try await database.read { [sessions] in try sessions.list(of: caller, at: now, in: $0) }
            .map(Dunbar.Session.init)
    }

    func endOtherSessions(
        _ request: Dunbar.EndOtherSessions, from caller: Caller
    ) async throws -> Dunbar.Confirmation {
        try await database.write { [sessions] db in try sessions.endOthers(of: caller, in: db) }
        return .init(message: "Other sessions ended")
    }

    func endSession(
        _ request: Dunbar.EndSession, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let isOwn = try await database.write { [sessions] db in
            try sessions.end(number: request.id.rawValue, of: caller, in: db)
        }
        guard let isOwn else { throw Problem(.notFound, "Session not found") }
        return Answer(.ok, .init(message: "Session ended"), headers: isOwn ? sessions.clearingCookie : [:])
    }
}

extension Dunbar.Session {
    fileprivate init(_ session: NotedSession) {
        self.init(
            id: .init(session.number), device: session.device,
            createdAt: session.startedAt.map { .init(milliseconds: $0) },
            lastUsedAt: .init(milliseconds: session.usedAt), address: session.address, isCurrent: session.isCurrent)
    }
}
