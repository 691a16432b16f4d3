import CoreMetrics
import NIOConcurrencyHelpers

/// Records what happens on the sockets of a route.
final class SocketMetrics: Sendable {
    /// The number of open sockets.
    let open = Meter(label: "concord_sockets")
    let sent = Counter(label: "concord_socket_frames_total", dimensions: [("direction", "sent")])
    let received = Counter(label: "concord_socket_frames_total", dimensions: [("direction", "received")])
    private let factory = MetricsSystem.factory
    private let handshakes = NIOLockedValueBox<[Int: Counter]>([:])
    private let closes = NIOLockedValueBox<[SocketCloseCode: Counter]>([:])

    /// Counts a handshake by the status of its answer.
    func answered(_ status: Int) {
        count(in: handshakes, status, "concord_socket_handshakes_total", ("status", "\(status)"))
    }

    /// Counts a socket that the server closes.
    func closed(_ code: SocketCloseCode) {
        count(in: closes, code, "concord_socket_closes_total", ("code", "\(code.rawValue)"))
    }

    private func count<Key: Hashable>(
        in counters: NIOLockedValueBox<[Key: Counter]>, _ key: Key, _ label: String, _ dimension: (String, String)
    ) {
        let counter = counters.withLockedValue { counters in
            if let known = counters[key] { return known }
            let counter = Counter(label: label, dimensions: [dimension], factory: factory)
            counters[key] = counter
            return counter
        }
        counter.increment()
    }
}
