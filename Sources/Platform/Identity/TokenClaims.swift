/// The content of a signed token (RFC 7519 §4).
public struct TokenClaims: Sendable, Equatable {
    /// The user of the token, claim `sub`.
    public var subject: String
    /// The purpose of the token, claim `type`: `access` or `refresh`. The caller must compare it.
    public var kind: String
    /// The time of issue, claim `iat`, in Unix seconds.
    public var issuedAt: Int64
    /// The time at which the token expires, claim `exp`, in Unix seconds.
    public var expiresAt: Int64
    /// The token's own id, claim `jti`.
    public var id: String
    /// The session it belongs to, claim `sid`.
    public var session: String

    /// Makes claims. Times are in Unix seconds.
    public init(subject: String, kind: String, issuedAt: Int64, expiresAt: Int64, id: String, session: String) {
        self.subject = subject
        self.kind = kind
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.id = id
        self.session = session
    }
}
