import Foundation

extension Benchmark {
    static let fanOut = Benchmark(
        name: "fan-out", abstract: "each message to 1,000 subscribed sockets"
    ) { setting in
        let count = 1000
        return try await MessengerServer.run(setting.concord) { server in
            let sockets = try (0..<count).map { _ in try Socket.subscribed(to: server) }
            let frameSize = try sizeOfFrame(sockets, server)
            let subject = SocketFleet(
                sockets: sockets, publishers: try (0..<4).map { _ in try Socket(to: server.port) },
                message: server.send)

            let hub = try ServerProcess.floor("floor-hub", ["--frame-size", String(frameSize)])
            defer { hub.stop() }
            let floor = SocketFleet(
                sockets: try (0..<count).map { _ in try Socket(to: hub.port, saying: "S") },
                publishers: [try Socket(to: hub.port, saying: "P")], message: ".")

            var (ours, bare) = (Turns(), Turns())
            for _ in 0..<setting.turns {
                try ours.run(subject, server.process, setting.turn)
                try bare.run(floor, hub, setting.turn)
            }
            let beside = "a bare hub, \(frameSize) bytes a frame"
            return [
                Row(
                    name: "fan-out, delivered", unit: "frames/s", result: ours.rate, floor: bare.rate, beside: beside,
                    aim: .ratioAtLeast(0.75)),
                // The receivers use the same machine and lower the rate; the CPU time is the server's alone.
                Row(
                    name: "fan-out, of server CPU", unit: "frames/s", result: ours.perSecondOfCPU,
                    floor: bare.perSecondOfCPU, beside: beside, aim: .ratioAtLeast(0.75)),
            ]
        }
    }

    /// Sends one message, and returns the size of the frame that every socket receives.
    private static func sizeOfFrame(_ sockets: [Socket], _ server: MessengerServer) throws -> Int {
        _ = try Exchange.answer(to: server.send, port: server.port)
        // The answers to the subscriptions have been read before, so each socket receives exactly this frame.
        let sizes = try sockets.map { try $0.receive(until: "created_at").count }
        guard let size = sizes.first, sizes.allSatisfy({ $0 == size }) else { throw Failed("frames of unequal size") }
        return size
    }

    private struct Turns {
        private var rates: [Double] = []
        private var efficiencies: [Double] = []

        mutating func run(_ fleet: SocketFleet, _ process: ServerProcess, _ duration: Duration) throws {
            let before = process.cpu
            let turn = try fleet.run(for: duration, window: 8)
            rates.append(turn.perSecond)
            efficiencies.append(Double(turn.frames) / (process.cpu - before).inSeconds)
        }

        var rate: Double { rates.median }
        var perSecondOfCPU: Double { efficiencies.median }
    }
}
