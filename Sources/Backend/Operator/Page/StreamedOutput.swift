import ContractServer
import HTTPTypes

/// A console that hands what a command prints on to an answer, a piece at a time, so that a large file is never in memory.
struct StreamedOutput: OperatorConsole {
    private let pieces: AsyncThrowingStream<[UInt8], any Error>.Continuation
    private let taken: AsyncStream<Void>

    /// Waits until the piece is taken.
    func write(_ bytes: [UInt8]) async throws {
        pieces.yield(bytes)
        var turns = taken.makeAsyncIterator()
        guard await turns.next() != nil else { throw CancellationError() }
    }

    func show(_ done: Int, of total: Int) async throws {}
    func read() async throws -> [UInt8]? { nil }

    /// Begins a command, and returns an answer with what it prints.
    ///
    /// - Parameter headers: Returns the answer's headers for the first piece.
    /// - Throws: The error of a command that fails before it prints anything.
    static func answer(
        _ command: @escaping @Sendable (StreamedOutput) async throws -> Void,
        headers: (_ beginning: [UInt8]) -> HTTPFields
    ) async throws -> StreamedAnswer {
        let (pieces, ending) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let (taken, taking) = AsyncStream<Void>.makeStream()
        let console = StreamedOutput(pieces: ending, taken: taken)
        let task = Task {
            do {
                try await command(console)
                ending.finish()
            } catch { ending.finish(throwing: error) }
        }
        let work = Work(task: task, taking: taking)
        var rest = pieces.makeAsyncIterator()
        let first = try await rest.next() ?? []
        work.take()
        return StreamedAnswer(headers: headers(first)) { write in
            try await write(first)
            for try await piece in pieces {
                try await write(piece)
                work.take()
            }
        }
    }

    /// The command that prints. It is cancelled when no answer needs it any more.
    private final class Work: Sendable {
        private let task: Task<Void, Never>
        private let taking: AsyncStream<Void>.Continuation

        init(task: Task<Void, Never>, taking: AsyncStream<Void>.Continuation) {
            self.task = task
            self.taking = taking
        }

        deinit {
            taking.finish()
            task.cancel()
        }

        /// Lets the command print its next piece.
        func take() { taking.yield() }
    }
}
