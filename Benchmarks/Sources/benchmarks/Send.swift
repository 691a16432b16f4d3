import Foundation

extension Benchmark {
    /// Connections that send at the same time.
    static let connections = 64

    static let send = Benchmark(
        name: "send", abstract: "a durable message (POST, bearer token), 64 connections"
    ) { setting in
        try await Leftovers.withFolder { folder in
            let copy = folder + "/floor.sqlite"
            let prepare = { (path: String, _: Int, _: Int) in
                try FileManager.default.copyItem(atPath: path, toPath: copy)
            }
            return try await MessengerServer.run(setting.concord, seed: prepare) { server in
                let answer = try Exchange.answer(to: server.send, port: server.port)
                let bare = try ServerProcess.floor("floor-http", ["--status", "201", "--body", answer])
                defer { bare.stop() }
                let commits = try SQLiteFloor(copy, user: server.user, chat: server.chat)

                let subject = try await HTTPSeries(server.process, sending: server.send)
                let floor = try await HTTPSeries(bare, sending: server.send)
                for _ in 0..<setting.turns {
                    try await subject.run(setting.turn)
                    try await floor.run(setting.turn)
                    try commits.run(for: setting.turn)
                }
                try await subject.close()
                try await floor.close()
                return rows(subject, floor, commits)
            }
        }
    }

    private static func rows(_ subject: HTTPSeries, _ floor: HTTPSeries, _ commits: SQLiteFloor) -> [Row] {
        let both = floor.cpu + commits.cpu
        return [
            Row(
                name: "send, server CPU", unit: "µs/request", result: subject.cpu, floor: floor.cpu,
                beside: "a bare Hummingbird route", aim: .atMost(80)),
            Row(
                name: "send, server CPU", unit: "µs/request", result: subject.cpu, floor: both,
                beside: "that, and the bare inserts in batches of \(SQLiteFloor.batch)"),
            Row(
                name: "send, rate", unit: "/s", result: subject.rate, floor: floor.rate,
                beside: "a bare Hummingbird route"),
            Row(
                name: "send, rate", unit: "/s", result: subject.rate, floor: commits.rate,
                beside: "bare inserts in batches of \(SQLiteFloor.batch)"),
            Row(
                name: "send, p50", unit: "ms", result: subject.median, floor: floor.median,
                beside: "a bare Hummingbird route"),
            Row(
                name: "send, p99", unit: "ms", result: subject.tail, floor: floor.tail,
                beside: "a bare Hummingbird route"),
        ]
    }
}

/// The turns of one server under the same load.
final class HTTPSeries {
    private let process: ServerProcess
    private let load: HTTPLoad
    private var turns: [(turn: HTTPLoad.Turn, cpu: Double)] = []

    init(_ process: ServerProcess, sending request: String) async throws {
        self.process = process
        load = try await HTTPLoad.connect(Benchmark.connections, to: process.port, sending: request)
        // Not counted: caches fill, statements are prepared, the code is paged in.
        _ = try await load.run(for: .milliseconds(500))
    }

    /// - Returns: how many requests were answered.
    @discardableResult
    func run(_ duration: Duration) async throws -> Int {
        let before = process.cpu
        let turn = try await load.run(for: duration)
        turns.append((turn, (process.cpu - before).inMicroseconds / Double(turn.requests)))
        return turn.requests
    }

    func close() async throws { try await load.close() }

    /// Of the server, in microseconds for each request.
    var cpu: Double { turns.map(\.cpu).median }
    var rate: Double { turns.map(\.turn.perSecond).median }
    /// Latencies, in milliseconds.
    var median: Double { turns.map { $0.turn.percentile(0.5).inMilliseconds }.median }
    var tail: Double { turns.map { $0.turn.percentile(0.99).inMilliseconds }.median }
}
