import NIOCore

/// The operations of the writing connection that group commit needs.
protocol WriterConnection {
    func begin() throws
    func commit() throws
    func rollback()
    /// A counter that grows with every changed row.
    var changes: Int { get }
    var isInTransaction: Bool { get }
    /// Whether the transaction must not be committed, because a statement of it has failed.
    var mustRollBack: Bool { get }
    var session: Session { get }
}

/// Runs all waiting writes in one transaction, with one flush to the disk.
///
/// A closure that throws does not affect the others: if it has changed nothing, it is left out; else the transaction is
/// rolled back, and those before it, the closure itself and those after it are run in transactions of their own. There are
/// no savepoints: SQLite before 3.50.2 may write frames without checksums to the write-ahead log after one was rolled back
/// in a large transaction (https://www.sqlite.org/releaselog/3_50_2.html). After a crash, that frame and all that was
/// committed after it would be missing.
enum GroupCommit {
    static func run(_ writes: [Write], on connection: some WriterConnection) { run(writes[...], on: connection) }

    private static func run(_ writes: ArraySlice<Write>, on connection: some WriterConnection) {
        var rest = writes
        while let failed = attempt(rest, on: connection) {
            run(rest[..<failed], on: connection)
            _ = attempt(rest[failed...failed], on: connection)
            rest = rest[(failed + 1)...]
        }
    }

    /// Runs writes in one transaction, and resumes their callers.
    ///
    /// - Returns: The position of a write for which the transaction was rolled back. No caller has then been resumed.
    private static func attempt(_ writes: ArraySlice<Write>, on connection: some WriterConnection) -> Int? {
        if writes.isEmpty { return nil }
        do {
            try connection.begin()
            var actions: [@Sendable () -> Void] = []
            if let failed = try run(writes, on: connection, collecting: &actions) {
                undo(on: connection)
                if writes.count > 1 { return failed }
                finish(writes, nil)
                return nil
            }
            try connection.commit()
            for action in actions { action() }
            finish(writes, nil)
        } catch {
            undo(on: connection)
            finish(writes, error)
        }
        return nil
    }

    private static func undo(on connection: some WriterConnection) {
        connection.rollback()
        _ = connection.session.takeCommitActions()
    }

    /// Resumes the callers. An event loop is woken once for all that wait on it.
    private static func finish(_ writes: ArraySlice<Write>, _ failure: (any Error)?) {
        var loops: [ObjectIdentifier: (eventLoop: any EventLoop, writes: [Write])] = [:]
        for write in writes {
            if let eventLoop = write.eventLoop {
                loops[ObjectIdentifier(eventLoop), default: (eventLoop, [])].writes.append(write)
            } else {
                write.finish(failure)
            }
        }
        for (eventLoop, writes) in loops.values {
            eventLoop.execute { for write in writes { write.finish(failure) } }
        }
    }

    /// Runs writes in the current transaction.
    ///
    /// - Returns: The position of the first that failed after it had changed something.
    private static func run(
        _ writes: ArraySlice<Write>, on connection: some WriterConnection,
        collecting actions: inout [@Sendable () -> Void]
    ) throws -> Int? {
        for (position, write) in zip(writes.indices, writes) {
            let before = connection.changes
            let succeeded = write.attempt(connection.session)
            let registered = connection.session.takeCommitActions()
            // The engine rolls back by itself when the disk is full or fails; earlier closures are rolled back with it.
            guard connection.isInTransaction else {
                throw DatabaseFailure.unavailable("the engine ended the transaction")
            }
            if connection.mustRollBack {
                if succeeded { write.fail(DatabaseFailure.failed("a statement of a large transaction failed")) }
                return position
            }
            if succeeded {
                actions += registered
            } else if connection.changes != before {
                return position
            }
        }
        return nil
    }
}

/// A write with its waiting caller. Only the writing thread runs and finishes it.
final class Write: Pending, @unchecked Sendable {
    private let body: (Session) throws -> Void
    private var refusal: (any Error)?

    init(_ body: @escaping (Session) throws -> Void) { self.body = body }

    /// Runs the closure. Returns whether it succeeded. It may be called again after a rollback.
    func attempt(_ session: Session) -> Bool {
        do {
            try body(session)
            refusal = nil
            return true
        } catch {
            refusal = error
            return false
        }
    }

    /// Refuses what the closure has done. Its caller gets the error.
    func fail(_ error: any Error) { refusal = error }

    /// Resumes the caller, with the closure's error or the one that prevented the write from being durable.
    func finish(_ failure: (any Error)?) { resume(refusal ?? failure) }
}
