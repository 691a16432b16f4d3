import Foundation

/// The floor of a transaction on PostgreSQL: its prepared statements, sent by PostgreSQL's own load generator, without
/// a server in between.
struct PGBench {
    struct Turn {
        let transactions: Int
        let perSecond: Double
        /// The CPU time of pgbench itself.
        let cpu: Duration
    }

    private let url: String
    private let script: String
    private let connections: Int
    private let variables: [String: Int]

    /// - Parameter statements: The statements in the language of pgbench's scripts, for the tables of Messenger.
    init(_ url: String, _ statements: String, connections: Int, variables: [String: Int]) {
        self.url = url + "?options=-c%20search_path%3Dmessenger"
        script = statements + "\n"
        self.connections = connections
        self.variables = variables
    }

    func run(for duration: Duration) throws -> Turn {
        let file = FileManager.default.temporaryDirectory.path + "/concord-benchmark-\(UUID().uuidString).sql"
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let (report, cpu) = try Spawn.run(
            "pgbench",
            ["-n", "-M", "prepared", "-c", "\(connections)", "-j", "2", "-T", "\(max(1, Int(duration.inSeconds)))"]
                + ["-f", file] + variables.flatMap { ["-D", "\($0.key)=\($0.value)"] } + [url])
        guard
            let count = report.firstMatch(of: /number of transactions actually processed: ([0-9]+)/),
            let rate = report.firstMatch(of: /tps = ([0-9.]+)/),
            let transactions = Int(count.1), let perSecond = Double(rate.1)
        else { throw Failed("pgbench said: \(report)") }
        return Turn(transactions: transactions, perSecond: perSecond, cpu: cpu)
    }
}
