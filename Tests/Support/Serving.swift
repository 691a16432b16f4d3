import Backend
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The next port to hand out. Ports begin below those that the system gives to outgoing connections.
private let nextPort = NIOLockedValueBox(Int.random(in: 12_000..<22_000))

/// Returns a loopback port on which no process listens.
public func reservePort() async throws -> Int {
    while true {
        let port = nextPort.withLockedValue { port in
            port = port < 32_000 ? port + 1 : 12_000
            return port
        }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { continue }
        try await channel.close()
        return port
    }
}

/// Runs a listener while the closure runs, then shuts it down gracefully.
public func serving(_ listener: Listener, port: Int, _ body: () async throws -> Void) async throws {
    let logger = Logger.silent
    let (started, continuation) = AsyncStream<Int>.makeStream()
    let service = ListenerService(listener: listener, port: port, logger: logger) { continuation.yield($0) }
    let group = ServiceGroup(configuration: .init(services: [service], logger: logger))
    let running = Task {
        defer { continuation.finish() }
        try await group.run()
    }
    for await _ in started { break }
    do {
        try await body()
    } catch {
        await group.triggerGracefulShutdown()
        _ = try? await running.value
        throw error
    }
    await group.triggerGracefulShutdown()
    try await running.value
}

private struct ListenerService: Service {
    let listener: Listener
    let port: Int
    let logger: Logger
    let started: @Sendable (Int) -> Void

    func run() async throws {
        try await listener.serve(on: .init(host: "127.0.0.1", port: port), logger: logger) { started($0) }
    }
}
