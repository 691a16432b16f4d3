import Contract
import HTTPTypes

/// The address that a request comes from, for limits and logs.
public struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address in its usual form, or `unknown`.
    public let description: String
    /// The name under which limits count: the address, or for IPv6 its /64.
    public let network: String
    /// Whether the address is this machine's own, and no header says that a proxy forwarded the request.
    public let isThisMachine: Bool

    /// Parses an address.
    ///
    /// - Parameter isForwarded: Whether the request came through a proxy.
    public init(_ text: String, isForwarded: Bool = false) {
        let address = IPAddress(text)
        description = address?.description ?? text
        network = address?.network ?? text
        isThisMachine = !isForwarded && address?.isLoopback == true
    }

    /// Determines the client of a connection.
    ///
    /// - Parameters:
    ///   - peer: The address at the other end of the connection.
    ///   - headers: The request's headers. Their `X-Forwarded-For` counts as far as the proxies that wrote it are
    ///     trusted: read from the right, the first address that is not a trusted proxy is the client.
    ///   - proxies: The operator's own proxies.
    init(peer: Peer, headers: HTTPFields, trusting proxies: TrustedProxies) {
        guard headers.contains(.forwardedFor) else {
            self = peer.address
            return
        }
        var text = peer.text ?? "unknown"
        let forwarded = headers[values: .forwardedFor]
        if var address = IPAddress(text), proxies.contains(address) {
            for hop in forwarded.flatMap({ $0.split(separator: ",") }).reversed() {
                // Any text that is not an address was invented by a client: the proxy before it is as far as the server
                // can see.
                guard let next = Self.address(in: hop) else { break }
                address = next
                if !proxies.contains(address) { break }
            }
            text = address.description
        }
        self.init(text, isForwarded: true)
    }

    /// Determines the client of a connection, by the address at its other end.
    public init(peer: String?, headers: HTTPFields, trusting proxies: TrustedProxies) {
        self.init(peer: Peer(peer), headers: headers, trusting: proxies)
    }

    /// Returns the address in an element of `X-Forwarded-For`. Some proxies append a port: `192.0.2.1:4711`,
    /// `[2001:db8::1]:80`.
    private static func address(in element: Substring) -> IPAddress? {
        let text = element.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        if let address = IPAddress(text) { return address }
        if text.first == "[" {
            let parts = text.dropFirst().split(separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].isEmpty || isPort(parts[1]) else { return nil }
            return IPAddress(parts[0]).flatMap { $0.isIPv6 || parts[0].contains(":") ? $0 : nil }
        }
        guard let colon = text.firstIndex(of: ":"), isPort(text[colon...]) else { return nil }
        return IPAddress(text[..<colon])
    }

    /// Returns whether the text is a port, such as `:4711`.
    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        return text.first == ":" && 1...5 ~= digits.utf8.count
            && digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}

/// The other end of a connection, whose address is parsed once for all of its requests.
struct Peer: Sendable {
    /// The IP address; nil when there is none.
    let text: String?
    /// The client, unless a proxy says that it is another one.
    let address: ClientAddress

    init(_ text: String?) {
        self.text = text
        address = ClientAddress(text ?? "unknown")
    }
}
