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

/// The whole API keeps the rules of all APIs, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct MonicaLawTests {
    static let laws = Laws<Monica>(examples: MonicaExamples.all, requests: MonicaWireTests.requests) {
        status, message, _ in
        let code = status == 401 ? 42 : 0
        return #"{"error":{"message":"\#(message)","code":\#(status),"error_code":\#(code)}}"#
    }

    @Test func theTypesAreTheContracts() { Self.laws.checkOperations() }

    @Test func noNumberStandsForAnother() { Self.laws.checkNumbers() }

    @Test func theDescriptionIsTheContracts() async {
        Self.laws.checkDescription(await Described.api.description)
    }

    @Test func theMockAnswersEveryOperation() async throws {
        try await Self.laws.checkMock {
            let mock = MonicaMock()
            return (mock, mock.baseURL)
        }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.checkCoverage(MonicaScenarios.all, noting: coverage) { scenario in
            try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                try await scenario.run(host.world(coverage))
            }
        }
    }

    @Test func aPATCHActsLikeAPUT() {
        for endpoint in Monica.endpoints {
            #expect(endpoint.route.alternatives == (endpoint.route.method == .put ? [.patch] : []))
        }
    }

    // MARK: The server

    @Test func everyOperationIsAnsweredAndNoOtherPathIs() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let others = Self.laws.otherRoutes(host.app.router).filter { !$0.hasSuffix(" /objects/{key*}") }
            #expect(
                others == [
                    "GET /health", "GET /initials/{name}", "GET /oauth/authorize", "GET /photos/{name*}", "GET /ready",
                    "HEAD /photos/{name*}",
                    "POST /oauth/authorize", "POST /oauth/token",
                ])
        }
    }

    @Test(arguments: Stack.all)
    func aMissingTokenIsRefusedFirst(_ stack: Stack) async throws {
        try await withMonica(on: stack) { try await Self.laws.checkAuthentication(of: $0, "Unauthenticated.") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withMonica(on: stack) { try await Self.laws.checkMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsOutsideOfTheAPI(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            try await Self.laws.checkHealth(of: host)
            let root = try #require(URL(string: String(host.baseURL.absoluteString.dropLast("/api".count))))
            let elsewhere = try await RawClient(baseURL: root, transport: host.transport).send(.get, "/contacts")
            #expect(elsewhere.status == 404)
            #expect(
                elsewhere.text
                    == #"{"error":{"message":"The requested resource was not found.","code":404,"error_code":31}}"#)
        }
    }
}
