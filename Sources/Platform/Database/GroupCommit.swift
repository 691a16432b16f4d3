import NIOConcurrencyHelpers

/// A write that waits for its turn, with its caller.
protocol PendingWrite: WaitingTransaction {
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
            for write in writes { write.finish(nil) }
        } catch {
            connection.rollback()
            _ = connection.session.takeCommitActions()
            for write in writes { write.finish(error) }
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

/// A write closure with its result and its waiting task.
final class Write<Value: Sendable>: PendingWrite {
    private let body: @Sendable (Session) throws -> Value
    private let pending: Pending<Value>
    private let result = NIOLockedValueBox<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable (Session) throws -> Value, _ pending: Pending<Value>) {
        self.body = body
        self.pending = pending
    }

    func begin() -> Bool { pending.begin() }
    func refuse(_ reason: any Error) { pending.resume(.failure(reason)) }

    func attempt(_ session: Session) -> Bool {
        let attempt = Result { try body(session) }
        result.withLockedValue { $0 = attempt }
        if case .success = attempt { return true }
        return false
    }

    func finish(_ failure: (any Error)?) {
        switch (failure, result.withLockedValue({ $0 })) {
        // The closure's own error takes precedence over the error of the commit.
        case (_, .failure(let refusal)?): pending.resume(.failure(refusal))
        case (let failure?, _): pending.resume(.failure(failure))
        case (nil, .success(let value)?): pending.resume(.success(value))
        case (nil, nil): pending.resume(.failure(DatabaseFailure.unavailable("the write did not run")))
        }
    }
}
