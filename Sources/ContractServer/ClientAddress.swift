import Contract
import HTTPTypes
import NIOCore

/// Where a request comes from, for limits and logs.
public struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address in text, or `unknown`.
    public let description: String

    public init(_ description: String) { self.description = description }

    /// Whether it is this machine itself: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        description.hasPrefix("127.") || description == "::1" || description.hasPrefix("::ffff:127.")
    }

    /// The client behind a peer.
    ///
    /// - Parameters:
    ///   - peer: The address at the other end of the connection.
    ///   - headers: Their `X-Forwarded-For` is believed only as far as the proxies that wrote it are trusted: read
    ///     from the right, the first address that is no trusted proxy is the client.
    ///   - proxies: Addresses of the operator's own proxies.
    public init(peer: String?, headers: HTTPFields, trusting proxies: Set<String>) {
        var address = peer ?? "unknown"
        if proxies.contains(address) {
            let hops = headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
            for hop in hops.reversed() {
                let text = hop.drop { $0 == " " }.prefix { $0 != " " }
                // Anything but an address is a client's invention: the proxy before it is as far as one can see.
                guard (try? SocketAddress(ipAddress: String(text), port: 0)) != nil else { break }
                address = String(text)
                if !proxies.contains(address) { break }
            }
        }
        self.init(address)
    }
}
