@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import DeuceDiaryExamples
import Foundation
import HTTPTypes

/// The user of a token that is to be made.
package struct Bearer: Sendable {
    package var subject: String
    package var email: String?
    package var firstName: String?
    package var lastName: String?

    package init(subject: String, email: String? = nil, firstName: String? = nil, lastName: String? = nil) {
        self.subject = subject
        self.email = email
        self.firstName = firstName
        self.lastName = lastName
    }
}

/// A Deuce Diary server under test, and the users of the scenarios.
package struct DeuceDiaryWorld: PeopledWorld {
    package typealias API = DeuceDiary
    /// Makes a token that the server accepts.
    package typealias Issuer = @Sendable (Bearer) async throws -> String

    package let server: ValidatedServer
    private let tokens: TokenSource
    /// The number of given tokens that are in use.
    private let taken = Locked(0)

    private static let shapes = WireShapes(DeuceDiaryExamples.all)

    /// Creates a world in which every answer and frame is checked.
    package init(_ server: Server, tokens: TokenSource) {
        self.server = ValidatedServer(server, Self.shapes) { problem, _ in ["message": .string(problem.message)] }
        self.tokens = tokens
    }

    /// Returns an unused id: scenarios share a server.
    package func freshID(_ stem: String = "user") -> String {
        "\(stem)_\(UUID().uuidString.lowercased().prefix(13))"
    }

    /// Returns an unused username of 12 characters.
    func freshName(_ stem: String = "u") -> String {
        stem + String((0..<12 - stem.count).compactMap { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() })
    }

    /// Returns the id of a group, entry or invite that does not exist.
    func unknownID() -> String { UUID().uuidString.lowercased() }

    /// Returns when the server's clock, which counts milliseconds, has advanced.
    func tick() async throws { try await Task.sleep(for: .milliseconds(5)) }

    /// Returns a user whom the server does not know yet.
    package func stranger(_ bearer: Bearer) async throws -> Person {
        guard case .issuer(let issue) = tokens else { throw Skipped("it needs tokens of its own making") }
        let token = try await issue(bearer)
        return Person(id: .init(bearer.subject), token: token, client: client(token), world: self)
    }

    private func client(_ token: String) -> DeuceDiaryClient {
        DeuceDiaryClient(baseURL: baseURL, transport: transport, sockets: sockets, retry: .never, token: { token })
    }

    /// Returns a user with an account: a new one, or the next of the given ones.
    package func person() async throws -> Person {
        if case .given(let tokens) = tokens {
            let index = taken.use { taken in
                defer { taken += 1 }
                return taken
            }
            guard index < tokens.count else { throw Skipped("it needs more people than tokens were given") }
            let client = try client(tokens[index])
            let id = try await client.send(DeuceDiary.GetUser()).id
            return try Person(id: id, token: tokens[index], client: client, world: self)
        }
        let id = freshID()
        let person = try await stranger(
            Bearer(subject: id, email: "\(id)@example.com", firstName: "John", lastName: "Doe"))
        try await person.send(DeuceDiary.GetUser())
        return person
    }

    /// Opens a raw socket without a subscription.
    func rawSocket() async throws -> RawSocket {
        let url = baseURL.appendingPathComponent("ws")
        return RawSocket(try await sockets.open(url, headers: [:], maximumMessageSize: 262_144))
    }

    /// Opens a raw socket that is subscribed to a group.
    func rawSocket(in group: DeuceDiary.Group.ID) async throws -> RawSocket {
        let socket = try await rawSocket()
        try await socket.join(group)
        return socket
    }
}

/// A user with a token, and an SDK that sends it.
package struct Person: Requester {
    package let id: DeuceDiary.User.ID
    package let token: String
    package let client: DeuceDiaryClient
    let world: DeuceDiaryWorld
    package var raw: RawClient { world.raw.signed(token: token) }

    @discardableResult
    package func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == DeuceDiary {
        try await client.send(request)
    }

    /// Returns the group that every user has.
    func solo() async throws -> DeuceDiary.Group.ID {
        let groups = try await send(DeuceDiary.ListGroups())
        guard let solo = groups.first(where: { $0.name == "Solo Deuces" }) else { throw CheckFailure("no Solo Deuces") }
        return solo.id
    }

    /// Returns a new group of this user and others.
    package func group(_ name: String = "Throne Room", with others: Person...) async throws -> DeuceDiary.Group.ID {
        let group = try await send(DeuceDiary.CreateGroup(name: name)).id
        if !others.isEmpty {
            let invite = try await send(DeuceDiary.CreateInvite(group: group)).id
            for other in others { try await other.send(DeuceDiary.JoinGroup(invite: invite)) }
        }
        return group
    }

    /// Logs an entry with the location "Home".
    @discardableResult
    package func log(
        _ thoughts: String = "A throne worthy of a king", in groups: DeuceDiary.Group.ID...,
        at time: DeuceDiary.Timestamp? = nil
    ) async throws -> [DeuceDiary.DeuceEntry] {
        try await send(
            DeuceDiary.LogDeuce(groups: groups, location: "Home", thoughts: thoughts, loggedAt: time)
        ).entries
    }

    func entries(of group: DeuceDiary.Group.ID) async throws -> [DeuceDiary.FeedEntry] {
        try await send(DeuceDiary.GetGroup(group: group)).entries
    }

    func deuceCount() async throws -> Int { try await send(DeuceDiary.GetUser()).deuceCount }
}

extension RawSocket {
    /// Joins a group. No frame confirms it, so a ping does.
    func join(_ group: DeuceDiary.Group.ID) async throws {
        try await send(["type": "join_group", "groupId": group.json])
        try await waitUntilHandled()
    }

    /// Returns the entry of the next frame, which must be a notice.
    func entry(line: UInt = #line, file: StaticString = #fileID) async throws -> JSONValue {
        let frame = try await frame()
        guard frame["type"] == "deuce_logged", let entry = frame["entry"] else {
            throw CheckFailure(expected: "a logged deuce", found: "\(frame)", line: line, file: file)
        }
        return entry
    }
}

extension RawAnswer {
    /// Fails unless this is a success; every success is 200.
    @discardableResult
    func succeeded(
        _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws -> JSONValue {
        try succeeded(200, what(), line: line, file: file)
    }
}

/// The contract as scenarios, one list for each section.
package enum DeuceDiaryScenarios {
    package static var all: [Scenario<DeuceDiaryWorld>] {
        examples + errors + users + pictures + accounts + archive + groups + members + invites + entries + feed
            + reactions + locations + reports + blocks + analytics + live + idempotency + authorisation
            + AboutScenarios.all()
    }
}
