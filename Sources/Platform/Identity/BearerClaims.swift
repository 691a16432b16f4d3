import Foundation

/// The user that an issuer's token names (RFC 7519 §4, OpenID Connect Core §5.1).
public struct BearerClaims: Sendable, Equatable {
    /// The user's id at the issuer, claim `sub`: 1…255 scalars without control characters.
    public var subject: String
    /// The claim `email`. It and the names are nil when the token has none, and otherwise 1…255 scalars without
    /// control characters; other values count as absent and do not lock the user out.
    public var email: String?
    /// The claim `first_name`, or else `given_name`.
    public var firstName: String?
    /// The claim `last_name`, or else `family_name`.
    public var lastName: String?
    /// The time of issue, claim `iat`, in Unix seconds.
    public var issuedAt: Int64
    /// The time at which the token expires, claim `exp`, in Unix seconds.
    public var expiresAt: Int64

    /// Makes claims. Times are in Unix seconds.
    public init(
        subject: String, email: String? = nil, firstName: String? = nil, lastName: String? = nil, issuedAt: Int64,
        expiresAt: Int64
    ) {
        self.subject = subject
        self.email = email
        self.firstName = firstName
        self.lastName = lastName
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    /// Returns whether a text fits a column and a log line.
    static func isUsable(_ text: String) -> Bool {
        1...255 ~= text.unicodeScalars.count
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

/// The claims with their names on the wire, including those that decide whether the token is valid.
struct BearerPayload: Codable, Sendable {
    let issuer: String
    let authorizedParty: String?
    let notBefore: Int64?
    /// Claim `sts`: whether the session of the token has begun.
    let sessionStatus: String?
    let claims: BearerClaims

    init(issuer: String, claims: BearerClaims) {
        self.issuer = issuer
        self.authorizedParty = nil
        self.notBefore = nil
        self.sessionStatus = nil
        self.claims = claims
    }

    private enum CodingKeys: String, CodingKey {
        case iss, azp, sub, sts, iat, nbf, exp, email
        case firstName = "first_name"
        case givenName = "given_name"
        case lastName = "last_name"
        case familyName = "family_name"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        issuer = try container.decode(String.self, forKey: .iss)
        authorizedParty = try container.decodeIfPresent(String.self, forKey: .azp)
        sessionStatus = try container.decodeIfPresent(String.self, forKey: .sts)
        notBefore = try container.contains(.nbf) ? Self.date(.nbf, in: container) : nil
        let subject = try container.decode(String.self, forKey: .sub)
        guard BearerClaims.isUsable(subject) else {
            throw DecodingError.dataCorruptedError(forKey: .sub, in: container, debugDescription: "not a user's id")
        }
        claims = BearerClaims(
            subject: subject,
            email: Self.text(.email, in: container),
            firstName: Self.text(.firstName, in: container) ?? Self.text(.givenName, in: container),
            lastName: Self.text(.lastName, in: container) ?? Self.text(.familyName, in: container),
            issuedAt: try Self.date(.iat, in: container), expiresAt: try Self.date(.exp, in: container))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(issuer, forKey: .iss)
        try container.encode(claims.subject, forKey: .sub)
        try container.encode(claims.issuedAt, forKey: .iat)
        try container.encode(claims.expiresAt, forKey: .exp)
        try container.encodeIfPresent(claims.email, forKey: .email)
        try container.encodeIfPresent(claims.firstName, forKey: .firstName)
        try container.encodeIfPresent(claims.lastName, forKey: .lastName)
    }

    /// Reads a NumericDate (RFC 7519 §2), which may have a fraction.
    private static func date(_ key: CodingKeys, in container: KeyedDecodingContainer<CodingKeys>) throws -> Int64 {
        if let seconds = try? container.decode(Int64.self, forKey: key) { return seconds }
        let seconds = try container.decode(Double.self, forKey: key).rounded(.down)
        guard let whole = Int64(exactly: seconds) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "out of range")
        }
        return whole
    }

    private static func text(_ key: CodingKeys, in container: KeyedDecodingContainer<CodingKeys>) -> String? {
        guard let text = try? container.decode(String.self, forKey: key), BearerClaims.isUsable(text) else {
            return nil
        }
        return text
    }
}
