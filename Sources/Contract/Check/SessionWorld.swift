import Contract
import ContractClient
import ContractExamples
import Foundation

/// A server of an API with sessions (`SessionAPI`), to try scenarios on. Every answer and frame is held to the contract's
/// examples.
public actor SessionWorld<API: SessionAPI>: APIWorld {
    /// The password of every account.
    public static var password: String { "open sesame" }

    public nonisolated let server: ValidatedServer
    private let signUp: @Sendable (SessionClient<API>, _ name: String) async throws -> Void
    /// The number of accounts that were made.
    private(set) var accounts = 0

    init(
        _ server: Server, _ examples: Examples,
        signUp: @escaping @Sendable (SessionClient<API>, String) async throws -> Void
    ) {
        self.signUp = signUp
        self.server = ValidatedServer(server, WireShapes(examples)) { problem, answer in
            let failure = API.Failure(problem, requestID: answer.headers[.requestID] ?? "")
            let json = try? JSONEncoder().encode(failure)
            return json.flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0) } ?? .null
        }
    }

    /// Returns a name that no account has: scenarios share a server.
    public nonisolated func freshName() -> String { "user_\(UInt64.random(in: 0 ..< .max))" }

    /// Returns an SDK without a session.
    public nonisolated func stranger() -> SessionClient<API> {
        SessionClient(baseURL: baseURL, transport: transport, sockets: sockets, retry: .never)
    }

    /// Makes an account, and returns an SDK that is signed in to it.
    ///
    /// - Parameter name: Nil for a name that no account has.
    public func person(named name: String? = nil) async throws -> SessionClient<API> {
        let (client, name) = (stranger(), name ?? freshName())
        try await signUp(client, name)
        accounts += 1
        try await client.signIn(name: name, password: Self.password)
        return client
    }

    public func signedIn() async throws -> RawClient {
        raw.signed(token: try await SessionScenarios.tokens(of: person()).accessToken)
    }
}

extension Checklist {
    /// Makes the checklist of an API with sessions: what holds for the sessions and the requests of every such API, and
    /// the API's own scenarios. What it leaves behind are the accounts of its people.
    ///
    /// - Parameters:
    ///   - probe: A path that every server of the API answers with JSON, without a token.
    ///   - signUp: Returns the request that makes an account.
    ///   - scenarios: The API's own scenarios.
    public init<API: SessionAPI, SignUp: OpenEndpoint>(
        of _: API.Type, examples: Examples, probe: String,
        signUp: @escaping @Sendable (_ name: String, _ password: String) -> SignUp,
        scenarios: [Scenario<SessionWorld<API>>]
    ) where SignUp.API == API {
        self.init(
            api: API.name, scenarios: SessionScenarios.all() + SessionScenarios.requests() + scenarios, probe: probe,
            isLimited: { $0.method == SignUp.route.method && $0.url.path.hasSuffix(SignUp.route.path) },
            enter: { server in
                let world = SessionWorld<API>(server, examples) { client, name in
                    try await client.send(signUp(name, SessionWorld<API>.password))
                }
                return (
                    world,
                    {
                        let made = await world.accounts
                        return made > 0 ? ["accounts": made] : [:]
                    }
                )
            })
    }
}

extension Checker {
    /// Tries every scenario of the list.
    ///
    /// - Throws: ``Unreachable`` when there is no server of the API.
    public func run(on server: Server) async throws -> Report {
        try await reach(server)
        return await run(checklist.items, on: server)
    }
}
