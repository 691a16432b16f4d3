import NIOConcurrencyHelpers
public import NIOCore

/// The event loops of a server's sockets: half of those of its group, at least one.
///
/// An event for many sockets is delivered by each loop that has some of them. Fewer loops have more events for a socket when
/// its turn comes, which it then sends in one system call, and hinder each other less. Connections begin on any loop, because
/// a server accepts them before it knows what they ask for; one that becomes a socket on another loop is moved
/// (``SocketMove``).
public final class SocketLoops: Sendable {
    private struct State {
        /// The number of sockets that have been placed.
        var placed = 0
        /// The connections that are being moved, or have been and are open.
        var moved = 0
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isQuiescing = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let loops: [any EventLoop]
    private let state = NIOLockedValueBox(State())

    /// Makes the loops of a server.
    ///
    /// - Parameter group: The loops on which connections are accepted.
    public init(_ group: any EventLoopGroup) {
        let all = Array(group.makeIterator())
        loops = Array(all.prefix(max(1, all.count / 2)))
    }

    /// Returns the loop to which a connection is moved; nil if its own is one for sockets.
    func place(from eventLoop: any EventLoop) -> (any EventLoop)? {
        guard !loops.contains(where: { $0 === eventLoop }) else { return nil }
        return state.withLockedValue { state in
            defer { state.placed += 1 }
            return loops[state.placed % loops.count]
        }
    }

    /// Notes that a connection is being moved.
    func begin() { state.withLockedValue { $0.moved += 1 } }

    /// Notes that a connection has been moved to a channel.
    func add(_ channel: any Channel) {
        let isQuiescing = state.withLockedValue { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.isQuiescing
        }
        if isQuiescing { quiesce(channel) }
    }

    /// Notes that a connection is closed that was moved, or was to be.
    func remove(_ channel: (any Channel)?) {
        let waiting = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            if let channel { state.channels[ObjectIdentifier(channel)] = nil }
            state.moved -= 1
            guard state.moved == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Closes the sockets that have been moved, and those that are being moved as soon as they have been: the server stops. It
    /// closes the others itself.
    public func quiesce() {
        let channels = state.withLockedValue { state in
            state.isQuiescing = true
            return Array(state.channels.values)
        }
        for channel in channels { quiesce(channel) }
    }

    private func quiesce(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    /// Waits until all sockets that have been moved are closed.
    public func allClosed() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLockedValue { state in
                guard state.moved > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
