/// The reason why a token was refused. Clients receive the same answer for all but ``keysUnavailable``; the difference
/// is for logs.
public enum TokenError: Error, Equatable {
    /// The text is not a JSON Web Token with the required claims, or is longer than 4 KiB.
    case malformed
    /// The token was signed with another key or algorithm, changed after signing, or not signed at all.
    case badSignature
    /// The token is genuine and past its `exp`.
    case expired
    /// The token is genuine and before its `nbf`.
    case notYetValid
    /// The token's issuer, claim `iss`, is not trusted here.
    case foreignIssuer
    /// The token was issued for an application that is not allowed, claim `azp`.
    case foreignParty
    /// The token is of another kind than those of sessions, header `typ`.
    case foreignType
    /// The token's session has not begun, claim `sts`.
    case sessionNotActive
    /// The token's subject is a machine, claim `sub`.
    case notAUser
    /// The issuer does not have the token's key, header `kid`.
    case unknownKey
    /// The issuer's keys could not be fetched, so the token could not be checked. The answer is 503, not 401.
    case keysUnavailable
}

extension TokenError: CustomStringConvertible {
    /// The reason, for the operator's log. It contains nothing of the token.
    public var description: String {
        switch self {
        case .malformed: "it is no JSON Web Token with the claims iss, sub, iat and exp"
        case .badSignature: "its signature is not good, or not RS256"
        case .expired: "it has expired (exp)"
        case .notYetValid: "its time has not come (nbf)"
        case .foreignIssuer: "it is of another issuer (iss)"
        case .foreignParty: "it was made for another party, or names none (azp)"
        case .foreignType: "it is of another type than JWT (typ)"
        case .sessionNotActive: "its session is not active (sts)"
        case .notAUser: "it was made for a machine, not for a user (sub)"
        case .unknownKey: "its key is none of the issuer's (kid)"
        case .keysUnavailable: "the issuer's keys cannot be had"
        }
    }
}
