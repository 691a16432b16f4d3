import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes
import Identity

extension DeuceDiaryService {
    func users(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(use: getUser)
        routes.on(use: updateUser)
        routes.on(answering: uploadProfilePicture)
        routes.on(use: deleteUser)
    }

    func getUser(_ request: DeuceDiary.GetUser, from caller: Caller) async throws -> DeuceDiary.User {
        let current = try await database.read { db -> DeuceDiary.User? in
            guard let user = try Users.one(caller.user, for: caller.user, in: db), caller.claims.agree(with: user),
                try Groups.isInAny(caller.user, db)
            else { return nil }
            return user
        }
        if let current { return current }
        let now = time.milliseconds()
        let user = try await database.write { [makeID] db -> DeuceDiary.User? in
            // The second of two concurrent requests waits, and finds the group that the first has created.
            try Users.lockCaller(caller.user, in: db)
            if try !Groups.isInAny(caller.user, db) {
                try Groups.insertSolo(for: caller.user, id: .init(makeID()), at: now, in: db)
            }
            if let user = try Users.one(caller.user, for: caller.user, in: db), caller.claims.agree(with: user) {
                return user
            }
            return try Users.update(caller.user, by: caller.claims, at: now, in: db)
        }
        guard let user else { throw IssuerAccounts.unauthorized }
        return user
    }

    func updateUser(_ request: DeuceDiary.UpdateUser, from caller: Caller) async throws -> DeuceDiary.User {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        let user: DeuceDiary.User?
        do {
            user = try await database.write { db in
                let user = try Users.rename(caller.user, to: request.username, at: now, in: db)
                try Reports.Queue.flag(flagged, person: caller.user, at: now, in: db)
                return user
            }
        } catch DatabaseFailure.constraint {
            throw Problem(.badRequest, "Username already taken")
        }
        guard let user else { throw IssuerAccounts.unauthorized }
        return user
    }
}

extension BearerClaims {
    /// Returns whether a user's record has every value of the claims. Absent claims are not compared.
    fileprivate func agree(with user: DeuceDiary.User) -> Bool {
        (email ?? user.email) == user.email && (firstName ?? user.firstName) == user.firstName
            && (lastName ?? user.lastName) == user.lastName
    }
}

enum Users: AccountTable {
    typealias ID = DeuceDiary.User.ID

    static let gone = IssuerAccounts.unauthorized

    /// The columns of a user `u` that are the same for every reader.
    enum Column: String, Columns {
        case id = "u.id"
        case firstName = "u.first_name"
        case lastName = "u.last_name"
        case username = "u.username"
        case picture = "u.picture"
        case deuceCount = "u.deuce_count"
        case createdAt = "u.created_at"
        case updatedAt = "u.updated_at"

        static let list = ColumnList(Self.self)
    }

    /// The number of the columns of a user: the e-mail address is the last.
    static let columnCount = Column.list.count + 1

    /// Returns the columns of a user `u`, which ``DeuceDiaryAPI/DeuceDiary/User/init(row:at:)`` reads.
    ///
    /// - Parameter viewer: The user who reads them; e-mail addresses are shown to their owner alone.
    static func columns(for viewer: DeuceDiary.User.ID?) -> SQL {
        let email: SQL = viewer.map { "CASE WHEN u.id = \($0) THEN u.email END" } ?? "NULL"
        return "\(Column.list), \(email)"
    }

    /// - Throws: A `Problem` with 401 when the token belongs to a deleted account, or its user was signed out.
    static func requireToken(_ claims: BearerClaims, in db: Session) throws {
        let isOfTheDeleted = try db.exists(
            "SELECT 1 FROM deletions WHERE user_id = \(claims.subject) AND issued_until >= \(claims.issuedAt)")
        if isOfTheDeleted { throw IssuerAccounts.unauthorized }
    }

    static func one(
        _ id: DeuceDiary.User.ID, for viewer: DeuceDiary.User.ID?, in db: Session
    ) throws -> DeuceDiary.User? {
        try db.one("SELECT \(columns(for: viewer)) FROM users u WHERE u.id = \(id)") { try .init(row: $0) }
    }

    /// Returns the users with these ids, in no order.
    static func all(
        _ ids: [DeuceDiary.User.ID], for viewer: DeuceDiary.User.ID, in db: Session
    ) throws -> [DeuceDiary.User] {
        guard !ids.isEmpty else { return [] }
        return try db.all("SELECT \(columns(for: viewer)) FROM users u WHERE u.id IN (\(list: ids))") {
            try .init(row: $0)
        }
    }

    /// Adds an account, and returns false when there is one already.
    static func insert(_ claims: BearerClaims, at now: Int64, in db: Session) throws -> Bool {
        try db.run(
            """
            INSERT INTO users (id, email, first_name, last_name, created_at, updated_at)
            VALUES (\(claims.subject), \(claims.email), \(claims.firstName), \(claims.lastName), \(now), \(now))
            ON CONFLICT (id) DO NOTHING
            """) == 1
    }

    /// Updates a user with the claims of a token. Absent claims leave the values unchanged.
    static func update(
        _ id: DeuceDiary.User.ID, by claims: BearerClaims, at now: Int64, in db: Session
    ) throws -> DeuceDiary.User? {
        try db.run(
            """
            UPDATE users SET email = COALESCE(\(claims.email), email),
                first_name = COALESCE(\(claims.firstName), first_name),
                last_name = COALESCE(\(claims.lastName), last_name), updated_at = \(now)
            WHERE id = \(id)
            """)
        return try one(id, for: id, in: db)
    }

    /// - Throws: `DatabaseFailure.constraint` when another user has the name.
    static func rename(
        _ id: DeuceDiary.User.ID, to username: String, at now: Int64, in db: Session
    ) throws -> DeuceDiary.User? {
        try db.run(
            """
            UPDATE users SET username = \(username), username_key = \(username.lowercased()), updated_at = \(now)
            WHERE id = \(id)
            """)
        return try one(id, for: id, in: db)
    }

    /// Increments the number of a user's logs, which also locks the user's row.
    static func countLog(of id: DeuceDiary.User.ID, at now: Int64, in db: Session) throws -> DeuceDiary.User? {
        try db.run("UPDATE users SET deuce_count = deuce_count + 1, updated_at = \(now) WHERE id = \(id)")
        return try one(id, for: nil, in: db)
    }

    /// Decrements the number of a user's logs.
    static func decrementLogs(by logs: Int, of id: DeuceDiary.User.ID, at now: Int64, in db: Session) throws {
        try db.run(
            """
            UPDATE users SET deuce_count = CASE WHEN deuce_count > \(logs) THEN deuce_count - \(logs) ELSE 0 END,
                updated_at = \(now)
            WHERE id = \(id)
            """)
    }
}

extension DeuceDiary.User {
    /// - Parameter first: The number of the columns before ``Users/columns(for:)``.
    init(row: borrowing Row, at first: Int = 0) throws {
        let picture: String? = try row.get(Users.Column.picture, behind: first)
        self.init(
            id: try row.get(Users.Column.id, behind: first), email: try row.get(first + Users.Column.list.count),
            firstName: try row.get(Users.Column.firstName, behind: first),
            lastName: try row.get(Users.Column.lastName, behind: first),
            username: try row.get(Users.Column.username, behind: first),
            profileImageUrl: picture.map { "/\(Pictures.folder)/\($0)" },
            deuceCount: try row.get(Users.Column.deuceCount, behind: first),
            createdAt: try row.get(Users.Column.createdAt, behind: first),
            updatedAt: try row.get(Users.Column.updatedAt, behind: first))
    }
}
