import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    public static var tableOfPeople: (any PeopleTable.Type)? { Users.self }
    public var peopleDesk: (any PeopleDesk)? { DunbarPeople(service: self) }
    public static var registrationKind: RegistrationKind { .byRequest }
}

/// Carries out operators' commands for the people of this API.
struct DunbarPeople: PeopleDesk {
    typealias Table = Users

    let service: DunbarService

    var time: TimeSource { service.time }
    var archives: Archives<Users> { service.archives }

    var signIns: SignInThrottle? { service.accounts.throttle }

    func endSessions(of person: Dunbar.User.ID, at now: Int64, in db: Session) throws -> Int? {
        try service.sessions.endAll(of: person, in: db)
    }

    /// There are none, and every request asks the database.
    func closeSockets(of person: Dunbar.User.ID, at now: Int64, in db: Session) throws {}

    func requireDispensable(_ person: Dunbar.User.ID, at now: Int64, in db: Session) throws {
        guard try Users.isAdmin(person, in: db) else { return }
        // Two commands at the same time must not take two admins away, of whom each counts the other.
        try db.lock("users", where: "is_admin = 1 ORDER BY id")
        let others = try db.exists(
            "SELECT 1 FROM users WHERE is_admin = 1 AND id <> \(person) AND \(Users.isUsable(at: now))")
        guard others else { throw OperatorError("\(person) is the last admin: promote another one before") }
    }

    func makeReset(
        _ token: String, of person: Dunbar.User.ID, isSent: Bool, at now: Int64, in db: Session
    ) throws -> String {
        try service.emails.makeReset(token, of: person, isSent: isSent, at: now, in: db)
    }

    func delete(_ person: Dunbar.User.ID, at now: Int64, in db: Session) throws -> @Sendable () async -> Void {
        guard try Users.lock(person, in: db) else { throw Users.gone }
        try service.sessions.endAll(of: person, in: db)
        let files = try Users.delete(person, service.accounts, service.archives, at: now, in: db)
        return { [service] in await service.remove(files) }
    }
}

extension Users: PeopleTable {
    static let searched: [SQL] = ["username", "email", "display_name"]
    static let suspended = Dunbar.suspended
    static let nameColumn: SQL = "username"
    static let hasReports = true
    static let termsColumn: SQL? = "accepted_terms"
    static let verifiedColumn: SQL? = "is_verified"

    static func ids(
        ofNamesContaining text: String, limit: Int, in db: Session
    ) throws -> [Dunbar.User.ID] {
        try UserSearch.first(limit, containing: key(text), in: db) { $0 }.map { .init(Int64($0)) }
    }

    static func sessions(
        of id: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> [PersonRecord.Session] {
        try SessionNotes.shown(of: id, lifetime: CookieSessions<ID>.lifetime, at: now, in: db)
    }

    static func storage(of id: Dunbar.User.ID, in db: Session) throws -> Int64? {
        try db.value("SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM media WHERE user_id = \(id)")
    }
}
