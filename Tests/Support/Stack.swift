import Foundation
import Testing

/// Where a behaviour must hold: each engine, within the process and over a live socket.
public struct Stack: Sendable, Hashable, CustomTestStringConvertible {
    public enum Engine: String, CaseIterable, Sendable {
        case sqlite
        /// The server that `make test` starts (`Tools/with-services`).
        case postgreSQL

        /// Every engine that can be tested here.
        public static var available: [Engine] { allCases.filter { $0 == .sqlite || Stack.postgreSQL != nil } }
    }

    public enum Wire: String, CaseIterable, Sendable {
        /// Requests handed to the routes, frames to the handlers: no network.
        case inProcess
        /// A real server on a loopback port, reached through the SDK's own transports.
        case live
    }

    public let engine: Engine
    public let wire: Wire

    public init(_ engine: Engine, _ wire: Wire) {
        self.engine = engine
        self.wire = wire
    }

    public static let all = Engine.available.flatMap { engine in Wire.allCases.map { Stack(engine, $0) } }

    /// Where the tests' PostgreSQL is, when there is one.
    public static let postgreSQL = ProcessInfo.processInfo.environment["CONCORD_TEST_POSTGRES"]

    public var testDescription: String { "\(engine.rawValue), \(wire == .live ? "live" : "in process")" }
}
