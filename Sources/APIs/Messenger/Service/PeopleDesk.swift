import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

extension MessengerService {
    public static var tableOfPeople: (any PeopleTable.Type)? { Users.self }
    public var peopleDesk: (any PeopleDesk)? { MessengerPeople(service: self) }
    public static var registrationKind: RegistrationKind { .byRequest }
}

/// Carries out operators' commands for the people of this API.
struct MessengerPeople: PeopleDesk {
    typealias Table = Users

    let service: MessengerService

    var time: TimeSource { service.time }
    var archives: Archives<Users> { service.archives }

    var signIns: SignInThrottle? { service.accounts.throttle }

    func endSessions(of person: Messenger.User.ID, at now: Int64, in db: Session) throws -> Int? {
        let ended = try service.sessions.endAll(of: person, in: db)
        for session in ended { service.announce(.sessionEnded(session), as: nil, in: db) }
        return ended.count
    }

    func closeSockets(of person: Messenger.User.ID, at now: Int64, in db: Session) throws {
        for session in try service.sessions.lookAgain(at: person, in: db) {
            service.announce(.sessionEnded(session), as: nil, in: db)
        }
    }

    func makeReset(
        _ token: String, of person: Messenger.User.ID, isSent: Bool, at now: Int64, in db: Session
    ) throws -> String {
        try service.emails.makeReset(token, of: person, isSent: isSent, at: now, in: db)
    }

    func delete(
        _ person: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> @Sendable () async -> Void {
        guard try Users.lock(person, in: db) else { throw Users.gone }
        let removed = try service.delete(person, at: now, in: db)
        return { [service] in await service.remove(objects: removed) }
    }
}

extension Users: PeopleTable {
    static let searched: [SQL] = ["username", "email", "display_name"]
    static let suspended = Messenger.suspended
    static let nameColumn: SQL = "username"
    static let hasReports = true
    static let termsColumn: SQL? = "accepted_terms"

    static func ids(
        ofNamesContaining text: String, limit: Int, in db: Session
    ) throws -> [Messenger.User.ID] {
        try UserSearch.first(limit, containing: key(text), in: db) { $0 }.map { .init(Int64($0)) }
    }

    static func sessions(
        of id: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> [PersonRecord.Session] {
        try SessionNotes.shown(of: id, lifetime: MessengerService.sessionRules.refresh * 1000, at: now, in: db)
    }

    static func storage(of id: Messenger.User.ID, in db: Session) throws -> Int64? {
        try Files.storage(of: id, in: db)
    }
}
