/// What one benchmark is run with.
struct Setting: Sendable {
    /// The server's executable.
    let concord: String
    /// A PostgreSQL to make databases in.
    let postgreSQL: String?
    /// Those to measure on, where a benchmark knows both.
    let engines: [Engine]
    /// How long a server is under load before it is another's turn.
    let turn: Duration
    /// Turns of each server. The figure is the median: a neighbour's burst spoils one turn, not the result.
    let turns = 3
}

struct Benchmark: Sendable {
    let name: String
    let abstract: String
    var needsServer = true
    var needsPostgreSQL = false
    let measure: @Sendable (Setting) async throws -> [Row]

    static let all = [send, history, detail, feed, contacts, years, thumbnail, postgreSQL, fanOut, idle, start, json]
    static var names: String { all.map(\.name).joined(separator: ", ") }
}

/// Something to answer with when a run cannot go on.
struct Failed: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Collection where Element: BinaryFloatingPoint {
    var median: Element {
        let sorted = sorted()
        if sorted.isEmpty { return .nan }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

extension Duration {
    var inMicroseconds: Double { self / .microseconds(1) }
    var inMilliseconds: Double { self / .milliseconds(1) }
    var inSeconds: Double { self / .seconds(1) }
}
