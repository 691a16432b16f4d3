/// A cookie that holds a session's token, as a server writes and reads it (RFC 6265 §4): for the whole site, never shown
/// to scripts, and not sent along with what other sites post.
public struct SessionCookie: Sendable {
    /// Such as `dunbar.session`.
    public let name: String
    /// Whether it is for HTTPS alone.
    public let isSecure: Bool

    public init(name: String, isSecure: Bool) {
        self.name = name
        self.isSecure = isSecure
    }

    /// The value of `Set-Cookie` that hands out a token.
    ///
    /// - Parameter seconds: How long it is kept.
    public func setting(_ token: String, for seconds: Int64) -> String {
        "\(name)=\(token); Path=/; HttpOnly; SameSite=Lax; Max-Age=\(seconds)" + (isSecure ? "; Secure" : "")
    }

    /// The value of `Set-Cookie` that takes it back.
    public var clearing: String { setting("", for: 0) }

    /// The token in the values of `Cookie`; of several the first, which is the one of the longest path.
    public func token(in headers: [String]) -> String? {
        for pair in headers.lazy.flatMap({ $0.split(separator: ";") }) {
            let parts = pair.drop { $0 == " " || $0 == "\t" }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name else { continue }
            let value = parts[1].prefix { $0 != " " && $0 != "\t" }
            // The quotes are part of the value, though clients may add them.
            return String(
                value.count > 1 && value.first == "\"" && value.last == "\"" ? value.dropFirst().dropLast() : value)
        }
        return nil
    }
}
