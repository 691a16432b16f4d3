import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

@testable import ContractClient

/// A script of answers to renewals, which records the refresh tokens that it received.
final class Renewals: Sendable {
    typealias Step = @Sendable (String) async throws -> TokenSession.Renewed
    private let state: NIOLockedValueBox<(steps: [Step], asked: [String])>

    init(_ steps: [Step]) { state = NIOLockedValueBox((steps, [])) }

    var asked: [String] { state.withLockedValue { $0.asked } }

    func refresh(_ refreshToken: String) async throws -> TokenSession.Renewed {
        let step: Step? = state.withLockedValue { state in
            state.asked.append(refreshToken)
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        guard let step else { throw ScriptedTransport.Exhausted() }
        return try await step(refreshToken)
    }
}

/// A suite whose sessions renew their tokens by a script.
protocol RenewingTests {}

extension RenewingTests {
    func session(
        _ store: RecordingStore, _ renewals: Renewals, at now: Date = start
    ) -> TokenSession {
        TokenSession(store: store, now: { now }, refresh: renewals.refresh)
    }

    static func gives(_ access: String, refresh: String? = nil) -> Renewals.Step {
        { _ in .init(accessToken: access, refreshToken: refresh, expiresIn: 3600) }
    }

    static func refuses(_ status: HTTPResponse.Status) -> Renewals.Step {
        { _ in throw APIError(Problem(status, "No")) }
    }

    /// A refusal that does not have the API's own form.
    static var isRefusedByAProxy: Renewals.Step {
        { _ in
            throw APIError(
                TransportResponse(status: .unauthorized, body: Array("<html>".utf8)), api: Sample.self,
                from: URL(fileURLWithPath: "/"))
        }
    }
    static var isOffline: Renewals.Step { { _ in throw URLError(.notConnectedToInternet) } }
    static var isCancelled: Renewals.Step { { _ in throw CancellationError() } }
}
