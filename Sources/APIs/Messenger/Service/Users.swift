import Backend
import Contract
import ContractServer
import Database
import Foundation
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func users(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: getUser)
        routes.on(use: searchUsers)
    }

    func getUser(_ request: Messenger.GetUser, from caller: Messenger.User.ID) async throws -> Messenger.User {
        let user = try await database.read(from: .replica) { try Users.profile(request.id, for: caller, in: $0) }
        guard let user else { throw Users.notFound }
        return user
    }

    func searchUsers(
        _ request: Messenger.SearchUsers, from caller: Messenger.User.ID
    ) async throws -> [Messenger.UserSummary] {
        try await searches.run(for: caller) {
            try await database.read(from: .replica) { try Users.matching(request.query, for: caller, in: $0) }
        }
    }
}

enum Users: PasswordAccountTable {
    typealias ID = Messenger.User.ID

    static let notFound = Problem(.notFound, "User not found")
    static let gone = Sessions.invalidToken
    static let wrongSignIn = Problem(.unauthorized, "Invalid credentials")
    static let wrongPassword = Problem(.forbidden, "Invalid password")
    static let taken = Problem(.conflict, "Username or email already taken")

    /// The condition for users who are not deleted. The row of a deleted user stays, so every query for users needs it.
    static let isPresent: SQL = "(deleted_at IS NULL)"

    /// Returns a name in the form in which names are compared: composed, in lower case.
    static func key(_ name: String) -> String {
        Messenger.Register.normal(name).lowercased().precomposedStringWithCanonicalMapping
    }

    /// Adds a user whose name and address are free.
    ///
    /// - Throws: A `Problem` with 409 when one of them is taken.
    static func insert(
        _ request: Messenger.Register, password: String, at now: Int64, in db: Session
    ) throws -> Messenger.Registered {
        let username = Messenger.Register.normal(request.username)
        let email = request.email.trimmed
        var displayName = request.displayName?.trimmed ?? ""
        if displayName.isEmpty { displayName = username }
        let isFree = try FoldedNames.isFree(username, in: "users", db)
        let id: Messenger.User.ID? =
            try !isFree
            ? nil
            : db.insert(
                """
                INSERT INTO users (
                    username, username_key, folded_name, email, email_key, display_name, display_key, password, created_at)
                VALUES (\(username), \(key(username)), \(username.foldedForComparison), \(email), \(key(email)),
                    \(displayName), \(key(displayName)), \(password), \(now))
                ON CONFLICT DO NOTHING
                """)
        guard let id else { throw taken }
        try UserSearch.update(id.rawValue, in: db)
        return .init(id: id, username: username)
    }

    /// Returns the condition that finds the user of a username or an e-mail address; usernames contain no "@".
    static func signsIn(as key: String) -> SQL {
        key.contains("@") ? "email_key = \(key)" : "username_key = \(key)"
    }

    /// The columns of an account that its owner sees.
    private enum AccountColumn: String, Columns {
        case id, username, email
        case displayName = "display_name"
        case bio
        case createdAt = "created_at"
        case avatar = "avatar_file_id"

        static let list = ColumnList(Self.self)
    }

    static func account(_ id: Messenger.User.ID, in db: Session) throws -> Messenger.Account? {
        try db.get(account(id))
    }

    static func account(_ id: Messenger.User.ID) -> Query<Messenger.Account?> {
        .one(
            """
            SELECT \(AccountColumn.list) FROM users WHERE id = \(id) AND \(isPresent)
            """
        ) { row in
            Messenger.Account(
                id: try row.get(AccountColumn.id), username: try row.get(AccountColumn.username),
                email: try row.get(AccountColumn.email), displayName: try row.get(AccountColumn.displayName),
                bio: try row.get(AccountColumn.bio), createdAt: try row.get(AccountColumn.createdAt),
                avatar: try row.get(AccountColumn.avatar))
        }
    }

    /// Returns a user's profile; nil also for a user who has blocked the viewer.
    static func profile(
        _ id: Messenger.User.ID, for viewer: Messenger.User.ID, in db: Session
    ) throws -> Messenger.User? {
        try db.one(
            """
            SELECT id, username, display_name, bio, avatar_file_id FROM users
            WHERE id = \(id) AND \(isPresent) AND id NOT IN (\(Blocks.blockers(of: viewer)))
            """
        ) { row in
            Messenger.User(
                id: try row.get(0), username: try row.get(1), displayName: try row.get(2), bio: try row.get(3),
                avatar: try row.get(4))
        }
    }

    /// Returns the first 20 users whose username or display name contains the text.
    static func matching(
        _ text: String, for viewer: Messenger.User.ID, in db: Session
    ) throws -> [Messenger.UserSummary] {
        let key = key(text)
        // The text is longer than any name.
        guard key.unicodeScalars.count <= 256 else { return [] }
        return try UserSearch.first(20, containing: key, in: db) { ids in
            try db.all(
                """
                SELECT id, username, display_name FROM users
                WHERE id IN (\(list: ids)) AND \(isPresent) AND id NOT IN (\(Blocks.involving(viewer)))
                ORDER BY username_key, id
                """
            ) { row in .init(id: try row.get(0), username: try row.get(1), displayName: try row.get(2)) }
        }
    }

    /// - Throws: A `Problem` with 404 when there is no such user.
    static func require(_ id: Messenger.User.ID, in db: Session) throws {
        guard try exists(id, in: db) else { throw notFound }
    }

    /// Requires that users with all of the ids exist. It is called before and after users are added to a chat, because
    /// an account may be deleted at the same time. After the addition a deletion waits, and sees the membership.
    ///
    /// - Throws: A `Problem` with 400 and the unknown ids in ascending order.
    static func requireKnown(_ ids: [Messenger.User.ID], in db: Session) throws {
        let known = Set(
            try db.all("SELECT id FROM users WHERE id IN (\(list: ids)) AND \(isPresent)") {
                try $0.get(0, as: Messenger.User.ID.self)
            })
        let unknown = ids.filter { !known.contains($0) }.sorted()
        guard unknown.isEmpty else {
            let list = unknown.map(\.description).joined(separator: ", ")
            throw Problem(.badRequest, "Unknown member_ids: \(list)")
        }
    }
}
