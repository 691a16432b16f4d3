import NIOCore

/// The times at which a socket pings its peer, and at which it gives up one that is silent.
///
/// Its only timer is not moved when bytes arrive; instead the times are checked when it fires.
struct SocketPulse {
    private let pingInterval: TimeAmount?
    private let idleTimeout: TimeAmount?
    private var lastHeard: NIODeadline
    private var nextPing: NIODeadline

    init(_ limits: SocketLimits, at now: NIODeadline) {
        (pingInterval, idleTimeout) = (limits.pingInterval, limits.idleTimeout)
        lastHeard = now
        nextPing = limits.pingInterval.map { now + $0 } ?? .distantFuture
    }

    /// The time of the next check; `nil` if none is needed.
    var nextCheck: NIODeadline? {
        let next = min(nextPing, idleTimeout.map { lastHeard + $0 } ?? .distantFuture)
        return next < .distantFuture ? next : nil
    }

    /// Notes that the peer has sent something.
    mutating func hear(at now: NIODeadline) { lastHeard = now }

    func isSilent(at now: NIODeadline) -> Bool {
        idleTimeout.map { now - lastHeard >= $0 } ?? false
    }

    /// Returns whether a ping is to be sent now. The next one is due an interval later.
    mutating func takePing(at now: NIODeadline) -> Bool {
        guard let pingInterval, now >= nextPing else { return false }
        nextPing = now + pingInterval
        return true
    }
}
