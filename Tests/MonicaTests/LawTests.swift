import Backend
import Contract
import ContractCheck
import Foundation
import MonicaAPI
import MonicaCheck
import MonicaExamples
import MonicaMocks
import Testbed
import Testing

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct MonicaLawTests {
    static let laws = Laws<Monica>(examples: MonicaExamples.all, requests: MonicaWireTests.requests) {
        status, message, _ in
        let code = status == 401 ? 42 : 0
        return #"{"error":{"message":"\#(message)","code":\#(status),"error_code":\#(code)}}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.holdTheTypes() }

    @Test func theMockAnswersEveryOperation() async throws {
        try await Self.laws.answerEverything {
            let mock = MonicaMock()
            return (mock, mock.baseURL)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.exercise(MonicaScenarios.all, noting: coverage) { scenario in
            try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    @Test func aPATCHDoesWhatAPUTDoes() {
        for endpoint in Monica.endpoints {
            #expect(endpoint.route.alternatives == (endpoint.route.method == .put ? [.patch] : []))
        }
    }

    // MARK: The server

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            #expect(Self.laws.beyond(host.app.router) == ["GET /health", "GET /ready"])
        }
    }

    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withMonica(on: stack) { try await Self.laws.refuseStrangers(of: $0, "Unauthenticated.") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withMonica(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsOutsideOfTheAPI(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            try await Self.laws.answerHealth(of: host)
            let root = try #require(URL(string: String(host.baseURL.absoluteString.dropLast("/api".count))))
            let elsewhere = try await RawClient(baseURL: root, transport: host.transport).send(.get, "/contacts")
            #expect(elsewhere.status == 404)
            #expect(
                elsewhere.text
                    == #"{"error":{"message":"The requested resource was not found.","code":404,"error_code":31}}"#)
        }
    }
}
