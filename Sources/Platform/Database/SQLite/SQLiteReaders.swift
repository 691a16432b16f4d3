import NIOConcurrencyHelpers
import NIOPosix

/// Reading connections, each used by a thread of its own, in the order in which reads arrive.
///
/// A transaction begins with the first read that a thread takes, and serves the reads that had arrived by then and come to
/// the same thread. None of them can tell: each sees all that was committed before it arrived. A read that arrived later
/// begins a new transaction, because it may follow a commit that the running one does not see.
final class SQLiteReaders: Sendable {
    private struct State {
        var line: WaitingQueue<Read>
        /// The number of reads that have arrived.
        var arrived = 0
        var idle: [SQLiteConnection]
        var isOver = false
    }

    let count: Int
    private let connections: [SQLiteConnection]
    private let threads: NIOThreadPool
    private let state: NIOLockedValueBox<State>
    private let inHand = WorkInHand()

    init(_ connections: [SQLiteConnection], waiting: QueueLimits, metrics: DatabaseMetrics) {
        count = connections.count
        self.connections = connections
        threads = NIOThreadPool(numberOfThreads: connections.count)
        state = NIOLockedValueBox(State(line: WaitingQueue(waiting, metrics: metrics), idle: connections))
        threads.start()
    }

    /// The number of waiting reads.
    var waitingCount: Int { state.withLockedValue { $0.line.count } }
    /// The number of connections that are reading.
    var busyCount: Int { count - state.withLockedValue { $0.idle.count } }

    /// Runs a closure on the next free connection.
    ///
    /// - Throws: ``DatabaseFailure/unavailable(_:)`` when it has waited too long; `CancellationError` when the task is
    ///   cancelled while it waits; the closure's error.
    func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        let isPatient = QueueLimits.isPatient
        let result = Outcome<T>()
        let read = Read { result.value = try body($0) }
        try await read.wait(isPatient: isPatient) {
            let (connection, refused) = state.withLockedValue { state -> (SQLiteConnection?, [Read]) in
                if state.isOver { return (nil, [read]) }
                state.arrived += 1
                read.arrival = state.arrived
                let refused = state.line.add(read, isPatient: isPatient)
                let connection = state.line.isEmpty ? nil : state.idle.popLast()
                if connection != nil { inHand.begin() }
                return (connection, refused)
            }
            for other in refused { other.refuse(QueueLimits.refusal) }
            if let connection { threads.submitSoon { self.work(on: connection) } }
        }
        return try result.get()
    }

    private func work(on connection: SQLiteConnection) {
        var transaction: Transaction?
        while true {
            let (next, arrived) = state.withLockedValue { state in (state.line.next(1), state.arrived) }
            for read in next.refused { read.refuse(QueueLimits.refusal) }
            if next.admitted.isEmpty {
                transaction?.end()
                transaction = nil
                if rests(connection) { return }
            }
            for read in next.admitted where read.begin() {
                if let running = transaction, !running.serves(read) {
                    running.end()
                    transaction = nil
                }
                do {
                    var running = try transaction ?? Transaction(on: connection, after: arrived)
                    running.run(read)
                    transaction = running
                } catch {
                    read.refuse(error)
                }
            }
        }
    }

    /// Marks a connection as idle, unless there is something to read by now.
    private func rests(_ connection: SQLiteConnection) -> Bool {
        state.withLockedValue { state in
            guard state.line.isEmpty else { return false }
            state.idle.append(connection)
            inHand.end()
            return true
        }
    }

    /// Refuses all waiting and new reads.
    func refuseAll() {
        let waiting = state.withLockedValue { state in
            state.isOver = true
            return state.line.removeAll()
        }
        for read in waiting { read.refuse(QueueLimits.stopping) }
    }

    /// Waits until all accepted reads are done.
    func finish() async throws {
        state.withLockedValue { $0.isOver = true }
        await inHand.wait()
        try await threads.shutdownGracefully()
    }

    func closeConnections() throws { for connection in connections { try connection.close() } }
}

/// A transaction that serves reads one after the other.
private struct Transaction {
    /// The number of reads in one transaction. A long read keeps the log from shrinking.
    private static let together = 64

    private let connection: SQLiteConnection
    private let session: Session
    private let arrived: Int
    private var count = 0

    /// Begins a transaction, which sees what was committed before the latest of the reads that have arrived.
    ///
    /// - Throws: ``DatabaseFailure``.
    init(on connection: SQLiteConnection, after arrived: Int) throws {
        try connection.beginReading()
        self.connection = connection
        self.arrived = arrived
        session = Session(connection)
    }

    /// Whether a read may be run in this transaction. The engine may have ended it because of an error.
    func serves(_ read: Read) -> Bool { read.arrival <= arrived && count < Self.together && connection.isInTransaction }

    mutating func run(_ read: Read) {
        count += 1
        read.run(in: session)
    }

    func end() { connection.endReading() }
}

/// A read with its waiting caller.
private final class Read: Pending, @unchecked Sendable {
    private let body: (Session) throws -> Void
    /// Its number in the order of arrival.
    var arrival = 0

    init(_ body: @escaping (Session) throws -> Void) { self.body = body }

    func run(in session: Session) {
        do {
            try body(session)
            resume(nil)
        } catch {
            resume(error)
        }
    }
}
