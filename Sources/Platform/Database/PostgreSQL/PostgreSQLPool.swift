import Foundation
import NIOConcurrencyHelpers

/// Passes a connection from thread to thread. An idle connection belongs to the pool, so no two threads ever use one.
struct PooledConnection: @unchecked Sendable {
    let value: PostgreSQLConnection

    init(_ value: PostgreSQLConnection) { self.value = value }
}

/// The connections of one database: the idle ones, and those that are in use.
final class PostgreSQLPool: Sendable {
    /// The longest silence of a server that still answers, including its own timeouts.
    private static let silence: Duration = .seconds(45)
    /// The longest pause between two attempts to connect to an unreachable server.
    static let longestPause = 0.5

    fileprivate struct State {
        var idle: [PooledConnection] = []
        /// The connections in use.
        var busy: [ObjectIdentifier: PooledConnection] = [:]
        /// The time of the next attempt to connect after a failure, and the wait before the one after it.
        var retryAt = DispatchTime(uptimeNanoseconds: 0)
        var pause: Double = 0
        var isOver = false
    }

    private let state = NIOLockedValueBox(State())
    private let patience: TimeInterval
    private let connect: @Sendable () throws -> PostgreSQLConnection

    /// - Parameter patience: The time in seconds for which another attempt is made to replace a lost connection.
    init(
        idle: PostgreSQLConnection? = nil, patience: TimeInterval = 2,
        connect: @escaping @Sendable () throws -> PostgreSQLConnection
    ) {
        self.patience = patience
        self.connect = connect
        if let idle { state.withLockedValue { $0.idle = [PooledConnection(idle)] } }
        watch()
    }

    /// Runs a closure with a connection.
    func using<T>(_ body: (PostgreSQLConnection) throws -> T) throws -> T {
        let connection = try take(isReplacement: false)
        defer { give(connection) }
        return try body(connection.value)
    }

    /// Returns an idle connection or a new one. While the server cannot be reached, one caller at a time tries it, with
    /// pauses; all others fail at once.
    ///
    /// - Parameter isReplacement: Whether the connection replaces one that was lost; the caller then waits for a
    ///   moment.
    func take(isReplacement: Bool) throws -> PooledConnection {
        let end = Date(timeIntervalSinceNow: patience)
        var hasLostOne = isReplacement
        while true {
            do {
                return try take(hasLostOne: &hasLostOne)
            } catch DatabaseFailure.unavailable
                where hasLostOne && Date() < end && !state.withLockedValue({ $0.isOver })
            {
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    private func take(hasLostOne: inout Bool) throws -> PooledConnection {
        while let connection = try state.withLockedValue({ try $0.idle.popLast() ?? $0.mayConnect() }) {
            // An idle connection that the server has closed is useless, and so are the others.
            if !connection.value.isStale { return try use(connection) }
            hasLostOne = true
        }
        do {
            let connection = PooledConnection(try connect())
            state.withLockedValue { $0.pause = 0 }
            return try use(connection)
        } catch {
            state.withLockedValue { state in
                state.pause = min(Self.longestPause, max(0.1, state.pause * 2))
                state.retryAt = .now() + state.pause * .random(in: 0.5...1)
            }
            throw error
        }
    }

    private func use(_ connection: PooledConnection) throws -> PooledConnection {
        try state.withLockedValue { state in
            guard !state.isOver else { throw QueueLimits.stopping }
            state.busy[ObjectIdentifier(connection.value)] = connection
        }
        return connection
    }

    func give(_ connection: PooledConnection) {
        state.withLockedValue { state in
            state.busy[ObjectIdentifier(connection.value)] = nil
            if !connection.value.isBroken, connection.value.isIdle { state.idle.append(connection) }
        }
    }

    /// The number of connections in use.
    var busyCount: Int { state.withLockedValue { $0.busy.count } }

    /// Ends the pauses, because the server has just answered another connection.
    func endPauses() { state.withLockedValue { $0.retryAt = .now() } }

    /// Shuts every connection down, which ends waits for the server's answer, and refuses new ones.
    func abandon() {
        state.withLockedValue { state in
            state.isOver = true
            for connection in state.busy.values { connection.value.cut() }
        }
    }

    func close() {
        state.withLockedValue { state in
            state.isOver = true
            state.idle.removeAll()
        }
    }

    /// Shuts down connections that have been silent for too long, so that a server that hangs does not block threads of
    /// this process.
    private func watch() {
        let thread = Thread { [weak self] in
            while true {
                Thread.sleep(forTimeInterval: 1)
                guard let self else { return }
                let goesOn = self.state.withLockedValue { state in
                    for connection in state.busy.values where connection.value.silence > Self.silence {
                        connection.value.cut()
                    }
                    return !state.isOver || !state.busy.isEmpty
                }
                guard goesOn else { return }
            }
        }
        thread.name = "postgresql watch"
        thread.start()
    }
}

extension PostgreSQLPool.State {
    /// - Returns: Always nil.
    /// - Throws: ``DatabaseFailure/unavailable(_:)`` while no attempt is allowed.
    fileprivate mutating func mayConnect() throws -> PooledConnection? {
        guard !isOver else { throw QueueLimits.stopping }
        let now = DispatchTime.now()
        guard now >= retryAt else { throw DatabaseFailure.unavailable("the server is away") }
        if pause > 0 { retryAt = now + pause }
        return nil
    }
}
