import Backend
import Contract
import Database
import MonicaAPI

extension MonicaService {
    public static var tableOfPeople: (any PeopleTable.Type)? { Accounts.self }
    public var peopleDesk: (any PeopleDesk)? { MonicaPeople(service: self) }
}

/// Carries out operators' commands for the people of this API.
struct MonicaPeople: PeopleDesk {
    typealias Table = Accounts

    let service: MonicaService

    var time: TimeSource { service.time }
    var archives: Archives<Accounts> { service.archives }

    /// Revokes the account's tokens, which are its sessions.
    func endSessions(of person: AccountID, at now: Int64, in db: Session) throws -> Int? {
        let digests: [[UInt8]] = try db.all("SELECT digest FROM tokens WHERE account_id = \(person)") { try $0.get(0) }
        db.afterCommit { [tokens = service.tokens] in digests.forEach(tokens.forget) }
        try SignIn.forget(person, in: db)
        return try db.run("DELETE FROM tokens WHERE account_id = \(person)")
    }

    func closeSockets(of person: AccountID, at now: Int64, in db: Session) throws {
        // There are none; but this node asks the database again at once.
        let digests: [[UInt8]] = try db.all("SELECT digest FROM tokens WHERE account_id = \(person)") { try $0.get(0) }
        db.afterCommit { [tokens = service.tokens] in digests.forEach(tokens.forget) }
    }

    func delete(_ person: AccountID, at now: Int64, in db: Session) throws -> @Sendable () async -> Void {
        _ = try endSessions(of: person, at: now, in: db)
        try AccountDeletion.begin(person, service.archives, at: now, in: db)
        // The account is gone, and what is left of it is removed again later.
        return { [service] in try? await service.removeDeletedAccounts(for: .seconds(5)) }
    }
}

extension Accounts: PeopleTable {
    static let searched: [SQL] = ["name", "email"]
    static let suspended = Monica.suspended
    static let nameColumn: SQL = "name"

    static func sessions(of id: AccountID, at now: Int64, in db: Session) throws -> [PersonRecord.Session] {
        try db.all(
            """
            SELECT name, created_at, last_used_at FROM tokens WHERE account_id = \(id)
            ORDER BY COALESCE(last_used_at, 0) DESC, id LIMIT 500
            """
        ) { row in
            PersonRecord.Session(
                device: try row.get(0), startedAt: .init(try row.get(1)),
                usedAt: (try row.get(2, as: Int64?.self)).map { .init($0) }, address: nil)
        }
    }

    static func storage(of id: AccountID, in db: Session) throws -> Int64? { try Files.storage(of: id, in: db) }
}
