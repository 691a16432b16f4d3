import Backend
import Contract
import ContractServer
import Database
import GuestbookAPI

extension GuestbookService {
    func signUp(_ request: Guestbook.SignUp, _ info: RequestInfo) async throws -> Answer<Guestbook.User> {
        try await accounts.signUp(password: request.password, info) { password, _, db in
            let id: Users.ID? = try db.value(
                """
                INSERT INTO users (name, password) VALUES (\(request.name), \(password))
                ON CONFLICT (name) DO NOTHING RETURNING id
                """)
            guard let id else { throw Problem(.conflict, "Name is taken") }
            return (id, Answer(.created, Guestbook.User(id: id, name: request.name)))
        }
    }

    func signIn(_ request: PasswordSignIn<Guestbook>, _ info: RequestInfo) async throws -> SessionTokens<Users.ID> {
        try await accounts.signIn(as: request.name, where: "name = \(request.name)", password: request.password, info)
    }

    func writeEntry(
        _ request: Guestbook.WriteEntry, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Guestbook.Entry> {
        _ = try await accounts.rates.admit("entries \(caller.user)", limit: 30, Guestbook.errorMessages.tooManyRequests)
        let (now, messages) = (platform.time.milliseconds(), Guestbook.errorMessages)
        return try await platform.database.write(info.idempotencyKey, errorMessages: messages, at: now) { [live] db in
            // One after the other, so that ids grow in the order of the commits.
            try db.lock("book", where: "id = 1")
            let own: Int = try db.value("SELECT COUNT(*) FROM entries WHERE author = \(caller.user)") ?? 0
            guard own < 1000 else { throw Problem(.conflict, "You have 1000 entries: delete one first") }
            let entry = try db.one(
                """
                INSERT INTO entries (author, text, created_at) VALUES (\(caller.user), \(request.text), \(now))
                RETURNING \(Entries.columns)
                """, Entries.read)
            guard let entry else { throw Users.gone }
            try live.publish(Added(entry), in: db)
            return Answer(.created, entry)
        }
    }

    func listEntries(_ request: Guestbook.ListEntries, _ info: RequestInfo) async throws -> [Guestbook.Entry] {
        let (limit, before) = (request.limit ?? 50, request.before ?? .init(.max))
        let query: SQL = "SELECT \(Entries.columns) FROM entries WHERE id < \(before) ORDER BY id DESC LIMIT \(limit)"
        return try await platform.database.read { try $0.all(query, Entries.read) }
    }

    func deleteEntry(_ request: Guestbook.DeleteEntry, from caller: Caller) async throws -> Empty {
        try await platform.database.write { db in
            let id = request.id
            if try db.run("DELETE FROM entries WHERE id = \(id) AND author = \(caller.user)") > 0 { return Empty() }
            throw try db.exists("SELECT 1 FROM entries WHERE id = \(id)")
                ? Problem(.forbidden, "Not your entry") : Problem(.notFound, Guestbook.errorMessages.notFound)
        }
    }
}
