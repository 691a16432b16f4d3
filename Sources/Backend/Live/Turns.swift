import NIOCore

/// What a socket does one thing after the other. Work elsewhere, such as a look into the database, holds up whatever
/// comes after it.
///
/// Made and used on one event loop.
public final class Turns {
    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<() -> Void>(initialCapacity: 0)
    private var isBusy = false
    private var isOver = false

    public init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// How many wait.
    public var count: Int { waiting.count }

    /// Runs a turn when those before it are done; at once when there are none.
    public func take(_ turn: @escaping () -> Void) {
        guard !isOver else { return }
        waiting.append(turn)
        next()
    }

    /// In the middle of a turn: works off the event loop, and comes back to it with the result. The turn ends with
    /// `finish`.
    public func work<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value,
        then finish: @escaping (Result<Value, any Error>) -> Void
    ) {
        isBusy = true
        let eventLoop = eventLoop
        let back = NIOLoopBound((turns: self, finish: finish), eventLoop: eventLoop)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            eventLoop.execute {
                let (turns, finish) = back.value
                turns.isBusy = false
                guard !turns.isOver else { return }
                finish(result)
                turns.next()
            }
        }
    }

    /// Forgets what waits; what is under way comes back to nobody.
    public func end() {
        isOver = true
        waiting.removeAll()
    }

    private func next() {
        while !isBusy, let turn = waiting.popFirst() { turn() }
    }
}
