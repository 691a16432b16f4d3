import Foundation
import NIOConcurrencyHelpers

/// Hands a connection from thread to thread. The pool has it when nobody uses it, so that no two ever do.
struct PooledConnection: @unchecked Sendable {
    let value: PostgreSQLConnection

    init(_ value: PostgreSQLConnection) { self.value = value }
}

/// The connections of one database: those that are idle, and which socket each of the others waits for.
final class PostgreSQLPool: Sendable {
    /// A server answers every statement in less time, be it with its own time-out; what is later never comes.
    private static let silence: Duration = .seconds(45)
    /// The longest pause between two attempts to reach a server that is away.
    private static let longestPause = 0.5
    /// So long whoever has lost a connection tries to get another one.
    private static let patience: TimeInterval = 2

    fileprivate struct State {
        var idle: [PooledConnection] = []
        /// Those that are in use.
        var busy: [ObjectIdentifier: PooledConnection] = [:]
        /// After a failure to connect: when the next may try, and how long the one after it waits.
        var retryAt = DispatchTime(uptimeNanoseconds: 0)
        var pause: Double = 0
        var isOver = false
    }

    private let state = NIOLockedValueBox(State())
    private let connect: @Sendable () throws -> PostgreSQLConnection

    init(idle: PostgreSQLConnection, connect: @escaping @Sendable () throws -> PostgreSQLConnection) {
        self.connect = connect
        state.withLockedValue { $0.idle = [PooledConnection(idle)] }
        watch()
    }

    /// A connection that nobody else uses: an idle one, or a new one. While the server is away, one at a time tries it,
    /// with pauses; all others are told at once.
    ///
    /// - Parameter isReplacement: Whether it takes the place of one that was lost: then it is waited for, a moment.
    func take(isReplacement: Bool) throws -> PooledConnection {
        let end = Date(timeIntervalSinceNow: Self.patience)
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
            // One that the server has ended meanwhile is of no use, nor are those that were idle with it.
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
            guard !state.isOver else { throw Waiting.farewell }
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

    /// The server has just answered somebody: whoever wants a connection need not wait.
    func serverIsThere() { state.withLockedValue { $0.retryAt = .now() } }

    /// Ends every connection under whoever waits for the server's answer, and makes no new ones.
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

    /// Ends connections on which nothing has been heard for so long that nothing will be: a server that hangs takes no
    /// thread of this process with it.
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
    /// - Throws: ``DatabaseFailure/unavailable(_:)`` when nobody may try now.
    fileprivate mutating func mayConnect() throws -> PooledConnection? {
        guard !isOver else { throw Waiting.farewell }
        let now = DispatchTime.now()
        guard now >= retryAt else { throw DatabaseFailure.unavailable("the server is away") }
        if pause > 0 { retryAt = now + pause }
        return nil
    }
}
