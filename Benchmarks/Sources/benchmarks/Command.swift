import ArgumentParser
import Foundation

@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks",
        abstract: "Measures a release build of concord beside its floors. Linux only.",
        discussion: """
            Each figure stands beside its floor: the least that the same work costs here, measured in the same run \
            and in turns with it. On a shared machine the ratio says more than the figure. Server CPU is the time \
            that the server's process used, from /proc; the load comes from this process.

            Servers listen on free loopback ports, with temporary data folders that are removed afterwards.
            """,
        subcommands: [HTTPFloor.self, HubFloor.self])

    @Option(help: ArgumentHelp("The server: a release build of the concord command.", valueName: "path"))
    var concord: String?

    @Option(
        help: ArgumentHelp(
            "A PostgreSQL to make databases in. [CONCORD_TEST_POSTGRES, which Tools/with-services sets]",
            valueName: "url"))
    var postgres: String?

    @Option(
        help: ArgumentHelp("Run this benchmark only, or draw this chart. Repeatable.", valueName: "name"))
    var only: [String] = []

    @Option(
        help: "contacts and years on this engine only: \(Engine.allCases.map(\.rawValue).joined(separator: " or ")).")
    var engine: Engine?

    @Option(help: "Length of one turn. Each server under load gets three.")
    var seconds: Double = 4

    @Flag(help: "Draw charts into docs/charts, instead of printing the table.")
    var charts = false

    @Flag(help: "List the benchmarks.")
    var list = false

    func validate() throws {
        let (kind, known) = charts ? ("chart", Chart.all.map(\.name)) : ("benchmark", Benchmark.all.map(\.name))
        for name in only where !known.contains(name) {
            throw ValidationError("There is no \(kind) '\(name)'. The \(kind)s are \(known.joined(separator: ", ")).")
        }
        guard seconds > 0 else { throw ValidationError("--seconds must be more than 0") }
    }

    func run() async throws {
        if list {
            for benchmark in Benchmark.all { print("\(benchmark.name.padded(to: 10)) \(benchmark.abstract)") }
            return
        }
        if charts {
            prepare()
            let setting = Setting(
                concord: try requiredServer(), postgreSQL: nil, engines: [.sqlite], turn: .seconds(seconds))
            let chosen = Chart.all.filter { only.isEmpty || only.contains($0.name) }
            return try await Chart.draw(chosen, setting, in: "docs/charts")
        }
        let postgreSQL = postgres ?? ProcessInfo.processInfo.environment["CONCORD_TEST_POSTGRES"]
        let chosen = Benchmark.all.filter { benchmark in
            only.isEmpty ? !benchmark.needsPostgreSQL || postgreSQL != nil : only.contains(benchmark.name)
        }
        if postgreSQL == nil, engine == .postgreSQL || chosen.contains(where: \.needsPostgreSQL) {
            throw ValidationError("--postgres URL is needed, or to be run by Tools/with-services")
        }
        let server = try server(for: chosen)
        prepare()
        let before = load
        var report = Report()
        for benchmark in chosen {
            Report.note("\(benchmark.name): \(benchmark.abstract)")
            report.rows += try await benchmark.measure(
                Setting(
                    concord: server, postgreSQL: postgreSQL, engines: engine.map { [$0] } ?? Engine.allCases,
                    turn: .seconds(seconds)))
        }
        print(report.text)
        print("Load average over a minute: \(before) before, \(load) after.")
    }

    private func prepare() {
        Leftovers.removeOnSignals()
        raiseDescriptorLimit()
    }

    private var load: String {
        var average = 0.0
        return getloadavg(&average, 1) == 1 ? String(format: "%.1f", average) : "?"
    }

    private func server(for benchmarks: [Benchmark]) throws -> String {
        try benchmarks.contains(where: \.needsServer) ? requiredServer() : ""
    }

    private func requiredServer() throws -> String {
        guard let concord else {
            throw ValidationError("--concord PATH is needed: swift build -c release --product concord")
        }
        guard FileManager.default.isExecutableFile(atPath: concord) else {
            throw ValidationError("\(concord) is not an executable file")
        }
        return concord
    }

    /// Raises the limit of file descriptors: every socket is one, both here and in the servers, which inherit the
    /// limit.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
