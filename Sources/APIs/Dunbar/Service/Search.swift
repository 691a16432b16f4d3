import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func search(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(use: searchUsers)
    }

    func searchUsers(_ request: Dunbar.SearchUsers, from caller: Caller) async throws -> [Dunbar.User] {
        let text = request.query.trimmed
        if text.isEmpty { return [] }
        return try await searches.run(for: caller.user) {
            try await database.read(from: .replica) { [urls] db in
                try Users.matching(text, with: request.include, to: caller.user, urls, in: db)
            }
        }
    }
}
