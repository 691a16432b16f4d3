import Contract
import ContractClient
import Foundation
import HTTPTypes

/// A sender of requests to a server under test: a stranger, or a person with credentials.
public protocol Requester: Sendable {
    /// Sends any request, with the sender's credentials.
    var raw: RawClient { get }
}

extension Requester {
    public func get(_ path: String) async throws -> RawAnswer { try await raw(.get, path) }

    public func post(_ path: String, _ body: JSONValue = [:], headers: HTTPFields = [:]) async throws -> RawAnswer {
        try await raw(.post, path, body, headers: headers)
    }

    /// Sends a request to a URL elsewhere, such as that of a stored file, without credentials.
    public func fetch(
        _ url: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [:], bytes: [UInt8]? = nil
    ) async throws -> RawAnswer {
        try await raw.elsewhere(url).send(method, "", headers: headers, bytes: bytes)
    }
}

/// A server under test whose answers and frames are held to the contract's examples.
public struct ValidatedServer: Sendable {
    public let baseURL: URL
    public let transport: any Transport
    public let sockets: any SocketTransport
    /// Sends requests without credentials.
    public let raw: RawClient

    /// - Parameter refusals: The API's shape of refusals.
    public init(_ server: Server, _ shapes: WireShapes, refusals: @escaping RawClient.Refusals) {
        let validator = ResponseValidator(of: server, against: shapes)
        baseURL = server.baseURL
        transport = validator
        sockets = validator
        raw = RawClient(baseURL: server.baseURL, transport: validator, refusals: refusals)
    }
}

/// A server of an API under test. Its own requests are those of a stranger.
public protocol APIWorld: Requester {
    associatedtype API: ServiceAPI
    var server: ValidatedServer { get }

    /// Returns a client with the credentials of a person.
    func signedIn() async throws -> RawClient
}

extension APIWorld {
    public var baseURL: URL { server.baseURL }
    public var transport: any Transport { server.transport }
    public var sockets: any SocketTransport { server.sockets }
    public var raw: RawClient { server.raw }

    /// Returns an unused key.
    public func freshKey() -> HTTPFields { [.idempotencyKey: UUID().uuidString] }
}

/// A world with people, each with an account of their own.
public protocol PeopledWorld: APIWorld {
    associatedtype Person: Requester

    /// Returns a person with an account, signed in.
    func person() async throws -> Person

    /// Returns several people, each with another account.
    func people(_ count: Int) async throws -> [Person]
}

extension PeopledWorld {
    public func signedIn() async throws -> RawClient { try await person().raw }

    public func people(_ count: Int) async throws -> [Person] {
        try await together(count) { _ in try await person() }
    }

    public func pair() async throws -> (Person, Person) {
        let people = try await people(2)
        return (people[0], people[1])
    }

    public func trio() async throws -> (Person, Person, Person) {
        let people = try await people(3)
        return (people[0], people[1], people[2])
    }
}

extension Scenario where World: PeopledWorld {
    /// Creates a scenario with a person, who is signed in to an account of their own.
    public init(
        _ name: String, clause: String, level: Level = .addition, within limit: Duration = .seconds(120),
        run body: @escaping @Sendable (World, World.Person) async throws -> Void
    ) {
        self.init(name, clause: clause, level: level, within: limit) { world in
            try await body(world, try await world.person())
        }
    }

    /// Creates a scenario with two people.
    public init(
        _ name: String, clause: String, level: Level = .addition, within limit: Duration = .seconds(120),
        run body: @escaping @Sendable (World, World.Person, World.Person) async throws -> Void
    ) {
        self.init(name, clause: clause, level: level, within: limit) { world in
            let people = try await world.pair()
            try await body(world, people.0, people.1)
        }
    }

    /// Creates a scenario with three people.
    public init(
        _ name: String, clause: String, level: Level = .addition, within limit: Duration = .seconds(120),
        run body: @escaping @Sendable (World, World.Person, World.Person, World.Person) async throws -> Void
    ) {
        self.init(name, clause: clause, level: level, within: limit) { world in
            let people = try await world.trio()
            try await body(world, people.0, people.1, people.2)
        }
    }
}
