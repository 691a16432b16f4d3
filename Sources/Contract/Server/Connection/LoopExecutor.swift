import NIOCore

/// Runs the jobs of tasks on one event loop, so that a request wakes no other thread unless it waits for one.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The executors of a group's event loops. Before macOS 15 tasks cannot choose one, and run on the global executor.
struct LoopExecutors: Sendable {
    /// Starts tasks on one event loop.
    struct Executor: Sendable {
        /// A `LoopExecutor`, where there are any.
        fileprivate let executor: (any AnyObject & Sendable)?

        /// Starts a task on the event loop, from which this must be called.
        func start(_ body: @escaping @concurrent @Sendable () async -> Void) -> Task<Void, Never> {
            guard #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *),
                let known = executor
            else { return Task(operation: body) }
            let executor = unsafeDowncast(known, to: LoopExecutor.self)
            if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
                return Task.immediate(executorPreference: executor, operation: body)
            }
            return Task(executorPreference: executor, operation: body)
        }
    }

    private let executors: [ObjectIdentifier: Executor]

    init(_ group: any EventLoopGroup) {
        guard #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *) else {
            executors = [:]
            return
        }
        let pairs = group.makeIterator().map { (ObjectIdentifier($0), Executor(executor: LoopExecutor($0))) }
        executors = Dictionary(pairs) { first, _ in first }
    }

    /// Returns the executor of an event loop; for one of another group, the global executor.
    func executor(of eventLoop: any EventLoop) -> Executor {
        executors[ObjectIdentifier(eventLoop)] ?? Executor(executor: nil)
    }
}

/// Runs work that computes for long outside of the event loops, which other connections wait for. What it awaits
/// resumes there, too.
package func outsideOfEventLoops<T>(_ body: @concurrent () async throws -> T) async rethrows -> T {
    guard #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *) else { return try await body() }
    return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await body() }
}
