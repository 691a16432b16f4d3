import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// Whether a process is alive (`/health`) and able to serve (`/ready`).
public final class Health: Sendable {
    private let draining = NIOLockedValueBox(false)
    private let check: @Sendable () async throws -> Void

    /// - Parameter check: Throws when something the process depends on does not answer.
    public init(check: @escaping @Sendable () async throws -> Void) { self.check = check }

    /// From now on `/ready` answers 503, so that a load balancer sends no more.
    public func drain() { draining.withLockedValue { $0 = true } }

    func requireReady(_ phrases: Phrases) async throws {
        let notReady = Problem(.serviceUnavailable, phrases.notReady)
        if draining.withLockedValue({ $0 }) { throw notReady }
        do { try await check() } catch { throw notReady }
    }
}

extension Routes {
    /// `GET /health` and `GET /ready`: outside the contract, on every listener.
    ///
    /// - Parameter body: What both answer when all is well.
    public mutating func serve(_ health: Health, answering body: String = #"{"status":"ok"}"#) {
        let alive = Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: body)))
        plain(.get, "/health") { _, _ in alive }
        plain(.get, "/ready") { _, _ in
            try await health.requireReady(API.phrases)
            return alive
        }
    }
}
