import Dispatch
import NIOCore

/// How long transactions may wait for their turn before they are refused.
///
/// A line in which everything waits is of no use to anybody: whoever is served has given up by then. So when even those
/// that waited least have waited longer than ``target`` for as long as ``longest``, those that have waited longer than
/// that are refused, and the rest are served soon. A moment's delay refuses nobody.
public struct Waiting: Sendable {
    public var target: Duration = .milliseconds(100)
    public var longest: Duration = .seconds(1)
    /// So long none has had its turn: whoever has waited so long is refused as soon as another comes.
    public var standstill: Duration = .seconds(10)
    /// So many writes go into one transaction, where one thread writes; those behind them are not held up for long.
    public var together = 512
    /// So many may wait.
    public var places = 20_000
    /// Time since some moment.
    public var clock: @Sendable () -> Duration = {
        .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }

    public init() {}

    /// What is done in here waits as long as it takes: what the server does of its own accord, which no client repeats.
    public static func asLongAsItTakes<T: Sendable>(_ body: @Sendable () async throws -> T) async rethrows -> T {
        try await $isPatient.withValue(true) { try await body() }
    }

    @TaskLocal static var isPatient = false

    static let refusal = DatabaseFailure.unavailable("too many wait for their turn")
    static let farewell = DatabaseFailure.unavailable("the server is stopping")
}

/// A transaction that waits for its turn, with the caller who waits for it.
protocol Turn: AnyObject, Sendable {
    /// Tells that it will be run now, whatever the caller does. False when the caller has gone.
    func begin() -> Bool
    /// Answers the caller that it will not be run.
    func refuse(_ reason: any Error)
}

/// Those that wait, in the order of their coming.
struct WaitingLine<Element: Sendable> {
    private struct Place {
        let element: Element
        let since: Duration
        let isPatient: Bool
    }

    private let waiting: Waiting
    private var places = CircularBuffer<Place>()
    /// Since when even the shortest wait is longer than it should be.
    private var slowSince: Duration?
    private var lastTurn: Duration

    init(_ waiting: Waiting) {
        self.waiting = waiting
        lastTurn = waiting.clock()
    }

    var isEmpty: Bool { places.isEmpty }
    var count: Int { places.count }

    /// - Returns: Who must be refused: the new one, where there is no place for it, and those that have stood still.
    mutating func add(_ element: Element, isPatient: Bool) -> [Element] {
        let now = waiting.clock()
        if places.isEmpty { lastTurn = max(lastTurn, now) }
        var refused: [Element] = []
        if now - lastTurn > waiting.standstill {
            let isOver = { (place: Place) in !place.isPatient && now - place.since > waiting.standstill }
            refused = places.filter(isOver).map(\.element)
            places.removeAll(where: isOver)
        }
        if !isPatient, places.count >= waiting.places { return refused + [element] }
        places.append(Place(element: element, since: now, isPatient: isPatient))
        return refused
    }

    /// Takes the next ones out of the line.
    mutating func next(_ count: Int) -> (admitted: [Element], refused: [Element]) {
        let now = waiting.clock()
        lastTurn = now
        var (admitted, refused) = ([Element](), [Element]())
        while admitted.count < count, let place = places.popFirst() {
            if place.isPatient || admits(waited: now - place.since, at: now) {
                admitted.append(place.element)
            } else {
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
