import Testing

/// The figures of a drill.
struct DrillFigures: Sendable {
    /// Messages that were answered with success, at the first attempt or a later one under the same key.
    var acknowledged = 0
    /// Acknowledged messages that are not in the history under the id of the answer.
    var lost = 0
    /// Messages that are in the history more than once.
    var doubled = 0
    /// Messages whose first attempt failed or was not answered. A repeat under the key showed whether they had been
    /// stored.
    var inDoubt = 0
    /// Answers 503 with `Retry-After`.
    var unavailable = 0
    /// Requests whose connection was lost.
    var cut = 0
    /// Descriptions of unexpected events.
    var wrong: [String] = []
    /// The time that the slowest request took.
    var slowest = Duration.zero

    var listeners = 0
    /// Messages that listeners received as expected.
    var heard = 0
    var missed = 0
    var heardTwice = 0
    /// Messages that were received after a later one.
    var disordered = 0
    /// The reasons for which connections of listeners were lost, each of which came back by itself.
    var losses: [String] = []

    /// Returns a table with one row.
    func table(_ name: String) -> String {
        let columns: [(title: String, value: String)] = [
            ("acknowledged", "\(acknowledged)"), ("lost", "\(lost)"), ("doubled", "\(doubled)"),
            ("in doubt", "\(inDoubt)"), ("503", "\(unavailable)"), ("cut", "\(cut)"), ("wrong", "\(wrong.count)"),
            ("slowest", "\(slowest.formatted(.units(allowed: [.milliseconds])))"), ("listeners", "\(listeners)"),
            ("heard", "\(heard)"), ("missed", "\(missed)"), ("twice", "\(heardTwice)"), ("disordered", "\(disordered)"),
            ("reconnects", "\(losses.count)"),
        ]
        func row(_ cells: [String]) -> String {
            zip(cells, columns).map { cell, column in
                let width = max(column.title.count, column.value.count)
                return String(repeating: " ", count: width - cell.count) + cell
            }.joined(separator: "  ")
        }
        return "\(name)\n  \(row(columns.map(\.title)))\n  \(row(columns.map(\.value)))"
    }
}

extension DrillFigures {
    func expectNothingLost(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(acknowledged >= Drill.rounds * Drill.messages, sourceLocation: sourceLocation)
        #expect(lost == 0, sourceLocation: sourceLocation)
        #expect(doubled == 0, sourceLocation: sourceLocation)
    }

    func expectNoConnectionLost(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(losses.prefix(5) == [], sourceLocation: sourceLocation)
    }

    func expectNothingMissed(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(wrong.prefix(5) == [], sourceLocation: sourceLocation)
        #expect(heard == listeners * acknowledged, sourceLocation: sourceLocation)
        #expect(missed == 0, sourceLocation: sourceLocation)
        #expect(heardTwice == 0, sourceLocation: sourceLocation)
        #expect(disordered == 0, sourceLocation: sourceLocation)
    }
}
