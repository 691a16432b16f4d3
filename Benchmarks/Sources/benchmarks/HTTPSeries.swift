/// The turns of one server under a load. Each figure is the median of the turns.
class ServerSeries {
    private let process: ServerProcess
    fileprivate let load: HTTPLoad
    private var turns: [(turn: HTTPLoad.Turn, cpu: Double)] = []

    fileprivate init(_ process: ServerProcess, connections: Int) async throws {
        self.process = process
        load = try await HTTPLoad.connect(connections, to: process.port)
    }

    fileprivate func measure(_ body: () async throws -> HTTPLoad.Turn) async throws -> Int {
        let before = process.cpu
        let turn = try await body()
        turns.append((turn, (process.cpu - before).inMicroseconds / Double(turn.requests)))
        return turn.requests
    }

    func close() async throws { try await load.close() }

    /// The server's CPU time for each request, in microseconds.
    var cpu: Double { turns.map(\.cpu).median }
    var rate: Double { turns.map(\.turn.perSecond).median }
    /// The median latency, in milliseconds.
    var median: Double { percentile(0.5) }
    var tail: Double { percentile(0.99) }
    func percentile(_ share: Double) -> Double { turns.map { $0.turn.percentile(share).inMilliseconds }.median }
}

/// Repeats one request over 64 connections, which shows the work that the server has to do for it.
final class HTTPSeries: ServerSeries {
    private let request: String

    init(
        _ process: ServerProcess, sending request: String, connections: Int = Benchmark.connections
    ) async throws {
        self.request = request
        try await super.init(process, connections: connections)
        // The first half second is not measured: caches fill, statements are prepared, the code is paged in.
        _ = try await load.run(for: .milliseconds(500), sending: request)
    }

    /// - Returns: The number of answered requests.
    @discardableResult
    func run(_ duration: Duration) async throws -> Int {
        try await measure { try await load.run(for: duration, sending: request) }
    }
}

/// Sends one request after the other over one connection, which shows how long a single client waits.
final class OneByOne: ServerSeries {
    init(_ process: ServerProcess) async throws { try await super.init(process, connections: 1) }

    /// Sends each request once.
    @discardableResult
    func run(_ requests: [String]) async throws -> Int {
        try await measure { try await load.run(sending: requests) }
    }
}
