import HTTPTypes

/// The origin at which a client reached the server: the scheme and the host of its request (RFC 6454 §4).
public struct RequestOrigin: Sendable {
    private let head: RequestHead
    private let peer: String?
    private let proxies: TrustedProxies
    private let isEncrypted: Bool

    /// - Parameters:
    ///   - peer: The address at the other end of the connection. Its `X-Forwarded-Proto` counts if it is a trusted proxy.
    ///   - isEncrypted: Whether the server itself speaks TLS.
    init(_ head: RequestHead, peer: String?, trusting proxies: TrustedProxies, isEncrypted: Bool) {
        self.head = head
        self.peer = peer
        self.proxies = proxies
        self.isEncrypted = isEncrypted
    }

    /// The origin as a text, such as `https://example.com:8443`; nil when the request names no host.
    ///
    /// It is determined when it is asked for, because few requests need it.
    public var text: String? {
        guard let host = head.authority, Self.isHost(host) else { return nil }
        return (isSecure ? "https://" : "http://") + host.lowercased()
    }

    private var isSecure: Bool {
        guard let scheme = head.fields.value(of: .forwardedProto), let peer, proxies.contains(peer) else {
            return isEncrypted
        }
        return scheme.lowercased() == "https"
    }

    /// Returns whether a text is a name, an IPv4 address or an IPv6 address in brackets, with or without a port. A client can
    /// send any text as its host, and links begin with it.
    ///
    /// It reads bytes, because it is asked for each of a page's links.
    static func isHost(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count <= 255 else { return false }
        let rest: Substring.UTF8View
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = text[bytes.index(after: bytes.startIndex)..<end]
            guard !address.utf8.contains(UInt8(ascii: "%")), address.utf8.contains(UInt8(ascii: ":")),
                IPAddress(address) != nil
            else { return false }
            rest = bytes[bytes.index(after: end)...]
        } else {
            let name = bytes.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, name.allSatisfy(Self.isOfName) else { return false }
            rest = bytes[name.endIndex...]
        }
        guard let colon = rest.first else { return true }
        let port = rest.dropFirst()
        return colon == UInt8(ascii: ":") && port.allSatisfy { 0x30...0x39 ~= $0 } && (UInt16(Substring(port)) ?? 0) > 0
    }

    /// Returns whether a byte occurs in names of hosts: `a` to `z`, a digit, a hyphen, a dot or an underscore.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39: true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        }
    }
}

/// The beginning of links in answers.
///
/// Where the operator has set no public URL, links begin with the host that the client itself has asked: the next client may
/// reach the server at another one. They are for that client alone; what goes to others, such as e-mails, begins with
/// the configured URL.
public enum LinkOrigin {
    @TaskLocal static var asked: RequestOrigin?

    /// Returns the URL with which links in the answer to the present request begin, without a slash at its end.
    ///
    /// It knows the request in the task that answers it, and so not in a database transaction: ask before, or see
    /// ``keeping(_:)``.
    ///
    /// - Parameter publicURL: The configured URL, which is returned when the request names no host.
    public static func current(else publicURL: String) -> String { asked?.text ?? publicURL }

    /// Returns a closure that knows the present request on any thread, such as the one of a transaction.
    public static func keeping<Input, Output>(
        _ body: @escaping @Sendable (Input) throws -> Output
    ) -> @Sendable (Input) throws -> Output {
        guard let asked else { return body }
        return { input in try $asked.withValue(asked) { try body(input) } }
    }
}

extension HTTPField.Name {
    static let forwardedProto = Self("X-Forwarded-Proto")!
}
