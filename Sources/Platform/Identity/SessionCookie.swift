/// A cookie that contains a session's token, as a server writes and reads it (RFC 6265 §4). It is valid for the whole
/// site, hidden from scripts, and not sent with posts from other sites.
public struct SessionCookie: Sendable {
    /// The cookie's name, such as `dunbar.session`.
    public let name: String
    /// Whether the cookie is only sent over HTTPS.
    public let isSecure: Bool
    /// Whether the cookie is not sent either when a link of another site is followed.
    public let isStrict: Bool

    public init(name: String, isSecure: Bool, isStrict: Bool = false) {
        self.name = name
        self.isSecure = isSecure
        self.isStrict = isStrict
    }

    /// Returns the value of `Set-Cookie` that sets a token.
    ///
    /// - Parameter seconds: The time for which the client keeps it.
    public func setting(_ token: String, for seconds: Int64) -> String {
        "\(name)=\(token); Path=/; HttpOnly; SameSite=\(isStrict ? "Strict" : "Lax"); Max-Age=\(seconds)"
            + (isSecure ? "; Secure" : "")
    }

    /// The value of `Set-Cookie` that removes the cookie.
    public var clearing: String { setting("", for: 0) }

    /// The most tokens that a request can have. Each is looked up.
    public static let maximumTokens = 8

    /// Returns the different tokens in the values of `Cookie`, in their order, at most ``maximumTokens``.
    ///
    /// A client sends several cookies of one name when they were set for different paths or domains. The one with the longest
    /// path comes first, and may be the oldest (RFC 6265 §5.4).
    public func tokens(in headers: [String]) -> [String] {
        var tokens: [String] = []
        for pair in headers.lazy.flatMap({ $0.split(separator: ";") }) where tokens.count < Self.maximumTokens {
            let parts = pair.drop { $0 == " " || $0 == "\t" }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name else { continue }
            let value = parts[1].prefix { $0 != " " && $0 != "\t" }
            // The quotes are part of the value, although clients may add them.
            let token = String(
                value.count > 1 && value.first == "\"" && value.last == "\"" ? value.dropFirst().dropLast() : value)
            if !tokens.contains(token) { tokens.append(token) }
        }
        return tokens
    }
}
