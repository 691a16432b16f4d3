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

    private let notes: @Sendable () async -> [String]

    /// - Parameters:
    ///   - check: Throws when something the process depends on does not answer.
    ///   - notes: What does not work although the process can serve, each in a few words.
    public init(
        check: @escaping @Sendable () async throws -> Void, notes: @escaping @Sendable () async -> [String] = { [] }
    ) {
        self.check = check
        self.notes = notes
    }

    /// From now on `/ready` answers 503, so that a load balancer sends no more.
    public func drain() { draining.withLockedValue { $0 = true } }

    func requireReady(_ phrases: Phrases) async throws {
        let notReady = Problem(.serviceUnavailable, phrases.notReady)
        if draining.withLockedValue({ $0 }) { throw notReady }
        do { try await check() } catch { throw notReady }
    }

    /// Returns the answer of `/ready` with the notes in it, as a member more.
    func noting(_ body: String) async -> String {
        let notes = await notes()
        guard !notes.isEmpty, let list = try? JSONBody.encode(notes) else { return body }
        return body.dropLast() + #","notes":"# + String(buffer: list) + "}"
    }
}

extension Routes {
    /// `GET /health` and `GET /ready`: outside the contract, on every listener.
    ///
    /// - Parameter body: What both answer when all is well.
    public mutating func serve(_ health: Health, answering body: String = #"{"status":"ok"}"#) {
        @Sendable func answer(_ body: String) -> Response {
            Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: body)))
        }
        plain(.get, "/health") { _, _ in answer(body) }
        plain(.get, "/ready") { _, _ in
            try await health.requireReady(API.phrases)
            return answer(await health.noting(body))
        }
    }
}
