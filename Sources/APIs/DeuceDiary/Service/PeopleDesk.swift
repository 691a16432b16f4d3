import Backend
import Contract
import Database
import DeuceDiaryAPI
import ObjectStore

extension DeuceDiaryService {
    public static var tableOfPeople: (any PeopleTable.Type)? { Users.self }
    public var peopleDesk: (any PeopleDesk)? { DeuceDiaryPeople(service: self) }
    public static var registrationKind: RegistrationKind { .byToken }
}

/// Carries out operators' commands for the people of this API.
struct DeuceDiaryPeople: PeopleDesk {
    typealias Table = Users

    let service: DeuceDiaryService

    var time: TimeSource { service.time }
    var archives: Archives<Users> { service.archives }

    /// Refuses the tokens that the issuer has made until now. The server does not know how many there are, and the issuer
    /// decides whether the person gets others.
    func endSessions(of person: DeuceDiary.User.ID, at now: Int64, in db: Session) throws -> Int? {
        try service.endTokens(of: person, issuedUntil: now / 1000, at: now, in: db)
        return nil
    }

    func closeSockets(of person: DeuceDiary.User.ID, at now: Int64, in db: Session) throws {
        service.publisher.publish(.suspended(person), short: nil, as: nil, in: db)
        // On this node it takes effect before the answer, whichever way events take.
        db.afterCommit { [accounts = service.accounts] in accounts.noteSuspension(of: person, at: now) }
    }

    func delete(
        _ person: DeuceDiary.User.ID, at now: Int64, in db: Session
    ) throws -> @Sendable () async -> Void {
        let picture = try service.delete(person, issuedUntil: now / 1000, at: now, in: db)
        return { [service] in await service.remove(picture: picture) }
    }
}

extension Users: PeopleTable {
    static let searched: [SQL] = ["username", "email", "first_name", "last_name"]
    static let suspended = DeuceDiary.suspended
    static let hasReports = true
    static let nameColumn: SQL = "COALESCE(username, first_name || ' ' || last_name, first_name, last_name)"

    /// The sessions are the issuer's.
    static func sessions(
        of id: DeuceDiary.User.ID, at now: Int64, in db: Session
    ) throws -> [PersonRecord.Session] { [] }
}
