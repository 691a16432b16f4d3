import Foundation

extension Benchmark {
    static let start = Benchmark(
        name: "start", abstract: "the time from the spawn to the first 200, and the memory after it"
    ) { setting in
        let (attempts, answer) = (7, #"{"status":"ok"}"#)
        var (first, again, bare) = (Starts(), Starts(), Starts())
        for _ in 0..<attempts {
            try await Leftovers.withFolder { folder in
                // The first start creates keys and tables.
                try await first.measure { try MessengerServer.start(setting.concord, folder: folder) }
                try await again.measure { try MessengerServer.start(setting.concord, folder: folder) }
            }
            try await bare.measure { try ServerProcess.floor("floor-http", ["--status", "200", "--body", answer]) }
        }
        let beside = "a bare Hummingbird server"
        return [
            Row(
                name: "start, empty folder", unit: "ms", result: first.time, floor: bare.time, beside: beside,
                aim: .atMost(150)),
            Row(
                name: "start, again", unit: "ms", result: again.time, floor: bare.time, beside: beside,
                aim: .atMost(150)),
            Row(
                name: "start, memory", unit: "MB", result: first.memory, floor: bare.memory, beside: beside,
                aim: .atMost(60)),
        ]
    }

    private struct Starts {
        private var times: [Double] = []
        private var memories: [Double] = []

        mutating func measure(_ launch: () throws -> ServerProcess) async throws {
            let start = ContinuousClock.now
            let process = try launch()
            defer { process.stop() }
            try Exchange.send(Exchange.request("GET", "/health", port: process.port), to: process.port)
            times.append((ContinuousClock.now - start).inMilliseconds)
            try await Task.sleep(for: .milliseconds(300))
            memories.append(process.residentMemory / 1_000_000)
        }

        /// The time to start, in milliseconds.
        var time: Double { times.median }
        /// The memory, in megabytes.
        var memory: Double { memories.median }
    }
}
