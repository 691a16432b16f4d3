import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import Foundation
import HTTPTypes

extension DunbarService {
    func users(_ routes: inout Routes<Dunbar, Caller>) {
        routes.open(answering: getUser)
        routes.on(use: updateUser)
        routes.on(answering: uploadPhoto)
    }

    func getUser(
        _ request: Dunbar.GetUser, _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.User>> {
        // This operation needs no session. With one, the answer also has the relationship to its user.
        let session = try await sessions.caller(info.headers, from: info.address)
        let found = try await database.read(from: .replica) { [urls] db in
            guard let user = try Users.profile(request.id, to: session?.user, urls, in: db) else {
                throw Users.notFound
            }
            let isAccepted = try session.flatMap { try Follows.isAccepted($0.user, to: user.id, in: db) }
            return WithRelationship(user, isFollowing: isAccepted == true, isPending: isAccepted == false)
        }
        return Answer(.ok, found, headers: session?.headers ?? [:])
    }

    func updateUser(_ request: Dunbar.UpdateUser, from caller: Caller) async throws -> Dunbar.UpdatedUser {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write { [urls] db in
            try Users.require(caller.user, mayChange: request.id, in: db)
            try request.validate()
            try Users.update(request, in: db)
            try Reports.Queue.flag(flagged, person: request.id, at: now, in: db)
            return try Users.changed(request.id, by: caller.user, urls, in: db)
        }
    }
}

enum Users: EmailAccountTable {
    typealias ID = Dunbar.User.ID

    static let notFound = Problem(.notFound, "User not found")
    static let gone = DunbarService.unauthorized
    static let wrongSignIn = Problem(.unauthorized, "Invalid username or password")
    static let wrongPassword = Problem(.badRequest, "Invalid password")

    static let takenEmail = Problem(.badRequest, "Email already exists")

    static func emailKey(_ address: String) -> String { key(address) }

    /// Returns a name in the form in which names are compared: trimmed, composed, in lower case.
    static func key(_ name: String) -> String { name.trimmed.lowercased().precomposedStringWithCanonicalMapping }

    // MARK: Reading

    /// The columns of the profile of a user `u`, which ``DunbarAPI/Dunbar/User/init(row:_:)`` reads.
    fileprivate enum ProfileColumn: String, Columns {
        case id = "u.id"
        case username = "u.username"
        case displayName = "u.display_name"
        case bio = "u.bio"
        case photo = "u.photo"
        case isPrivate = "u.is_private"
        case createdAt = "u.created_at"

        static let list = ColumnList(Self.self)
    }

    /// The columns of an account that its owner sees.
    private enum AccountColumn: String, Columns {
        case id, username, email, bio, photo
        case isAdmin = "is_admin"
        case createdAt = "created_at"
        case isPrivate = "is_private"
        case displayName = "display_name"
        case isVerified = "is_verified"

        static let list = ColumnList(Self.self)
    }

    /// The columns of a user `u`, in the order in which ``DunbarAPI/Dunbar/UserSummary/init(row:at:_:)`` reads them.
    static let summaryColumns: SQL = "u.id, u.username, u.display_name, u.photo"

    /// Returns whether there is such a user whom a viewer may see.
    static func exists(_ id: Dunbar.User.ID, for viewer: Dunbar.User.ID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM users u WHERE u.id = \(id) AND \(Visibility.ofAccount(to: viewer))")
    }

    /// Returns a user's profile, if the viewer may see it.
    ///
    /// - Parameter viewer: The user who asks; nil for a client without a session.
    static func profile(
        _ id: Dunbar.User.ID, to viewer: Dunbar.User.ID?, _ urls: PublicURLs, in db: Session
    ) throws -> Dunbar.User? {
        let condition: SQL = viewer.map { "AND \(Visibility.ofAccount(to: $0))" } ?? ""
        return try db.one("SELECT \(ProfileColumn.list) FROM users u WHERE u.id = \(id) \(condition)") {
            try .init(row: $0, urls)
        }
    }

    /// Returns an account as its owner sees it.
    static func account(_ id: Dunbar.User.ID, _ urls: PublicURLs, in db: Session) throws -> Dunbar.Account? {
        try db.one(
            "SELECT \(AccountColumn.list) FROM users WHERE id = \(id)"
        ) { row in
            Dunbar.Account(
                id: try row.get(AccountColumn.id), username: try row.get(AccountColumn.username),
                email: try row.get(AccountColumn.email), bio: try row.get(AccountColumn.bio),
                photo: try row.get(AccountColumn.photo, as: String?.self).map(urls.file),
                isAdmin: try row.get(AccountColumn.isAdmin),
                createdAt: try row.get(AccountColumn.createdAt), isPrivate: try row.get(AccountColumn.isPrivate),
                displayName: try row.get(AccountColumn.displayName),
                emailVerified: try row.get(AccountColumn.isVerified))
        }
    }

    /// Returns the profiles of a list of users `u`.
    ///
    /// - Parameters:
    ///   - clauses: The JOIN, WHERE and ORDER BY clauses behind `FROM users u`.
    ///   - parts: The optional parts that each profile is to have.
    ///   - viewer: The user who asks.
    static func list(
        _ clauses: SQL, with parts: Dunbar.Inclusions?, for viewer: Dunbar.User.ID, _ urls: PublicURLs, in db: Session
    ) throws -> [Dunbar.User] {
        guard parts?.contains(.relationship) == true else {
            return try db.all("SELECT \(ProfileColumn.list) FROM users u \(clauses)") { try .init(row: $0, urls) }
        }
        return try db.all(
            """
            SELECT \(ProfileColumn.list), own.is_accepted FROM users u
            LEFT JOIN follows own ON own.follower_id = \(viewer) AND own.target_id = u.id
            \(clauses)
            """
        ) { row in
            var user = try Dunbar.User(row: row, urls)
            let isAccepted = try row.get(ProfileColumn.list.count, as: Bool?.self)
            (user.isFollowing, user.isPending) = (isAccepted == true, isAccepted == false)
            return user
        }
    }

