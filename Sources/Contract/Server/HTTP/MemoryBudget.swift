import Cores
import NIOConcurrencyHelpers
public import NIOCore

/// The memory that requests and their answers may take together, over all connections of a process.
public struct RequestMemory: Sendable {
    /// The memory for bodies that are read as a whole: JSON, up to 1 MiB each. Uploads go to the disk.
    public let bodies: MemoryBudget
    /// The memory for answers that clients have not taken.
    public let answers: MemoryBudget

    public init(bodies: Int = 64 << 20, answers: Int = 64 << 20) {
        self.bodies = MemoryBudget(limit: bodies)
        // More answers at the same time would not be ready sooner, and would delay small ones.
        self.answers = MemoryBudget(limit: answers, width: max(8, 4 * UsableCores.current.count))
    }
}

/// An amount of memory that many requests share. A request that needs more than is left waits in a queue.
public final class MemoryBudget: Sendable {
    /// Requests and answers up to this size, in bytes, are not counted: the number of connections bounds them, and
    /// small requests need not wait for large ones.
    public static let small = 16_384
    /// The time for which a client may delay the server while others wait for memory.
    public static let patience = TimeAmount.seconds(3)

    private struct State {
        var used = 0
        /// The number of requests that hold memory.
        var holders = 0
        var nextID = 0
        var line = CircularBuffer<Waiting>()
        /// The requests that were cancelled before they were in the queue.
        var cancelled: Set<Int> = []
    }

    private struct Waiting {
        let id: Int
        let size: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let limit: Int
    private let width: Int
    private let state = NIOLockedValueBox(State())

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes.
    ///   - width: The number of requests that may hold memory at the same time.
    public init(limit: Int, width: Int = .max) {
        self.limit = limit
        self.width = width
    }

    /// Whether a request waits for memory.
    var isShort: Bool {
        state.withLockedValue { state in state.line.first.map { state.used + $0.size > limit } ?? false }
    }
    /// The number of requests that wait for memory.
    package var waiting: Int { state.withLockedValue { $0.line.count } }
    /// The number of bytes that are held.
    package var used: Int { state.withLockedValue { $0.used } }

    /// Waits until there is room for a number of bytes, and takes it. A number larger than the whole budget has room
    /// when nothing else is held.
    ///
    /// - Throws: `CancellationError`.
    func take(_ size: Int) async throws {
        let id = state.withLockedValue { state -> Int? in
            if state.line.isEmpty, fits(size, state) {
                state.used += size
                state.holders += 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLockedValue { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.line.append(Waiting(id: id, size: size, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                advance()
            }
        } onCancel: {
            let waiting = state.withLockedValue { state -> Waiting? in
                guard let index = state.line.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.line.remove(at: index)
            }
            waiting?.continuation.resume(throwing: CancellationError())
            advance()
        }
        _ = state.withLockedValue { $0.cancelled.remove(id) }
    }

    /// Gives back what was taken.
    func give(_ size: Int) {
        state.withLockedValue { state in
            state.used -= size
            state.holders -= 1
        }
        advance()
    }

    /// Counts bytes that are already in memory, whether or not there is room for them.
    func add(_ size: Int) { state.withLockedValue { $0.used += size } }

    /// Removes bytes from the count.
    func remove(_ size: Int) {
        state.withLockedValue { $0.used -= size }
        advance()
    }

    private func advance() {
        let next = state.withLockedValue { state in
            var next: [CheckedContinuation<Void, any Error>] = []
            while let first = state.line.first, fits(first.size, state) {
                state.used += first.size
                state.holders += 1
                next.append(state.line.removeFirst().continuation)
            }
            return next
        }
        for continuation in next { continuation.resume() }
    }

    private func fits(_ size: Int, _ state: State) -> Bool {
        state.holders < width && (state.used == 0 || state.used + size <= limit)
    }
}

/// The memory of a budget that a request's body or its answer takes, until it is released or nothing refers to the hold any
/// more.
final class MemoryHold: Sendable {
    private let budget: MemoryBudget
    private let taken = NIOLockedValueBox(0)

    init(_ budget: MemoryBudget) { self.budget = budget }

    deinit { release() }

    var isHeld: Bool { taken.withLockedValue { $0 > 0 } }

    /// Waits until there is room for a number of bytes. It may be called only once for a request: two requests that
    /// each hold some and wait for more could wait for each other.
    func take(_ size: Int) async throws {
        try await budget.take(size)
        taken.withLockedValue { $0 += size }
    }

    func release() {
        let size = taken.withLockedValue { taken in
            defer { taken = 0 }
            return taken
        }
        if size > 0 { budget.give(size) }
    }
}

/// The size of a route's recent answers. The next answer is expected to have this size, because memory for it is taken
/// before it is made.
final class ExpectedSize: Sendable {
    /// The first answers are assumed to take 1 MiB each: of many at the same time some go first, and then their size is
    /// known.
    private let state = NIOLockedValueBox((size: 1 << 20, isKnown: false))

    var value: Int { state.withLockedValue { $0.size } }

    /// Records the size of an answer. The largest one counts, and is forgotten slowly.
    func note(_ size: Int) {
        state.withLockedValue { state in
            state.size = !state.isKnown || size > state.size ? size : state.size - (state.size - size) / 64
            state.isKnown = true
        }
    }
}
