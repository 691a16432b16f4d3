/// The state that the scenarios of one run share.
actor RunState {
    private let start = ContinuousClock.now
    private let api: String
    private let items: [Checklist.Item]
    private let server: Server
    private var verdicts: [Verdict?]
    /// The number of verdicts that were announced, in the order of the list.
    private var announced = 0
    private(set) var ended: String?
    /// Whether scenarios that have not begun are skipped.
    private(set) var isStopped = false
    private var leftBehind: [String: Int] = [:]
    /// The resources whose removal the server has not allowed yet.
    private var unfinished: [(cleanUp: Checklist.CleanUp, counts: [String: Int])] = []

    init(_ api: String, _ items: [Checklist.Item], on server: Server) {
        self.api = api
        self.items = items
        self.server = server
        verdicts = Array(repeating: nil, count: items.count)
    }

    func end(_ reason: String) { ended = ended ?? reason }
    func stop() { isStopped = true }
    func add(_ things: [String: Int]) { leftBehind.merge(things, uniquingKeysWith: +) }

    /// Adds a verdict, and returns those that can now be announced in the order of the list, with their numbers.
    func add(_ verdict: Verdict, at index: Int) -> [(number: Int, verdict: Verdict)] {
        verdicts[index] = verdict
        var next: [(Int, Verdict)] = []
        while announced < items.count, let verdict = verdicts[announced] {
            announced += 1
            next.append((announced, verdict))
        }
        return next
    }

    /// Adds what is left behind.
    ///
    /// - Parameter cleanUp: Removes the rest, when the server allows it.
    func add(_ remaining: Checklist.Remaining, by cleanUp: @escaping Checklist.CleanUp) {
        if remaining.retryAfter == nil {
            add(remaining.counts)
        } else {
            unfinished.append((cleanUp, remaining.counts))
        }
    }

    func takeUnfinished() -> [(cleanUp: Checklist.CleanUp, counts: [String: Int])] {
        defer { unfinished = [] }
        return unfinished
    }

    /// The report at this time. Scenarios without a verdict are skipped, for the reason for which the run ended.
    var report: Report {
        Report(
            api: api, url: server.baseURL.absoluteString, level: server.level,
            seconds: (ContinuousClock.now - start) / .seconds(1), ended: ended, leftBehind: leftBehind,
            scenarios: zip(items, verdicts).map { item, verdict in
                verdict
                    ?? Verdict(
                        name: item.name, clause: item.clause, level: item.level, outcome: .skipped, reason: ended)
            })
    }
}
