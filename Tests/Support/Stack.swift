import Foundation
import Testing

/// A database engine and a transport on which a behaviour must hold.
public struct Stack: Sendable, Hashable, CustomTestStringConvertible {
    public enum Engine: String, CaseIterable, Sendable {
        case sqlite
        /// The server that `make test` starts (`Tools/with-services`).
        case postgreSQL

        /// The engines that can be tested on this machine.
        public static var available: [Engine] { allCases.filter { $0 == .sqlite || Stack.postgreSQL != nil } }
    }

    public enum Wire: String, CaseIterable, Sendable {
        /// Requests are handed to the router and frames to the handlers, without a network.
        case inProcess
        /// A real server listens on a loopback port, and the SDK's own transports reach it.
        case live
    }

    public let engine: Engine
    public let wire: Wire

    public init(_ engine: Engine, _ wire: Wire) {
        self.engine = engine
        self.wire = wire
    }

    public static let all = Engine.available.flatMap { engine in Wire.allCases.map { Stack(engine, $0) } }

    /// The URL of the tests' PostgreSQL, when there is one.
    public static let postgreSQL = ProcessInfo.processInfo.environment["CONCORD_TEST_POSTGRES"]

    public var testDescription: String { "\(engine.rawValue), \(wire == .live ? "live" : "in process")" }
}
