import Contract
import ContractServer
import HTTPTypes
public import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Answers whether a process is alive (`/health`) and able to serve (`/ready`).
public final class Health: Sendable {
    /// Something that a service depends on, in the state in which the last check found it.
    public struct Part: Sendable {
        /// The name in the answer of `/ready`: `database`, `files`.
        public let name: String
        /// Whether nothing can be served without it.
        public let isNeeded: Bool
        /// The reason why it cannot be used, for the log alone; nil when it can.
        public let failure: (any Error)?

        /// Checks a part.
        ///
        /// - Parameter look: Throws when the part cannot be used.
        public init(_ name: String, isNeeded: Bool = true, _ look: () async throws -> Void) async {
            self.name = name
            self.isNeeded = isNeeded
            do {
                try await look()
                failure = nil
            } catch {
                failure = error
            }
        }

        fileprivate var state: String { failure == nil ? "ok" : "unavailable" }
    }

    private let draining = NIOLockedValueBox(false)
    /// The parts that the last check found unavailable.
    private let away = NIOLockedValueBox<[String]>([])
    private let logger: Logger?
    private let check: @Sendable () async -> [Part]
    private let notes: @Sendable () async -> [String]

    /// - Parameters:
    ///   - check: Checks all that the process depends on.
    ///   - notes: Returns what does not work although the process can serve, each in a few words.
    ///   - logger: Logs why a part is unavailable, and when it is available again.
    public init(
        check: @escaping @Sendable () async -> [Part], notes: @escaping @Sendable () async -> [String] = { [] },
        logger: Logger? = nil
    ) {
        self.check = check
        self.notes = notes
        self.logger = logger
    }

    /// Lets `/ready` answer 503 from now on, so that a load balancer sends no more requests.
    public func drain() { draining.withLockedValue { $0 = true } }

    /// Returns the states of all parts when one is unavailable; nothing when all are available.
    ///
    /// - Throws: ``Unready`` when the process cannot serve.
    fileprivate func look(_ errorMessages: ErrorMessages) async throws -> [String: String] {
        let problem = Problem(.serviceUnavailable, errorMessages.notReady, headers: [.cacheControl: "no-store"])
        if draining.withLockedValue({ $0 }) { throw Unready(problem: problem, parts: ["server": "stopping"]) }
        let parts = await check()
        report(parts)
        guard parts.contains(where: { $0.failure != nil }) else { return [:] }
        let states = Dictionary(parts.map { ($0.name, $0.state) }) { first, _ in first }
        if parts.contains(where: { $0.isNeeded && $0.failure != nil }) {
            throw Unready(problem: problem, parts: states)
        }
        return states
    }

    /// Returns the answer of `/ready` with the notes as another member.
    fileprivate func noting(_ body: ByteBuffer) async -> ByteBuffer {
        let notes = await notes()
        guard !notes.isEmpty, let list = try? JSONBody.encode(notes) else { return body }
        return ByteBuffer(string: String(buffer: body).dropLast() + #","notes":"# + String(buffer: list) + "}")
    }

    /// Logs what has changed since the last check. One whose client has gone was cut short, and says nothing of the parts.
    private func report(_ parts: [Part]) {
        guard let logger, !Task.isCancelled else { return }
        let now = parts.filter { $0.failure != nil }.map(\.name)
        let before = away.withLockedValue { names in
            defer { names = now }
            return names
        }
        for part in parts {
            if let failure = part.failure, !before.contains(part.name) {
                logger.warning("unavailable", metadata: ["part": "\(part.name)", "error": "\(failure)"])
            } else if part.failure == nil, before.contains(part.name) {
                logger.notice("available again", metadata: ["part": "\(part.name)"])
            }
        }
    }
}

extension Routes {
    /// Adds `GET /health` and `GET /ready`, which are outside the contract and on every listener.
    ///
    /// - Parameter body: The answer of both when all is well. When a part is unavailable, `/ready` has a member
    ///   `parts`, too.
    public mutating func serve(_ health: Health, answering body: String = #"{"status":"ok"}"#) {
        let alive = ByteBuffer(string: body)
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        document("/health", headers: headers) { alive }
        document("/ready", headers: headers) {
            let parts = try await health.look(API.errorMessages)
            return await health.noting(parts.isEmpty ? alive : Unready.adding(parts, to: alive))
        }
    }
}
