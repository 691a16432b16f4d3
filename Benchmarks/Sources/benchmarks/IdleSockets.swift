import Foundation

extension Benchmark {
    static let idle = Benchmark(
        name: "idle", abstract: "memory of 5,000 idle sockets, signed in and subscribed"
    ) { setting in
        try await MessengerServer.run(setting.concord) { server in
            let ours = try await growth(of: server.process) { try Socket.subscribed(to: server) }
            let hub = try ServerProcess.floor("floor-hub", ["--frame-size", "200"])
            defer { hub.stop() }
            let bare = try await growth(of: hub) { try Socket(to: hub.port, saying: "S") }
            return [
                Row(
                    name: "idle, memory per socket", unit: "bytes", result: ours, floor: bare,
                    beside: "a bare NIO connection", aim: .atMost(12_000))
            ]
        }
    }

    /// Returns the resident memory per socket. The first few sockets are not counted, because they make the server load
    /// code.
    private static func growth(of process: ServerProcess, _ open: () throws -> Socket) async throws -> Double {
        let count = 5000
        var sockets: [Socket] = []
        defer { for socket in sockets { socket.close() } }
        for _ in 0..<100 { sockets.append(try open()) }
        try await Task.sleep(for: .seconds(1))
        let before = process.residentMemory
        for _ in 0..<count { sockets.append(try open()) }
        try await Task.sleep(for: .seconds(2))
        return (process.residentMemory - before) / Double(count)
    }
}
