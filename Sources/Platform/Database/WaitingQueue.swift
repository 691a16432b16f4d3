import Dispatch
import NIOCore

/// The limits on how long transactions may wait before they are refused.
///
/// A queue in which every caller waits too long helps no one: the callers have given up when they are served. When even
/// the shortest wait has been longer than ``target`` for ``longest``, transactions that have waited longer than that
/// are refused, so that the rest are served soon. A short delay refuses none.
public struct QueueLimits: Sendable {
    public var target: Duration = .milliseconds(100)
    public var longest: Duration = .seconds(1)
    /// The time without progress after which waiting transactions are refused when another one arrives.
    package var standstill: Duration = .seconds(10)
    /// The number of writes in one transaction, which keeps the wait of those behind them short.
    package var together = 512
    /// The maximum number of waiting transactions.
    package var places = 20_000
    /// Returns the time since a fixed moment.
    package var clock: @Sendable () -> Duration = {
        .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }

    public init() {}

    /// Runs a closure whose transactions wait without a limit: work of the server itself, which no client repeats.
    package static func withoutLimit<T: Sendable>(_ body: @Sendable () async throws -> T) async rethrows -> T {
        try await $isPatient.withValue(true) { try await body() }
    }

    @TaskLocal static var isPatient = false

    static let refusal = DatabaseFailure.unavailable("too many wait for their turn")
    static let stopping = DatabaseFailure.unavailable("the server is stopping")
}

/// A transaction that waits for its turn, with its caller.
protocol WaitingTransaction: AnyObject, Sendable {
    /// Marks the transaction as running. Returns false when the caller was cancelled.
    func begin() -> Bool
    /// Resumes the caller with an error, without running the transaction.
    func refuse(_ reason: any Error)
}

/// The waiting transactions, in the order of their arrival.
struct WaitingQueue<Element: Sendable> {
    private struct Place {
        let element: Element
        let since: Duration
        let isPatient: Bool
    }

    private let waiting: QueueLimits
    private let metrics: DatabaseMetrics
    private var places = CircularBuffer<Place>()
    /// The time since which even the shortest wait is too long.
    private var slowSince: Duration?
    private var lastTurn: Duration

    init(_ waiting: QueueLimits, metrics: DatabaseMetrics = DatabaseMetrics()) {
        self.waiting = waiting
        self.metrics = metrics
        lastTurn = waiting.clock()
    }

    var isEmpty: Bool { places.isEmpty }
    var count: Int { places.count }

    /// - Returns: The transactions to refuse: the new one when there is no place for it, and those that have waited too
    ///   long.
    mutating func add(_ element: Element, isPatient: Bool) -> [Element] {
        let now = waiting.clock()
        if places.isEmpty { lastTurn = max(lastTurn, now) }
        var refused: [Element] = []
        if now - lastTurn > waiting.standstill {
            let isOver = { (place: Place) in !place.isPatient && now - place.since > waiting.standstill }
            refused = places.filter(isOver).map(\.element)
            places.removeAll(where: isOver)
        }
        if !isPatient, places.count >= waiting.places { refused.append(element) }
        if !refused.isEmpty { metrics.refusals.increment(by: refused.count) }
        if !isPatient, places.count >= waiting.places { return refused }
        places.append(Place(element: element, since: now, isPatient: isPatient))
        return refused
    }

    /// Takes the next transactions out of the queue.
    mutating func next(_ count: Int) -> (admitted: [Element], refused: [Element]) {
        let now = waiting.clock()
        lastTurn = now
        var (admitted, refused) = ([Element](), [Element]())
        while admitted.count < count, let place = places.popFirst() {
            if place.isPatient || admits(waited: now - place.since, at: now) {
                metrics.wait.record(now - place.since)
                admitted.append(place.element)
            } else {
                metrics.refusals.increment()
                refused.append(place.element)
            }
        }
        if places.isEmpty { slowSince = nil }
        return (admitted, refused)
    }

    mutating func removeAll() -> [Element] {
        defer { places.removeAll() }
        return places.map(\.element)
    }

    private mutating func admits(waited: Duration, at now: Duration) -> Bool {
        guard waited > waiting.target else {
            slowSince = nil
            return true
        }
        let since = slowSince ?? now
        slowSince = since
        return waited <= waiting.longest || now - since < waiting.longest
    }
}
