import Foundation

/// Runs tasks one step at a time, in an order drawn from a seed and with a simulated clock, so that a race that was
/// found once can be repeated.
///
/// Every task that is created within a simulation belongs to it: actors, groups, unstructured tasks. The runtime has
/// one hook through which all jobs pass. Jobs of threads without a simulation go to the usual executor, so that other
/// tests run at the same time. Simulated code waits by ``sleep(for:)`` only: `Task.sleep` and `Task.yield` go to the
/// system.
public final class Simulation: SerialExecutor, @unchecked Sendable {
    /// The simulated tasks wait for an event that never happens, or never end.
    public struct Stuck: Error, CustomStringConvertible {
        public let description: String
    }

    /// The number of steps after which a simulation counts as an endless loop.
    private static let maximumSteps = 1_000_000

    private struct Timer {
        let id: Int
        let time: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    // All of these are used only on the thread that runs the simulation.
    private var generator: SeededGenerator
    private var ready: [UnownedJob] = []
    private var timers: [Timer] = []
    private var timersMade = 0
    /// The simulated time since the beginning.
    public private(set) var now = Duration.zero
    private var lines: [String]?

    /// - Parameter isTraced: Keeps the lines of ``note(_:)``.
    public init(seed: UInt64, isTraced: Bool = false) {
        generator = SeededGenerator(seed: seed)
        lines = isTraced ? [] : nil
    }

    // MARK: Calls of simulated code

    /// Waits in simulated time.
    ///
    /// - Throws: `CancellationError`, at once when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        timersMade += 1
        let id = timersMade
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                timers.append(Timer(id: id, time: now + max(.zero, duration), continuation: continuation))
            }
        } onCancel: {
            guard let index = timers.firstIndex(where: { $0.id == id }) else { return }
            timers.remove(at: index).continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits, whether the task is cancelled or not.
    public func pause(for duration: Duration) async {
        await Task { try? await sleep(for: duration) }.value
    }

    /// Returns true with a probability.
    public func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < probability }

    public func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    public func random(_ range: ClosedRange<Duration>) -> Duration {
        let milliseconds = { (duration: Duration) in Int(duration / .milliseconds(1)) }
        return .milliseconds(random(milliseconds(range.lowerBound)...milliseconds(range.upperBound)))
    }

    /// Adds a line to the trace.
    public func note(_ text: @autoclosure () -> String) {
        guard lines != nil else { return }
        let time = String(format: "%10.3f", now / .seconds(1))
        lines?.append("\(time)  \(text())")
    }

    public var trace: String { lines?.joined(separator: "\n") ?? "" }

    // MARK: Running

    /// Runs until the body and all tasks that it started have ended.
    public func run(_ body: @escaping @Sendable () async -> Void) throws {
        Self.hook
        precondition(pthread_getspecific(Self.key) == nil, "a simulation within a simulation")
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, nil) }
        var hasEnded = false
        let ended = { hasEnded = true }
        nonisolated(unsafe) let end = ended
        Task.detached {
            await body()
            end()
        }
        var steps = 0
        while step() {
            steps += 1
            guard steps < Self.maximumSteps else { throw Stuck(description: "still running after \(steps) steps") }
        }
        guard hasEnded else { throw Stuck(description: "nothing is left to run, but tasks still wait") }
    }

    /// Runs one job. When all tasks wait, it moves the clock to the next of them. Returns false when there is nothing
    /// left.
    private func step() -> Bool {
        if ready.isEmpty {
            guard let next = timers.map(\.time).min() else { return false }
            now = next
            let due = timers.filter { $0.time == next }
            timers.removeAll { $0.time == next }
            for timer in due { timer.continuation.resume() }
        }
        ready.swapAt(Int.random(in: 0..<ready.count, using: &generator), ready.count - 1)
        ready.removeLast().runSynchronously(on: asUnownedSerialExecutor())
        return true
    }

    public func enqueue(_ job: UnownedJob) { ready.append(job) }

    // MARK: The runtime's hook

    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// The key under which a thread keeps the simulation that it runs.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "no thread-specific data")
        return key
    }()

    /// Installs the runtime's hook, once.
    private static let hook: Void = {
        guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
            preconditionFailure("this Swift runtime has no hook for enqueuing")
        }
        symbol.assumingMemoryBound(to: EnqueueHook?.self).pointee = { job, enqueue in
            guard let current = pthread_getspecific(Simulation.key) else { return enqueue(job) }
            Unmanaged<Simulation>.fromOpaque(current).takeUnretainedValue().enqueue(job)
        }
    }()
}
