import Contract

/// A guestbook: people sign up, write entries that anyone may read, and receive new ones as they are written.
public enum Guestbook: SessionAPI {
    /// An operation of this API.
    public protocol Operation: Endpoint where API == Guestbook {}
    public typealias UserID = User.ID
    public static let name = "guestbook"
    public static let sections = [
        sessions,
        Section([SignUp.self, WriteEntry.self, ListEntries.self, DeleteEntry.self], frames: [Added<Entry>.self]),
    ]

    /// A user, who may write entries.
    public struct User: Codable, Hashable, Sendable {
        public typealias ID = Identifier<User>
        public let id: ID
        public let name: String

        public init(id: ID, name: String) { (self.id, self.name) = (id, name) }
    }

    /// `POST /users` makes an account. 409 "Name is taken"
    public struct SignUp: OpenEndpoint, Operation {
        public static let route = Route.post("/users", .created, idempotencyKey: true)
        public typealias Output = User
        public var name, password: String

        public init(name: String, password: String) { (self.name, self.password) = (name, password) }

        public func validate() throws(Problem) {
            let isName = name.wholeMatch(of: /[a-z0-9_]{3,32}/) != nil
            try Problem.require(isName, "Name must be 3-32 of a-z, 0-9 and _")
            try Problem.require(8...128 ~= password.unicodeScalars.count, "Password must be 8-128 characters")
        }
    }

    /// An entry of the book. The socket `/live` sends `Added` for each new one.
    public struct Entry: Codable, Hashable, Identifiable, Sendable {
        public typealias ID = Identifier<Entry>
        public let id: ID
        public let author: User
        public let text: String
        public let createdAt: Timestamp<Seconds>

        public init(id: ID, author: User, text: String, createdAt: Timestamp<Seconds>) {
            (self.id, self.author, self.text, self.createdAt) = (id, author, text, createdAt)
        }
    }

    /// `POST /entries` writes into the book. 429 after 30 entries within a minute, 409 beyond 1000 of the caller's own
    public struct WriteEntry: AuthenticatedEndpoint, Operation {
        public static let route = Route.post("/entries", .created, idempotencyKey: true)
        public typealias Output = Entry
        public var text: String

        public init(text: String) { self.text = text }

        public func validate() throws(Problem) {
            try Problem.require(1...500 ~= text.unicodeScalars.count, "Text must be 1-500 characters")
        }
    }

    /// `GET /entries` lists entries, the newest first: those before an id, or all.
    public struct ListEntries: OpenEndpoint, Operation {
        public static let route = Route.get("/entries")
        public typealias Output = [Entry]
        public var limit: Int?
        public var before: Entry.ID?

        public init(limit: Int? = nil, before: Entry.ID? = nil) { (self.limit, self.before) = (limit, before) }

        public func validate() throws(Problem) {
            try Problem.require(1...100 ~= limit ?? 50, "limit must be 1-100")
            try Problem.require(before?.isValid ?? true, "before must be an id")
        }
    }

    /// `DELETE /entries/{id}` removes an entry of the caller's own. 403 "Not your entry", 404 "Not found"
    public struct DeleteEntry: AuthenticatedEndpoint, Operation {
        public static let route = Route.delete("/entries/{id}", .noContent)
        public typealias Output = Empty
        public var id: Entry.ID

        public init(id: Entry.ID) { self.id = id }
    }
}
