import Contract
import HTTPTypes

/// Where a request comes from, for limits and logs.
public struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address in its usual form, or `unknown`.
    public let description: String
    /// What limits count under: the address, and of IPv6 the /64 that it is in.
    public let network: String
    /// Whether it is this machine itself, with nothing that says that somebody else is behind it.
    public let isThisMachine: Bool

    /// - Parameter isForwarded: Whether the request has come through a proxy.
    public init(_ text: String, isForwarded: Bool = false) {
        let address = IPAddress(text)
        description = address?.description ?? text
        network = address?.network ?? text
        isThisMachine = !isForwarded && address?.isLoopback == true
    }

    /// The client behind a peer.
    ///
    /// - Parameters:
    ///   - peer: The address at the other end of the connection.
    ///   - headers: Their `X-Forwarded-For` is believed only as far as the proxies that wrote it are trusted: read
    ///     from the right, the first address that is no trusted proxy is the client.
    ///   - proxies: The operator's own.
    public init(peer: String?, headers: HTTPFields, trusting proxies: TrustedProxies) {
        var text = peer ?? "unknown"
        let forwarded = headers[values: .forwardedFor]
        if !forwarded.isEmpty, var address = IPAddress(text), proxies.contains(address) {
            for hop in forwarded.flatMap({ $0.split(separator: ",") }).reversed() {
                // Anything but an address is a client's invention: the proxy before it is as far as one can see.
                guard let next = Self.address(in: hop) else { break }
                address = next
                if !proxies.contains(address) { break }
            }
            text = address.description
        }
        self.init(text, isForwarded: !forwarded.isEmpty)
    }

    /// The address in an element of `X-Forwarded-For`. Some proxies write a port behind it: `192.0.2.1:4711`,
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

    /// `:4711`
    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        return text.first == ":" && 1...5 ~= digits.utf8.count
            && digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}
