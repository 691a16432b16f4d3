import Backend
import Contract
import ContractCheck
import ContractClient
import DunbarAPI
import DunbarCheck
import DunbarExamples
import DunbarMocks
import Foundation
import HTTPTypes
import Testbed
import Testing

/// The whole API keeps the rules of all APIs, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct DunbarLawTests {
    static let laws = Laws<Dunbar>(examples: DunbarExamples.all, requests: DunbarWireTests.requests) { _, message, _ in
        #"{"message":"\#(message)"}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.checkOperations() }

    @Test func noNumberStandsForAnother() { Self.laws.checkNumbers() }

    @Test func theDescriptionIsTheContracts() async {
        Self.laws.checkDescription(await Described.api.description)
    }

    @Test func theMockAnswersEveryOperation() async throws {
        // All posts are John's own, and he has no followers yet.
        let refused: Set = ["POST /posts/{id}/report", "POST /followers/{id}/remove"]
        try await Self.laws.checkMock(but: refused) {
            let mock = DunbarMock()
            return (SignedIn(mock: mock), mock.baseURL)
        }
    }

    /// Sends requests to a mock with a session's cookie.
    private struct SignedIn: Transport, SocketTransport {
        let mock: DunbarMock

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            var login = TransportRequest(method: .post, url: mock.baseURL.appendingPathComponent("login"))
            login.body = .bytes(Array(#"{"username":"a","password":"b"}"#.utf8))
            let cookie = try await mock.send(login, progress: nil).headers[.setCookie]
            var request = request
            request.headers[.cookie] = cookie.map { String($0.prefix { $0 != ";" }) }
            return try await mock.send(request, progress: progress)
        }

        func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
            try await mock.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.checkCoverage(DunbarScenarios.all + DunbarScenarios.operated, noting: coverage) {
            scenario in
            try await withDunbar(on: Stack(.sqlite, .inProcess), .init(clock: TestClock(step: 20))) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    @Test func everyOperationIsAnsweredAndNoOtherPathIs() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let files: Set = ["GET /media/{name*}", "HEAD /media/{name*}"]
            let others = Self.laws.otherRoutes(host.app.router).filter { !$0.hasSuffix(" /objects/{key*}") }
            #expect(others == files.union(["GET /health", "GET /ready"]))
        }
    }

    @Test(arguments: Stack.all)
    func aMissingSessionIsRefusedFirst(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { try await Self.laws.checkAuthentication(of: $0, "Unauthorized") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { try await Self.laws.checkMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func everyOperationIsAnsweredInJSONAndNeverEmpty(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in DunbarWireTests.requests {
                for cookie in [nil, john.cookie] {
                    var headers: HTTPFields = [:]
                    headers[.cookie] = cookie
                    let body = example.route.method == .get ? nil : "{"
                    let answer = try await raw.send(example.route.method, example.path, headers: headers, body: body)
                    #expect(answer.status < 500, "\(example.signature)")
                    #expect(answer.headers[.contentType] == "application/json", "\(example.signature)")
                    _ = try answer.json()
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredAtTheRoot(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { try await Self.laws.checkHealth(of: $0) }
    }
}
