import Foundation

/// A server and a bare Hummingbird route that answers the same bytes, measured in turns.
struct Comparison {
    let server: ServerProcess
    let setting: Setting
    /// The server's database, if its CPU time is to be reported too.
    var database: BenchmarkDatabase?

    /// Measures one request under the load of 64 connections.
    func underLoad(_ name: String, _ get: String) async throws -> [Row] {
        let answer = try Exchange.answer(to: get, port: server.port)
        return try await withFloor(answering: answer, to: get) { bare, beside in
            let subject = try await HTTPSeries(server, sending: get)
            let floor = try await HTTPSeries(bare, sending: get)
            for _ in 0..<setting.turns {
                try await subject.run(setting.turn)
                try await floor.run(setting.turn)
            }
            try await subject.close()
            try await floor.close()
            return [
                Row(
                    name: name + ", server CPU", unit: "µs/request", result: subject.cpu, floor: floor.cpu,
                    beside: beside),
                Row(name: name + ", p50", unit: "ms", result: subject.median, floor: floor.median, beside: beside),
            ]
        }
    }

    /// Measures requests one at a time.
    ///
    /// - Parameters:
    ///   - requests: The requests. The first one gives the floor its answer, and is not measured.
    ///   - aim: The aim for the 95th percentile, in milliseconds.
    func oneByOne(_ name: String, _ requests: [String], aim: Double) async throws -> [Row] {
        Report.note("  \(name)")
        let answer = try Exchange.answer(to: requests[0], port: server.port)
        return try await withFloor(answering: answer, to: requests[0]) { bare, beside in
            let subject = try await OneByOne(server)
            let floor = try await OneByOne(bare)
            var ofDatabase: [Double] = []
            let length = (requests.count - 1) / setting.turns
            for turn in 0..<setting.turns {
                let part = Array(requests[(1 + turn * length)...].prefix(length))
                let before = database?.cpu
                let count = try await subject.run(part)
                if let before, let database {
                    ofDatabase.append((database.cpu - before).inMicroseconds / Double(count))
                }
                try await floor.run(part)
            }
            try await subject.close()
            try await floor.close()
            var rows = [
                Row(name: name + ", p50", unit: "ms", result: subject.median, floor: floor.median, beside: beside),
                Row(
                    name: name + ", p95", unit: "ms", result: subject.percentile(0.95), floor: floor.percentile(0.95),
                    beside: beside, aim: .atMost(aim)),
                Row(
                    name: name + ", server CPU", unit: "µs/request", result: subject.cpu, floor: floor.cpu,
                    beside: beside),
            ]
            if database != nil {
                rows.append(Row(name: name + ", database CPU", unit: "µs/request", result: ofDatabase.median))
            }
            return rows
        }
    }

    private func withFloor<T>(
        answering answer: String, to request: String, _ body: (ServerProcess, _ beside: String) async throws -> T
    ) async throws -> T {
        try await Leftovers.withFolder { folder in
            let file = folder + "/answer.json"
            try answer.write(toFile: file, atomically: false, encoding: .utf8)
            let target = request.split(separator: " ")[1]
            let bare = try ServerProcess.floor(
                "floor-http", ["--status", "200", "--body-file", file, "--path", String(target.prefix { $0 != "?" })])
            defer { bare.stop() }
            return try await body(bare, "a bare Hummingbird route, \(answer.utf8.count) bytes")
        }
    }
}
