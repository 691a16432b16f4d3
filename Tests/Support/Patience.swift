public import ContractClient
public import ContractServer
public import Database
import Foundation
import NIOCore
public import WebSockets

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Tests that are not about a limit of time have limits that a busy machine does not reach: it may need long for what a client
// or a server does at once.

extension ConnectionGuard.Limits {
    public static var patient: ConnectionGuard.Limits {
        var limits = ConnectionGuard.Limits()
        limits.header = .minutes(25)
        limits.keepAlive = .minutes(25)
        limits.bodyProgress = .minutes(25)
        limits.answerProgress = .minutes(25)
        return limits
    }
}

extension QueueLimits {
    public static var patient: QueueLimits {
        var limits = QueueLimits()
        (limits.target, limits.longest, limits.standstill) = (.seconds(1500), .seconds(1500), .seconds(1500))
        return limits
    }
}

extension SocketLimits {
    /// The server sends no pings, which a test that reads single frames would meet on a busy machine.
    public static var patient: SocketLimits {
        var limits = SocketLimits()
        (limits.pingInterval, limits.idleTimeout, limits.closingTime) = (nil, nil, .minutes(25))
        return limits
    }
}

extension Transport where Self == URLSessionTransport {
    /// A new transport that waits for an answer for 25 minutes.
    public static var patient: URLSessionTransport {
        let configuration = URLSessionConfiguration.concord
        configuration.timeoutIntervalForRequest = 1500
        return URLSessionTransport(configuration: configuration)
    }
}
