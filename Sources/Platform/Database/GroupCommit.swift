import NIOConcurrencyHelpers

/// A write that waits for its turn, with whoever waits for it.
protocol PendingWrite: Turn {
    /// Runs the closure and keeps its result; tells whether it succeeded. May be called again after a roll-back.
    func attempt(_ session: Session) -> Bool
    /// Answers the caller: with the kept result, or with what kept it from being durable.
    func finish(_ failure: (any Error)?)
}

/// The writer's connection, as group commit needs it.
protocol WriterConnection {
    func begin() throws
    func commit() throws
    func rollback()
    func savepoint() throws
    func release() throws
    func rollbackToSavepoint() throws
    /// Grows with every row that is changed.
    var changes: Int { get }
    var isInTransaction: Bool { get }
    var session: Session { get }
}

/// Takes every write that is waiting into one transaction: one flush to the disk for all of them.
///
/// A closure that throws takes no other with it: if it had changed nothing, it is as if it had not run; else the
/// transaction is rolled back and repeated with a savepoint around each.
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

    /// False when a failed closure had changed something.
    private static func attemptAll(
        _ writes: [any PendingWrite], on connection: some WriterConnection,
        collecting actions: inout [@Sendable () -> Void]
    ) throws -> Bool {
        for write in writes {
            let before = connection.changes
            let succeeded = write.attempt(connection.session)
            let registered = connection.session.takeCommitActions()
            // The engine itself rolls back when the disk is full or fails: what ran before is gone with it.
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

/// A closure, its result, and the task that waits for it.
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
        // Its own refusal stands, whatever became of the others.
        case (_, .failure(let refusal)?): pending.resume(.failure(refusal))
        case (let failure?, _): pending.resume(.failure(failure))
        case (nil, .success(let value)?): pending.resume(.success(value))
        case (nil, nil): pending.resume(.failure(DatabaseFailure.unavailable("the write did not run")))
        }
    }
}
