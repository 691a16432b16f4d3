import NIOConcurrencyHelpers
public import NIOCore

/// What requests and their answers may take in memory together, over all connections of a process.
public struct RequestMemory: Sendable {
    /// Bodies that are read as a whole: JSON, up to 1 MiB each. Uploads go to the disk.
    public let bodies: MemoryBudget
    /// Answers that clients have not taken.
    public let answers: MemoryBudget

    public init(bodies: Int = 64 << 20, answers: Int = 64 << 20) {
        self.bodies = MemoryBudget(limit: bodies)
        // More of them being made at once would be ready no sooner, and would keep small ones waiting.
        self.answers = MemoryBudget(limit: answers, width: max(8, 4 * System.coreCount))
    }
}

/// An amount of memory that many share. Who needs more than is left waits in line.
public final class MemoryBudget: Sendable {
    /// Requests and answers up to this size, in bytes, are not counted: the number of connections bounds them, and nobody
    /// who asks for little waits for those who ask for much.
    public static let small = 16_384
    /// How long a client that others wait for may let the server wait.
    public static let patience = TimeAmount.seconds(3)

    private struct State {
        var used = 0
        /// Those that have taken and not given back.
        var holders = 0
        var nextID = 0
        var line = CircularBuffer<Waiting>()
        /// Those that were cancelled before they stood in line.
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

    /// - Parameters:
    ///   - limit: In bytes.
    ///   - width: How many may hold some at a time.
    public init(limit: Int, width: Int = .max) {
        self.limit = limit
        self.width = width
    }

    /// Whether somebody waits for bytes.
    var isShort: Bool {
        state.withLockedValue { state in state.line.first.map { state.used + $0.size > limit } ?? false }
    }
    var waiting: Int { state.withLockedValue { $0.line.count } }
    var used: Int { state.withLockedValue { $0.used } }

    /// Waits until there is room for so many bytes, and takes it. What is larger than all of it has room when nothing else
    /// is there.
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

    /// Counts what is there already, whether there is room for it or not.
    func add(_ size: Int) { state.withLockedValue { $0.used += size } }

    /// Counts it no longer.
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

/// How large the answers of a route were lately: what the next one is expected to be, since room for it is taken before it
/// is made.
final class ExpectedSize: Sendable {
    /// Before the first answer each takes 1 MiB: of those that come at once some go first, and then it is known.
    private let state = NIOLockedValueBox((size: 1 << 20, isKnown: false))

    var value: Int { state.withLockedValue { $0.size } }

    /// Notes an answer. The largest counts; what was large once is forgotten slowly.
    func note(_ size: Int) {
        state.withLockedValue { state in
            state.size = !state.isKnown || size > state.size ? size : state.size - (state.size - size) / 64
            state.isKnown = true
        }
    }
}
