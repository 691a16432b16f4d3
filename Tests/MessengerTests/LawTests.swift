import Backend
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerCheck
import MessengerExamples
import MessengerMocks
import Testbed
import Testing

/// The whole API keeps the rules of all APIs, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct LawTests {
    static let laws = Laws<Messenger>(examples: MessengerExamples.all, requests: RequestWireTests.requests) {
        _, message, _ in
        #"{"error":"\#(message)"}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.checkOperations() }

    @Test func noNumberStandsForAnother() { Self.laws.checkNumbers() }

    @Test func theDescriptionIsTheContracts() async {
        Self.laws.checkDescription(await Described.api.description)
    }

    @Test func theMockAnswersEveryOperation() async throws {
        try await Self.laws.checkMock {
            let mock = MessengerMock()
            return (mock, mock.baseURL)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        // The frame comes when a node has missed events: TwoNodesTests.
        let unseen = ["frame chats_changed"]
        try await Self.laws.checkCoverage(
            MessengerScenarios.all + MessengerScenarios.operated, but: unseen, noting: coverage
        ) { scenario in
            try await withMessenger(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    // MARK: The server

    @Test func everyOperationIsAnsweredAndNoOtherPathIs() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let others = Self.laws.otherRoutes(host.app.router)
            // Stored objects refuse other methods with a text of their own, because the signature contains the method.
            let objects = others.filter { $0.hasSuffix(" /objects/{key*}") }
            #expect(others.subtracting(objects) == ["GET /health", "GET /ready"])
            #expect(objects.isSuperset(of: ["GET /objects/{key*}", "HEAD /objects/{key*}"]))
        }
    }

    @Test(arguments: Stack.all)
    func aMissingTokenIsRefusedFirst(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            try await Self.laws.checkAuthentication(of: host, "Missing Authorization header")
        }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { try await Self.laws.checkMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthNeedsNoToken(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { try await Self.laws.checkHealth(of: $0) }
    }

    @Test(arguments: [
        ("Basic YTpi", "Authorization header must start with 'Bearer '"),
        ("Bearer", "Authorization header must start with 'Bearer '"),
        ("Bearer x", "Invalid or expired token"),
        ("Bearer a.b.c", "Invalid or expired token"),
    ])
    func anInvalidTokenIsRefusedFirst(_ header: String, _ message: String) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in RequestWireTests.requests where example.needsCaller {
                let answer = try await raw.send(
                    example.route.method, example.path, headers: [.authorization: header], body: "{")
                #expect(answer.status == 401, "\(example.signature)")
                #expect(try answer.json() == ["error": .string(message)])
            }
        }
    }

    @Test(arguments: Stack.all)
    func unknownPathsAre404(_ stack: Stack) async throws {
        let paths = [
            "/", "/nowhere", "/ME", "/me/", "/me/x", "/users", "/users/abc", "/users/1.0", "/users/-1", "/users/1/x",
            "/users/%D9%A1", "/users/search/", "/chats/", "/chats/x/messages", "/chats/1/messages/",
            "/chats/1/messages/x", "/files/1/x", "/files/x/download", "/files/1/download/", "/auth", "/auth/login/",
            "/health/", "/ws/x",
        ]
        try await withMessenger(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for path in paths {
                for method in [HTTPRequest.Method.get, .post, .delete] {
                    let answer = try await raw.send(method, path)
                    #expect(answer.status == 404, "\(method) \(path)")
                    #expect(answer.text == #"{"error":"Not found"}"#)
                }
            }
        }
    }
}
