import Backend
import Contract
import ContractServer
import Database
import GTSDAPI

extension GTSDService {
    public static var tableOfPeople: (any PeopleTable.Type)? { Users.self }
    public var peopleDesk: (any PeopleDesk)? { GTSDPeople(service: self) }
    public static var registrationKind: RegistrationKind { .byRequest }
}

/// Carries out operators' commands for the people of this API.
struct GTSDPeople: PeopleDesk {
    typealias Table = Users

    let service: GTSDService

    var time: TimeSource { service.time }
    var archives: Archives<Users> { service.archives }

    var signIns: SignInThrottle? { service.accounts.throttle }

    func endSessions(of person: UserID, at now: Int64, in db: Session) throws -> Int? {
        try service.sessions.endAll(of: person, in: db).count
    }

    func closeSockets(of person: UserID, at now: Int64, in db: Session) throws {
        // There are no sockets.
        _ = try service.sessions.lookAgain(at: person, in: db)
    }

    func makeReset(
        _ token: String, of person: UserID, isSent: Bool, at now: Int64, in db: Session
    ) throws -> String {
        try service.emails.makeReset(token, of: person, isSent: isSent, at: now, in: db)
    }

    func delete(_ person: UserID, at now: Int64, in db: Session) throws -> @Sendable () async -> Void {
        guard try Users.lock(person, in: db) else { throw Users.gone }
        let keys = try service.delete(person, in: db)
        return { [service] in await service.removeDiscarded(keys) }
    }
}

extension Users: PeopleTable {
    static let searched: [SQL] = ["email", "name"]
    static let suspended = GTSD.deactivated
    static let nameColumn: SQL = "name"
    static let termsColumn: SQL? = "accepted_terms"

    static func sessions(of id: UserID, at now: Int64, in db: Session) throws -> [PersonRecord.Session] {
        try SessionNotes.shown(of: id, lifetime: GTSDService.sessionRules.refresh * 1000, at: now, in: db)
    }

    static func storage(of id: UserID, in db: Session) throws -> Int64? {
        try db.value("SELECT CAST(COALESCE(SUM(file_size), 0) AS BIGINT) FROM photos WHERE user_id = \(id)")
    }
}
