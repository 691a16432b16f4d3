import Backend
import Foundation
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
        if isFree(port) { return port }
    }
}

/// Returns whether no process listens on a loopback port.
///
/// The socket does not listen, and programs that are started meanwhile do not inherit it: one that did would hold the
/// port.
private func isFree(_ port: Int) -> Bool {
    #if canImport(Glibc)
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    #else
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var isShared: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
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
