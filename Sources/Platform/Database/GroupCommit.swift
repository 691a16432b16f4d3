import NIOCore

/// The operations of the writing connection that group commit needs.
protocol WriterConnection {
    func begin() throws
    func commit() throws
    func rollback()
    func savepoint() throws
    func release() throws
    func rollbackToSavepoint() throws
    /// A counter that grows with every changed row.
    var changes: Int { get }
    var isInTransaction: Bool { get }
    var session: Session { get }
}

extension WriterConnection {
    /// The changes by the closures' own statements. Rows that earlier closures kept may be stored by a statement of a
    /// later one, which then has not changed anything itself.
    fileprivate var ownChanges: Int { changes - session.storedCount }
}

/// Runs all waiting writes in one transaction, with one flush to the disk.
///
/// A closure that throws does not affect the others: if it has changed nothing, it is left out; else the transaction is
/// rolled back and repeated with a savepoint around each closure.
enum GroupCommit {
    static func run(_ writes: [Write], on connection: some WriterConnection) {
        do {
            try connection.begin()
            var actions: [@Sendable () -> Void] = []
            if try !attemptAll(writes, on: connection, collecting: &actions) {
                connection.rollback()
                connection.session.dropKeptRows()
                actions = []
                try connection.begin()
                try attemptEach(writes, on: connection, collecting: &actions)
            }
            try connection.session.storeKeptRows()
            try connection.commit()
            for action in actions { action() }
            finish(writes, nil)
        } catch {
            connection.rollback()
            connection.session.dropKeptRows()
            _ = connection.session.takeCommitActions()
            finish(writes, error)
        }
    }

    /// Resumes the callers. An event loop is woken once for all that wait on it.
    private static func finish(_ writes: [Write], _ failure: (any Error)?) {
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

    /// Returns false when a failed closure had changed something.
    private static func attemptAll(
        _ writes: [Write], on connection: some WriterConnection,
        collecting actions: inout [@Sendable () -> Void]
    ) throws -> Bool {
        for write in writes {
            let before = connection.ownChanges
            let succeeded = write.attempt(connection.session)
            let registered = connection.session.takeCommitActions()
            // The engine rolls back by itself when the disk is full or fails; earlier closures are rolled back with it.
            guard connection.isInTransaction else {
                throw DatabaseFailure.unavailable("the engine ended the transaction")
            }
            if succeeded {
                actions += registered
            } else if connection.ownChanges != before {
                return false
            }
        }
        return true
    }

    private static func attemptEach(
        _ writes: [Write], on connection: some WriterConnection,
        collecting actions: inout [@Sendable () -> Void]
    ) throws {
        for write in writes {
            try connection.savepoint()
            let succeeded = write.attempt(connection.session)
            let registered = connection.session.takeCommitActions()
            guard connection.isInTransaction else {
                throw DatabaseFailure.unavailable("the engine ended the transaction")
            }
            if succeeded {
                try connection.session.storeKeptRows()
                actions += registered
            } else {
                connection.session.dropKeptRows()
                try connection.rollbackToSavepoint()
            }
            try connection.release()
        }
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

    /// Resumes the caller, with the closure's error or the one that prevented the write from being durable.
    func finish(_ failure: (any Error)?) { resume(refusal ?? failure) }
}
