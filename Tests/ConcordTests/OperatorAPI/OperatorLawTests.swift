import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import OperatorPage
import Testbed
import Testing

@testable import Backend
@testable import concord

extension OperatorHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    fileprivate func world(_ coverage: Coverage? = nil) -> OperatorWorld {
        let sockets = NoSockets()
        let described = DescribedTransport(transport, sockets, baseURL: baseURL, OperatorLawTests.description)
        var server = ContractCheck.Server(baseURL: baseURL, transport: described, sockets: sockets)
        server.coverage = coverage
        return OperatorWorld(server, self)
    }
}

/// The sockets of an API that has none.
struct NoSockets: SocketTransport {
    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        throw CheckFailure("the API has no sockets")
    }
}

/// The API of the operator's page keeps the rules of all APIs: types, examples, description and server are one.
@Suite(.timeLimit(.minutes(30))) struct OperatorLawTests {
    static let laws = Laws<OperatorAPI>(examples: OperatorExamples.all, requests: OperatorWireTests.requests) {
        _, message, _ in #"{"error":"\#(message)"}"#
    }
    static let description = SharedDescription(OperatorAPI.self, title: "operator", examples: OperatorExamples.all)

    @Test func theTypesAreTheContracts() { Self.laws.checkOperations() }

    @Test func theDescriptionIsTheContracts() async {
        Self.laws.checkDescription(await Self.description.description, hasSDK: false)
    }

    /// The contract's scenarios pass on every stack. Each test has a server of its own.
    @Test(arguments: Stack.all, OperatorScenarios.all)
    func holds(_ stack: Stack, _ scenario: Scenario<OperatorWorld>) async throws {
        try await withOperator(on: stack) { try await scenario.run($0.world(), within: .seconds(600)) }
    }

    @Test func everyExampleIsExercised() async throws {
        let coverage = Coverage()
        try await Self.laws.checkCoverage(OperatorScenarios.all, noting: coverage) { scenario in
            try await withOperator(on: Stack(.sqlite, .inProcess)) {
                try await scenario.run($0.world(coverage), within: .seconds(600))
            }
        }
    }

    @Test func everyOperationIsAnswered() async throws {
        try await withOperator(on: Stack(.sqlite, .inProcess)) { #expect(Self.laws.otherRoutes($0.router) == []) }
    }

    @Test(arguments: Stack.all)
    func aMissingCookieIsRefusedFirst(_ stack: Stack) async throws {
        try await withOperator(on: stack) { host in
            try await Self.laws.checkAuthentication(of: host, "Sign in with a link: run 'concord operator link'")
        }
    }
}
