import NIOCore

/// Runs the work of one socket one item after the other. Asynchronous work, such as a query, holds up all later items
/// until it has finished.
///
/// It must be made and used on one event loop.
public final class SerialQueue {
    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<() -> Void>(initialCapacity: 0)
    /// The number of parts of the current item that have not ended: the item itself, and what it waits for.
    private var parts = 0
    private var isOver = false

    public init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// The number of items that wait.
    public var count: Int { waiting.count }

    /// Runs an item when those before it have ended: at once when there are none. What an item enqueues runs after it.
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
        parts += 1
        let eventLoop = eventLoop
        let back = NIOLoopBound((tasks: self, finish: finish), eventLoop: eventLoop)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            eventLoop.execute {
                let (tasks, finish) = back.value
                tasks.endPart { finish(result) }
            }
        }
    }

    /// Waits as part of the current item. The item ends when `finish` has run.
    ///
    /// - Parameter begin: Is given a closure that it calls once, or passes on to be called on the event loop later. Then
    ///   `finish` runs.
    public func wait(for begin: (@escaping () -> Void) -> Void, then finish: @escaping () -> Void) {
        parts += 1
        begin { self.endPart(finish) }
    }

    /// Drops all items that wait. The result of work that is still running is ignored.
    public func end() {
        isOver = true
        waiting.removeAll()
    }

    /// Runs what ends a part of the current item.
    private func endPart(_ finish: () -> Void) {
        guard !isOver else { return }
        finish()
        parts -= 1
        next()
    }

    private func next() {
        while parts == 0, let item = waiting.popFirst() {
            parts = 1
            item()
            parts -= 1
        }
    }
}
