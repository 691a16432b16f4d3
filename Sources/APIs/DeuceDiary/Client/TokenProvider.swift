import ContractClient
import Foundation

/// Asks the app for a token whenever one is needed.
struct TokenProvider: Credentials {
    /// The only user as whom requests are sent; nil for whichever is signed in.
    var user: String?
    let provide: @Sendable () async throws -> String

    func token(after earlier: String?) async throws -> String {
        let token = try await provide()
        if let user, let subject = Self.subject(of: token), subject != user { throw SignedOut() }
        // A request that is sent again must not be sent as a user who has signed in meanwhile.
        guard let before = earlier.flatMap(Self.subject), let now = Self.subject(of: token) else { return token }
        guard before == now else { throw SignedOut() }
        return token
    }

    func renew(_ refused: String) async throws -> String { try await token(after: refused) }

    /// Does nothing: the app is asked once more after a refusal, and not again, because there is no session here that
    /// could have ended.
    func refusedAgain(_ refused: String) {}

    /// Returns the subject of a JSON Web Token (RFC 7519 §4.1.2); nil for other tokens. Nothing is verified.
    private static func subject(of token: String) -> String? {
        struct Claims: Decodable { let sub: String }
        return JSONWebToken.claims(Claims.self, of: token)?.sub
    }
}

/// The times at which a JSON Web Token expires and at which it should be replaced. Nothing is verified.
struct TokenTimes {
    /// The token's lifetime in seconds; nil when the token does not say when it was issued.
    private let lifetime: Double?
    private let expiresAt: Double
    /// Thirty years, in seconds.
    private static let longest = 1e9

    /// Fails for a token without an expiry time.
    init?(_ token: String) {
        struct Claims: Decodable {
            let iat: Double?
            let exp: Double
        }
        guard let claims = JSONWebToken.claims(Claims.self, of: token) else { return nil }
        expiresAt = claims.exp
        lifetime = claims.iat.map { max(0, claims.exp - $0) }
    }

    /// Returns how long before its expiry a token is replaced: a third of its lifetime, and at most a minute.
    private func lead(_ remaining: Double) -> Double { min(60, (lifetime ?? max(0, remaining)) / 3) }

    /// Returns how long to wait before asking for a newer token. A wrong clock makes the wait shorter, and never longer
    /// than the token lasts.
    func untilRenewal(at now: Double) -> Duration {
        // A token may claim any time, of which a duration holds some.
        let remaining = max(-Self.longest, min(expiresAt - now, lifetime ?? .infinity, Self.longest))
        return max(.seconds(remaining - lead(remaining)), interval)
    }

    /// The wait before asking again when the app's token was not a newer one: issuers' libraries keep their tokens
    /// until shortly before they expire.
    var interval: Duration { .seconds(min(5, max(1, (lifetime ?? 20) / 12))) }
}

/// JSON Web Tokens as their bearer reads them (RFC 7519). Nothing is verified.
private enum JSONWebToken {
    static func claims<Claims: Decodable>(_: Claims.Type, of token: String) -> Claims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let payload = Data(base64Encoded: base64 + padding) else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: payload)
    }
}
