import ContractClient
import Foundation

/// Asks the app for a token whenever one is needed.
struct TokenProvider: Credentials {
    let provide: @Sendable () async throws -> String

    func token(after earlier: String?) async throws -> String {
        let token = try await provide()
        // A request that is sent again is not sent as somebody who signed in meanwhile.
        guard let before = earlier.flatMap(Self.subject), let now = Self.subject(of: token) else { return token }
        guard before == now else { throw SignedOut() }
        return token
    }

    func renew(_ refused: String) async throws -> String { try await token(after: refused) }

    /// The app is asked once more after a refusal, and not again: it has no session here that could have ended.
    func refusedAgain(_ refused: String) {}

    /// Whom a JSON Web Token speaks of (RFC 7519 §4.1.2); nil for other tokens. Nothing is verified.
    private static func subject(of token: String) -> String? {
        struct Claims: Decodable { let sub: String }
        return JSONWebToken.claims(Claims.self, of: token)?.sub
    }
}

/// When a JSON Web Token ends, and from when on it should be replaced. Nothing is verified.
struct TokenTimes {
    /// From the token's beginning to its end in seconds; nil when it does not say when it began.
    private let lifetime: Double?
    private let expiresAt: Double

    /// Returns nil for a token that does not say when it ends.
    init?(_ token: String) {
        struct Claims: Decodable {
            let iat: Double?
            let exp: Double
        }
        guard let claims = JSONWebToken.claims(Claims.self, of: token) else { return nil }
        expiresAt = claims.exp
        lifetime = claims.iat.map { max(0, claims.exp - $0) }
    }

    /// How long before its end a token is replaced: a third of its lifetime, and a minute at most.
    private func lead(_ remaining: Double) -> Double { min(60, (lifetime ?? max(0, remaining)) / 3) }

    /// How long to wait until a newer token is asked for. A clock that is wrong makes it shorter, never longer than the
    /// token lasts.
    func untilRenewal(at now: Double) -> Duration {
        let remaining = min(expiresAt - now, lifetime ?? .infinity)
        return max(.seconds(remaining - lead(remaining)), interval)
    }

    /// How long to wait when the app's token was not a newer one: issuers' libraries keep theirs almost to its end.
    var interval: Duration { .seconds(min(5, max(1, (lifetime ?? 20) / 12))) }
}

/// JSON Web Tokens as their bearer sees them (RFC 7519). Nothing is verified.
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
