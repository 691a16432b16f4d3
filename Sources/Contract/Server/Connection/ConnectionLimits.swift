import CoreMetrics
public import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The limits on the number of connections, over all listeners of a process.
public final class ConnectionLimits: Sendable {
    /// The decision about a new connection.
    enum Admission: Sendable {
        case admitted
        /// The connection is answered with 503.
        case refused
        /// The connection is closed without an answer, because even the answers to refused connections would take too
        /// much.
        case dropped
    }

    /// The reason for which a connection was closed.
    struct Reached: Error {}

    private struct State {
        var admitted = 0
        var refused = 0
        var addresses: [String: Int] = [:]
        /// The number of refusals since the last line in the log.
        var unreported = 0
        var lastReport: NIODeadline?
    }

    private let total: Int
    private let perAddress: Int
    private let isExempt: @Sendable (_ address: String) -> Bool
    private let logger: Logger
    private let state = NIOLockedValueBox(State())
    private let refusals = Counter(label: "concord_connections_refused_total")

    /// Creates the limits.
    ///
    /// - Parameters:
    ///   - total: The number of connections of all clients. A few more are open while they are being refused: an eighth
    ///     of it, at least 16.
    ///   - perAddress: The number of connections of one address; a /64 of IPv6 counts as one.
    ///   - isExempt: Returns whether an address has no limit, such as this machine or a proxy.
    public init(
        total: Int, perAddress: Int, logger: Logger, exempting isExempt: @escaping @Sendable (String) -> Bool
    ) {
        self.total = total
        self.perAddress = perAddress
        self.logger = logger
        self.isExempt = isExempt
    }

    /// Makes the limits of a server that clients reach directly: 1,000 connections, 100 of them from one address, any number
    /// from this machine.
    public convenience init(logger: Logger) {
        self.init(total: 1000, perAddress: 100, logger: logger) { ClientAddress($0).isThisMachine }
    }

    /// The number of connections that are open, and the most that may be.
    package var load: (open: Int, limit: Int) { (state.withLockedValue { $0.admitted }, total) }

    func enter(_ address: String?) -> Admission {
        let counted = address.flatMap { isExempt($0) ? nil : ClientAddress($0).network }
        let (admission, report) = state.withLockedValue { state -> (Admission, Int?) in
            let ofAddress = counted.map { state.addresses[$0, default: 0] } ?? 0
            if state.admitted < total, ofAddress < perAddress {
                state.admitted += 1
                if let counted { state.addresses[counted] = ofAddress + 1 }
                return (.admitted, nil)
            }
            state.unreported += 1
            var report: Int?
            let now = NIODeadline.now()
            if state.lastReport.map({ now - $0 >= .seconds(10) }) ?? true {
                report = state.unreported
                state.unreported = 0
                state.lastReport = now
            }
            guard state.refused < max(16, total / 8) else { return (.dropped, report) }
            state.refused += 1
            return (.refused, report)
        }
        if admission != .admitted { refusals.increment() }
        if let report {
            logger.warning(
                "connections refused",
                metadata: [
                    "count": .stringConvertible(report), "address": "\(address ?? "unknown")",
                    "limit": .stringConvertible(total), "limit-per-address": .stringConvertible(perAddress),
                ])
        }
        return admission
    }

    func leave(_ address: String?, _ admission: Admission) {
        let counted = address.flatMap { isExempt($0) ? nil : ClientAddress($0).network }
        state.withLockedValue { state in
            switch admission {
            case .admitted:
                state.admitted -= 1
                guard let counted, let count = state.addresses[counted] else { return }
                state.addresses[counted] = count > 1 ? count - 1 : nil
            case .refused: state.refused -= 1
            case .dropped: break
            }
        }
    }
}
