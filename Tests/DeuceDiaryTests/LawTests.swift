import Contract
import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryCheck
import DeuceDiaryExamples
import DeuceDiaryMocks
import Testbed
import Testing

/// The whole API keeps the rules of all APIs, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryLawTests {
    static let laws = Laws<DeuceDiary>(
        examples: DeuceDiaryExamples.all, requests: DeuceDiaryRequestWireTests.requests
    ) { _, message, _ in
        #"{"message":"\#(message)"}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.checkOperations() }

    @Test func noNumberStandsForAnother() { Self.laws.checkNumbers() }

    @Test func theDescriptionIsTheContracts() async {
        Self.laws.checkDescription(await Described.api.description)
    }

    @Test func theMockAnswersEveryOperation() async throws {
        // The mock's entry is John's own.
        try await Self.laws.checkMock(but: ["POST /api/entries/{entryId}/report"]) {
            let mock = DeuceDiaryMock()
            return (mock, mock.baseURL)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.checkCoverage(DeuceDiaryScenarios.all, noting: coverage) { scenario in
            try await withDeuceDiary(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    /// The contract says: "Every success is 200; the browser redirect is 302."
    @Test func everySuccessIs200() {
        for endpoint in DeuceDiary.endpoints {
            #expect(endpoint.route.status == (endpoint.signature == "GET /join/{inviteId}" ? .found : .ok))
        }
    }

    // MARK: The server

    @Test func everyOperationIsAnsweredAndNoOtherPathIs() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let files: Set = ["GET /uploads/{name*}", "HEAD /uploads/{name*}"]
            let others = Self.laws.otherRoutes(host.app.router).filter { !$0.hasSuffix(" /objects/{key*}") }
            #expect(others == files.union(["GET /health", "GET /ready"]))
        }
    }

    @Test(arguments: Stack.all)
    func aMissingTokenIsRefusedFirst(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { try await Self.laws.checkAuthentication(of: $0, "Unauthorized") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { try await Self.laws.checkMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthNeedsNoToken(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { try await Self.laws.checkHealth(of: $0) }
    }
}
