import Foundation

extension Benchmark {
    /// The number of connections that send at the same time.
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
