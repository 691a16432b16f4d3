import NIOCore

/// A write that waits for its turn, with its caller.
protocol PendingWrite: WaitingTransaction {
    /// The event loop on which the caller waits, if it is one.
    var eventLoop: (any EventLoop)? { get }
    /// Runs the closure and stores its result; returns whether it succeeded. It may be called again after a rollback.
    func attempt(_ session: Session) -> Bool
    /// Resumes the caller with the stored result, or with the error that prevented it from being durable.
    func finish(_ failure: (any Error)?)
}

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

/// Runs all waiting writes in one transaction, with one flush to the disk.
///
/// A closure that throws does not affect the others: if it has changed nothing, it is left out; else the transaction is
/// rolled back and repeated with a savepoint around each closure.
enum GroupCommit {
    static func run(_ writes: [any PendingWrite], on connection: some WriterConnection) {
        do {
            try connection.begin()
            var actions: [@Sendable () -> Void] = []
            if try !attemptAll(writes, on: connection, collecting: &actions) {
                connection.rollback()
                actions = []
                try connection.begin()
                try attemptEach(writes, on: connection, collecting: &actions)
            }
            try connection.commit()
            for action in actions { action() }
            finish(writes, nil)
        } catch {
            connection.rollback()
            _ = connection.session.takeCommitActions()
            finish(writes, error)
        }
    }

    /// Resumes the callers. An event loop is woken once for all that wait on it.
    private static func finish(_ writes: [any PendingWrite], _ failure: (any Error)?) {
        var loops: [ObjectIdentifier: (eventLoop: any EventLoop, writes: [any PendingWrite])] = [:]
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
        _ writes: [any PendingWrite], on connection: some WriterConnection,
        collecting actions: inout [@Sendable () -> Void]
    ) throws -> Bool {
        for write in writes {
            let before = connection.changes
            let succeeded = write.attempt(connection.session)
            let registered = connection.session.takeCommitActions()
            // The engine rolls back by itself when the disk is full or fails; earlier closures are rolled back with it.
            guard connection.isInTransaction else {
                throw DatabaseFailure.unavailable("the engine ended the transaction")
            }
            if succeeded {
                actions += registered
            } else if connection.changes != before {
                return false
            }
        }
        return true
    }

    private static func attemptEach(
        _ writes: [any PendingWrite], on connection: some WriterConnection,
        collecting actions: inout [@Sendable () -> Void]
    ) throws {
        for write in writes {
            try connection.savepoint()
            let succeeded = write.attempt(connection.session)
            let registered = connection.session.takeCommitActions()
            guard connection.isInTransaction else {
                throw DatabaseFailure.unavailable("the engine ended the transaction")
            }
            if succeeded { actions += registered } else { try connection.rollbackToSavepoint() }
            try connection.release()
        }
    }
}

/// A write closure with its result and its waiting task. Only the writing thread changes the result.
final class Write<Value: Sendable>: Pending<Value>, PendingWrite, @unchecked Sendable {
    private let body: @Sendable (Session) throws -> Value
    private var result: Result<Value, any Error>?

    init(_ body: @escaping @Sendable (Session) throws -> Value) { self.body = body }

    func attempt(_ session: Session) -> Bool {
        let attempt = Result { try body(session) }
        result = attempt
        if case .success = attempt { return true }
        return false
    }

    func finish(_ failure: (any Error)?) {
        switch (failure, result) {
        // The closure's own error takes precedence over the error of the commit.
        case (_, .failure(let refusal)?): resume(.failure(refusal))
        case (let failure?, _): resume(.failure(failure))
        case (nil, .success(let value)?): resume(.success(value))
        case (nil, nil): resume(.failure(DatabaseFailure.unavailable("the write did not run")))
        }
    }
}
