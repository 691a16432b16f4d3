/// The parameters of a benchmark.
struct Setting: Sendable {
    /// The path of the server's executable.
    let concord: String
    /// The URL of a PostgreSQL server in which databases are created.
    let postgreSQL: String?
    /// The engines to measure on, for benchmarks that support both.
    let engines: [Engine]
    /// The time for which a server is under load before the next server's turn.
    let turn: Duration
    /// The number of turns of each server. The figure is the median, so a disturbance spoils one turn and not the
    /// result.
    let turns = 3
}

struct Benchmark: Sendable {
    let name: String
    let abstract: String
    var needsServer = true
    var needsPostgreSQL = false
    let measure: @Sendable (Setting) async throws -> [Row]

    static let all = [send, history, detail, feed, contacts, years, thumbnail, postgreSQL, fanOut, idle, start, json]
}

/// An error that ends a run, with its message.
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
