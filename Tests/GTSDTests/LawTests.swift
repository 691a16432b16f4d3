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

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct GTSDLawTests {
    static let laws = Laws<GTSD>(examples: GTSDExamples.all, requests: GTSDWireTests.requests) { _, message, id in
        #"{"error":{"message":"\#(message)","requestId":"\#(id)"}}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.holdTheTypes() }

    @Test func theMockAnswersEveryOperation() async throws {
        try await Self.laws.answerEverything {
            let mock = GTSDMock()
            return (mock, mock.baseURL)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.exercise(GTSDScenarios.all, noting: coverage) { scenario in
            try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 2)) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let beyond = Self.laws.beyond(host.app.router)
            // Stored objects refuse every other method in their own words: the signature names it.
            let objects = beyond.filter { $0.hasSuffix(" /objects/{key*}") }
            #expect(beyond.subtracting(objects) == ["GET /health", "GET /ready"])
            #expect(objects.isSuperset(of: ["GET /objects/{key*}", "HEAD /objects/{key*}", "PUT /objects/{key*}"]))
        }
    }

    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { try await Self.laws.refuseStrangers(of: $0, "Authentication required") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredToAnybody(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            try await Self.laws.answerHealth(of: host, #"{"success":true,"data":{"status":"ok"}}"#)
        }
    }
}
