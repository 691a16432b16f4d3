/// Why a token was refused. A client is told one and the same thing for all but ``keysUnavailable``; the difference is
/// for logs.
public enum TokenError: Error, Equatable {
    /// No JSON Web Token with the claims that are needed, or longer than 4 KiB.
    case malformed
    /// Signed with another key or algorithm, changed after signing, or not signed at all.
    case badSignature
    /// Genuine, and past its `exp`.
    case expired
    /// Genuine, and before its `nbf`.
    case notYetValid
    /// From an issuer that is not trusted here, claim `iss`.
    case foreignIssuer
    /// Made for an application that is not one of those allowed, claim `azp`.
    case foreignParty
    /// Of a key that its issuer does not have, header `kid`.
    case unknownKey
    /// Nobody's fault who presents it: the issuer's keys could not be had, so nothing can be said. Answer 503, not 401.
    case keysUnavailable
}

extension TokenError: CustomStringConvertible {
    /// The reason in words, for an operator's log. It has nothing of the token in it.
    public var description: String {
        switch self {
        case .malformed: "it is no JSON Web Token with the claims iss, sub, iat and exp"
        case .badSignature: "its signature is not good, or not RS256"
        case .expired: "it has expired (exp)"
        case .notYetValid: "its time has not come (nbf)"
        case .foreignIssuer: "it is of another issuer (iss)"
        case .foreignParty: "it was made for another party, or names none (azp)"
        case .unknownKey: "its key is none of the issuer's (kid)"
        case .keysUnavailable: "the issuer's keys cannot be had"
        }
    }
}
