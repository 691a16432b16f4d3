import Backend
import Contract
import ContractCheck
import GTSDAPI
import GTSDCheck
import GTSDExamples
import GTSDMocks
import GTSDService
import Testbed
import Testing

/// The whole API keeps the rules of all APIs, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct GTSDLawTests {
    static let laws = Laws<GTSD>(examples: GTSDExamples.all, requests: GTSDWireTests.requests) { _, message, id in
        #"{"error":{"message":"\#(message)","requestId":"\#(id)"}}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.checkOperations() }

    @Test func noNumberStandsForAnother() { Self.laws.checkNumbers() }

    @Test func theDescriptionIsTheContracts() async {
        Self.laws.checkDescription(await Described.api.description)
    }

    @Test func theMockAnswersEveryOperation() async throws {
        try await Self.laws.checkMock {
            let mock = GTSDMock()
            return (mock, mock.baseURL)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.checkCoverage(GTSDScenarios.all + GTSDScenarios.operated, noting: coverage) { scenario in
            try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 2)) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    @Test func everyOperationIsAnsweredAndNoOtherPathIs() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let others = Self.laws.otherRoutes(host.app.router)
            // Stored objects refuse other methods with a text of their own, because the signature contains the method.
            let objects = others.filter { $0.hasSuffix(" /objects/{key*}") }
            #expect(others.subtracting(objects) == ["GET /health", "GET /ready"])
            #expect(objects.isSuperset(of: ["GET /objects/{key*}", "HEAD /objects/{key*}", "PUT /objects/{key*}"]))
        }
    }

    @Test(arguments: Stack.all)
    func aMissingTokenIsRefusedFirst(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { try await Self.laws.checkAuthentication(of: $0, "Authentication required") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { try await Self.laws.checkMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthNeedsNoToken(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            try await Self.laws.checkHealth(of: host, #"{"success":true,"data":{"status":"ok"}}"#)
        }
    }
}
