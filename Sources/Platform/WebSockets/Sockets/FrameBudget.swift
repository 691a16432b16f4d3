import NIOCore

/// The number of frames that a peer may send: so many a second, and so many more at once when it has sent few before.
struct FrameBudget {
    /// The time after which a frame that was taken is no longer missing.
    private let interval: TimeAmount
    /// ``interval`` times the number of frames of the whole budget.
    private let most: TimeAmount
    /// The time at which no frame will be missing.
    private var whole = NIODeadline.uptimeNanoseconds(0)

    init(_ limits: SocketLimits) {
        interval = .nanoseconds(1_000_000_000 / Int64(max(1, limits.frameRate)))
        most = .nanoseconds(interval.nanoseconds * Int64(min(limits.frameBurst, 1_000_000)))
    }

    /// Takes a frame from the budget.
    ///
    /// - Returns: Whether there was one left.
    mutating func take(at now: NIODeadline) -> Bool {
        whole = max(whole, now) + interval
        return whole - now <= most
    }
}
