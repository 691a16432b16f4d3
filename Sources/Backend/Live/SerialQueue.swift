import NIOCore

/// Runs the work of one socket one item after the other. Asynchronous work, such as a query, holds up all later items
/// until it has finished.
///
/// It must be made and used on one event loop.
public final class SerialQueue {
    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<() -> Void>(initialCapacity: 0)
    private var isBusy = false
    private var isOver = false

    public init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// The number of items that wait.
    public var count: Int { waiting.count }

    /// Runs an item when those before it have finished: at once when there are none.
    public func enqueue(_ item: @escaping () -> Void) {
        guard !isOver else { return }
        waiting.append(item)
        next()
    }

    /// Runs asynchronous work as part of the current item, and returns to the event loop with the result. The item ends
    /// when `finish` has run.
    public func work<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value,
        then finish: @escaping (Result<Value, any Error>) -> Void
    ) {
        isBusy = true
        let eventLoop = eventLoop
        let back = NIOLoopBound((tasks: self, finish: finish), eventLoop: eventLoop)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            eventLoop.execute {
                let (tasks, finish) = back.value
                tasks.isBusy = false
                guard !tasks.isOver else { return }
                finish(result)
                tasks.next()
            }
        }
    }

    /// Drops all items that wait. The result of work that is still running is ignored.
    public func end() {
        isOver = true
        waiting.removeAll()
    }

    private func next() {
        while !isBusy, let item = waiting.popFirst() { item() }
    }
}
