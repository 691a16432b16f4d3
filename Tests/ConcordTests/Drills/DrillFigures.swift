/// What became of the messages of a drill.
struct DrillFigures: Sendable {
    /// Answered with success, on the first try or on a later one under the same key.
    var acknowledged = 0
    /// Acknowledged, and not in the history under the id that was said.
    var lost = 0
    /// In the history more than once.
    var doubled = 0
    /// First answered with something else, or not at all: the key resolved whether they were done.
    var inDoubt = 0
    /// Answers 503 with `Retry-After`.
    var unavailable = 0
    /// Requests whose connection was lost.
    var cut = 0
    /// What nothing explains, in words.
    var wrong: [String] = []
    /// Of a single request.
    var slowest = Duration.zero

    var listeners = 0
    /// Messages that listeners were to hear, and did.
    var heard = 0
    var missed = 0
    var heardTwice = 0
    /// Heard after one that came later.
    var disordered = 0
    /// Connections that were lost, and came back by themselves.
    var reconnects = 0

    /// A table of one row.
    func table(_ name: String) -> String {
        let columns: [(title: String, value: String)] = [
            ("acknowledged", "\(acknowledged)"), ("lost", "\(lost)"), ("doubled", "\(doubled)"),
            ("in doubt", "\(inDoubt)"), ("503", "\(unavailable)"), ("cut", "\(cut)"), ("wrong", "\(wrong.count)"),
            ("slowest", "\(slowest.formatted(.units(allowed: [.milliseconds])))"), ("listeners", "\(listeners)"),
            ("heard", "\(heard)"), ("missed", "\(missed)"), ("twice", "\(heardTwice)"), ("disordered", "\(disordered)"),
            ("reconnects", "\(reconnects)"),
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