    /// Returns the first 20 users whose username or display name contains the text, without admins.
    static func matching(
        _ text: String, with parts: Dunbar.Inclusions?, to viewer: Dunbar.User.ID, _ urls: PublicURLs, in db: Session
    ) throws -> [Dunbar.User] {
        let key = key(text)
        // The text is longer than any name.
        guard key.length <= 256, !key.containsNUL else { return [] }
        return try UserSearch.first(20, containing: key, in: db) { ids in
            try list(
                """
                WHERE u.id IN (\(list: ids)) AND u.is_admin = 0 AND \(Visibility.ofPerson(to: viewer))
                ORDER BY u.username_key, u.id
                """, with: parts, for: viewer, urls, in: db)
        }
    }

    // MARK: Signing in

    /// Adds a user whose name and address are free.
    ///
    /// - Throws: 400 when one of them is taken.
    static func insert(
        _ request: Dunbar.Register, password: String, at now: Int64, _ urls: PublicURLs, in db: Session
    ) throws -> Dunbar.Account {
        let (email, name) = (request.email.trimmed, request.displayName.trimmed)
        let isNameFree = try FoldedNames.isFree(request.username, in: "users", db)
        let id: Dunbar.User.ID? =
            try !isNameFree
            ? nil
            : db.insert(
                """
                INSERT INTO users (
                    username, username_key, folded_name, email, email_key, password, display_name, display_key, created_at)
                VALUES (\(request.username), \(key(request.username)), \(request.username.foldedForComparison), \(email),
                    \(key(email)), \(password), \(name), \(key(name)), \(now))
                ON CONFLICT DO NOTHING
                """)
        guard let id, let user = try account(id, urls, in: db) else {
            // Another transaction may have taken the name in the meantime.
            let isNameTaken = try !FoldedNames.isFree(request.username, in: "users", db)
            throw isNameTaken ? Problem(.badRequest, "Username already exists") : takenEmail
        }
        try UserSearch.update(id.rawValue, in: db)
        return user.withoutVerification
    }

    // MARK: Changes

    static func isAdmin(_ id: Dunbar.User.ID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM users WHERE id = \(id) AND is_admin = 1")
    }

    /// Requires that a viewer may change a user's profile.
    ///
    /// - Throws: A `Problem` with 404 when there is no such user, or with 403 when the viewer is neither that user nor
    ///   an admin.
    static func require(_ viewer: Dunbar.User.ID, mayChange id: Dunbar.User.ID, in db: Session) throws {
        guard try exists(id, for: viewer, in: db) else { throw notFound }
        guard try viewer == id || isAdmin(viewer, in: db) else {
            throw Problem(.forbidden, "Not authorized to update this profile")
        }
    }

    static func update(_ request: Dunbar.UpdateUser, in db: Session) throws {
        if let name = request.displayName?.trimmed {
            try db.run(
                "UPDATE users SET display_name = \(name), display_key = \(key(name)) WHERE id = \(request.id)")
            try UserSearch.update(request.id.rawValue, in: db)
        }
        if let bio = request.bio?.trimmed {
            try db.run("UPDATE users SET bio = \(bio.isEmpty ? nil : bio) WHERE id = \(request.id)")
        }
        if let isPrivate = request.isPrivate {
            try db.run("UPDATE users SET is_private = \(isPrivate) WHERE id = \(request.id)")
            // This comes after the change of the row: a follow request that is made at the same time waits for it and
            // becomes a follow.
            if !isPrivate { try Follows.acceptAll(to: request.id, in: db) }
        }
    }

    /// Returns a user as the caller sees them who has changed them. An admin's change of another user is recorded.
    static func changed(
        _ id: Dunbar.User.ID, by viewer: Dunbar.User.ID, _ urls: PublicURLs, in db: Session
    ) throws -> Dunbar.UpdatedUser {
        if id == viewer, let account = try account(id, urls, in: db) { return .own(account.withoutVerification) }
        try Audit(actor: "admin \(viewer)", action: "profile change").record("user \(id)", in: db)
        guard let profile = try profile(id, to: viewer, urls, in: db) else { throw notFound }
        return .other(profile)
    }

    /// Returns the error for a missing user: 404, or 401 when the caller's own account was deleted.
    static func missingUser(for caller: Dunbar.User.ID, in db: Session) throws -> Problem {
        try exists(caller, in: db) ? notFound : gone
    }
}

extension Dunbar.User {
    init(row: borrowing Row, _ urls: PublicURLs) throws {
        self.init(
            id: try row.get(Users.ProfileColumn.id), username: try row.get(Users.ProfileColumn.username),
            displayName: try row.get(Users.ProfileColumn.displayName), bio: try row.get(Users.ProfileColumn.bio),
            photo: try row.get(Users.ProfileColumn.photo, as: String?.self).map(urls.file),
            isPrivate: try row.get(Users.ProfileColumn.isPrivate),
            createdAt: try row.get(Users.ProfileColumn.createdAt))
    }
}

extension Dunbar.UserSummary {
    /// - Parameter first: The index of the first of the columns ``Users/summaryColumns``.
    init(row: borrowing Row, at first: Int, _ urls: PublicURLs) throws {
        self.init(
            id: try row.get(first), username: try row.get(first + 1), displayName: try row.get(first + 2),
            photo: try row.get(first + 3, as: String?.self).map(urls.file))
    }
}
