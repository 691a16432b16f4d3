@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import DunbarExamples
import Foundation
import HTTPTypes

/// A Dunbar server under test, and the users of the scenarios.
package struct DunbarWorld: PeopledWorld {
    package typealias API = Dunbar
    /// What only a server's operator can do and see.
    package struct Operator: Sendable {
        /// Makes a user an admin, by username.
        package var promote: @Sendable (_ username: String) async throws -> Void
        /// Returns the texts of the e-mails to an address.
        package var emails: @Sendable (_ address: String) async throws -> [String]

        package init(
            promote: @escaping @Sendable (_ username: String) async throws -> Void,
            emails: @escaping @Sendable (_ address: String) async throws -> [String]
        ) {
            self.promote = promote
            self.emails = emails
        }
    }

    package let server: ValidatedServer
    let `operator`: Operator?

    private static let shapes = WireShapes(DunbarExamples.all)

    /// Creates a world in which every answer is checked.
    ///
    /// - Parameter operator: The operator's functions; nil for a server of another operator.
    package init(_ server: Server, operator: Operator? = nil) {
        self.server = ValidatedServer(server, Self.shapes) { problem, _ in ["message": .string(problem.message)] }
        self.operator = `operator`
    }

    /// Returns an unused username: scenarios share a server.
    package func freshName(_ stem: String = "u") -> String {
        stem + UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(16)
    }

    static let password = "secret123"

    /// The time that the server may take to wake up: as long as most scenarios may take, because a busy server is not asleep.
    static let patience = Duration.seconds(120)

    /// Returns a new account, signed in.
    package func person() async throws -> Person { try await person(nil) }

    /// Returns a new account, signed in.
    ///
    /// - Parameter isPrivate: Whether the account is private, as every account is at first.
    @discardableResult
    package func person(
        _ name: String? = nil, named displayName: String = "John Doe", isPrivate: Bool = true
    ) async throws -> Person {
        let name = name ?? freshName()
        let answer = try await register(name, displayName: displayName)
        let user = try answer.succeeded(201)["user"]
        guard let id = user?["id"]?.integer, let cookie = answer.cookie else {
            throw CheckFailure("no user: \(answer.text)")
        }
        let person = Person(id: .init(id), name: name, cookie: cookie, world: self)
        if !isPrivate { try await person.send(Dunbar.UpdateUser(id: person.id, isPrivate: false)) }
        return person
    }

    package func people(_ count: Int) async throws -> [Person] { try await people(count, isPrivate: true) }

    func people(_ count: Int, isPrivate: Bool) async throws -> [Person] {
        try await together(count, width: 8) { _ in try await person(isPrivate: isPrivate) }
    }

    /// Returns a user whom the operator has made an admin.
    package func admin() async throws -> Person {
        guard let `operator` else { throw CheckFailure("only an operator makes admins") }
        let person = try await person(freshName("admin"))
        try await `operator`.promote(person.name)
        return person
    }

    func register(
        _ name: String, displayName: String = "John Doe", email: String? = nil, headers: HTTPFields = [:]
    ) async throws -> RawAnswer {
        let body: JSONValue = [
            "username": .string(name), "email": .string(email ?? "\(name)@example.com"),
            "password": .string(Self.password), "displayName": .string(displayName),
        ]
        return try await raw.send(.post, "/register", headers: headers, body: body.description)
    }

    func login(_ name: String, _ password: String = Self.password, headers: HTTPFields = [:]) async throws -> RawAnswer
    {
        let body: JSONValue = ["username": .string(name), "password": .string(password)]
        return try await raw.send(.post, "/login", headers: headers, body: body.description)
    }
}

extension DunbarWorld: MailedWorld {
    package var sentEmails: (@Sendable (_ address: String) async throws -> [String])? { `operator`?.emails }
}

/// A user with a session, and an SDK that has it.
package struct Person: Requester {
    package let id: Dunbar.User.ID
    package let name: String
    /// The cookie as it is sent.
    package let cookie: String
    package let client: DunbarClient
    let world: DunbarWorld
    package var raw: RawClient { world.raw.signed([.cookie: cookie]) }

    init(id: Dunbar.User.ID, name: String, cookie: String, world: DunbarWorld) {
        self.id = id
        self.name = name
        self.cookie = cookie
        self.world = world
        let parts = cookie.split(separator: "=", maxSplits: 1).map(String.init)
        let stored = StoredCookie(name: parts.first ?? "", value: parts.last ?? "", expiresAt: nil, isSecure: false)
        client = DunbarClient(
            baseURL: world.baseURL, store: MemoryCookieStore([stored]), transport: world.transport, retry: .never,
            patience: DunbarWorld.patience, isConnected: { true })
    }

    @discardableResult
    package func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == Dunbar {
        try await client.send(request)
    }

    /// Publishes a text.
    @discardableResult
    package func publish(_ content: String = "Hello world") async throws -> Dunbar.Post {
        try await send(Dunbar.CreatePost(content: content))
    }

    /// Follows a user, who accepts if that is needed.
    package func follow(_ other: Person) async throws {
        guard try await client.follow(other.id) == .requested else { return }
        try await other.send(Dunbar.AcceptRequest(id: try await other.request(of: self)))
    }

    /// Returns the id of a user's request to follow this user.
    func request(of other: Person) async throws -> Dunbar.FollowRequest.ID {
        let pending = try await send(Dunbar.ListPendingRequests())
        guard let request = pending.first(where: { $0.follower.id == other.id }) else {
            throw CheckFailure("no request")
        }
        return request.id
    }

    func posts(of other: Person) async throws -> [Dunbar.Post] {
        try await send(Dunbar.ListUserPosts(user: other.id))
    }

    func feed() async throws -> [Dunbar.Post] { try await send(Dunbar.GetFeed()) }

    func flags(of other: Person) async throws -> [Bool] {
        let found = try await send(Dunbar.GetUser(id: other.id))
        return [found.isFollowing, found.isPending]
    }
}

extension RawAnswer {
    /// Fails unless this is a 200 with exactly this message.
    @discardableResult
    func said(
        _ text: String, _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws -> RawAnswer {
        let body = try succeeded(200, what(), line: line, file: file)
        guard body == ["message": .string(text)] else {
            throw CheckFailure(expected: text, found: body.description, what(), in: exchange, line: line, file: file)
        }
        return self
    }

    /// The cookie that the answer sets, as it is to be sent.
    package var cookie: String? {
        guard let pair = headers[.setCookie]?.split(separator: ";").first.map(String.init), !pair.hasSuffix("=") else {
            return nil
        }
        return pair
    }
}

/// The contract as scenarios, one list for each section.
package enum DunbarScenarios {
    /// The scenarios for any server.
    package static var all: [Scenario<DunbarWorld>] {
        errors + authentication + accounts + archive + sessions + passwords + users + photos + posts + reports
            + comments
            + follows + blocks + search
            + health + paging + idempotency + agreement + AboutScenarios.all()
    }

    /// The scenarios that need the server's operator.
    package static var operated: [Scenario<DunbarWorld>] { administration + verification + recovery + visibility }
}
