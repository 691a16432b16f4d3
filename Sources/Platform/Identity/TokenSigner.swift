import Foundation
import JWTKit

/// Signs and verifies JSON Web Tokens (RFC 7519) with HMAC-SHA-256, the algorithm `HS256` of RFC 7518 §3.2.
///
/// Keys and algorithm are fixed: nothing in a token's header (`alg`, `jku`, `jwk`, `x5u`) can choose others. `kid` only
/// says which of the keys to try.
public struct TokenSigner: Sendable {
    private static let algorithm = "HS256"

    private let keys: SigningKeys
    private let leeway: Int64
    private let issuer: String?
    private let now: @Sendable () -> Int64
    /// The verified tokens, with the keys that signed them.
    private let cache: BoundedCache<CachedToken, Verified>
    private let cacheMetrics = CacheMetrics("signatures")

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - secret: The key that signs, and a former one that is still accepted.
    ///   - issuer: The `iss` and `aud` of each token; tokens with other values are refused. Nil for tokens that have
    ///     neither.
    ///   - leeway: The seconds past `exp` in which a token is still valid, because clocks differ.
    ///   - now: Returns the time in Unix seconds.
    public init(
        secret: Secret, issuer: String? = nil, leeway: Int64 = 5, now: @escaping @Sendable () -> Int64
    ) {
        self.init(secret: secret, issuer: issuer, leeway: leeway, cacheCapacity: 10_000, now: now)
    }

    init(
        secret: Secret, issuer: String? = nil, leeway: Int64, cacheCapacity: Int,
        now: @escaping @Sendable () -> Int64
    ) {
        keys = SigningKeys(secret)
        self.leeway = leeway
        self.issuer = issuer
        self.now = now
        self.cache = BoundedCache(capacity: cacheCapacity)
    }

    /// Signs a token with these claims, in the compact form (three parts of base64url, joined by full stops).
    public func sign(_ claims: TokenClaims) async throws -> String {
        let key = keys.present
        return try await key.collection.value.sign(Payload(claims, issuer: issuer), kid: JWKIdentifier(string: key.id))
    }

    /// Returns the claims of `token`, if this signer's key has signed it and it has not expired.
    ///
    /// A valid signature is cached, so that a token in use costs one look-up; its expiry is checked each time. The
    /// caller must check revocation, by ``TokenClaims/session``.
    ///
    /// - Parameter acceptingExpired: Whether an expired token is accepted, for signing out.
    public func verify(_ token: String, acceptingExpired: Bool = false) async throws(TokenError) -> TokenClaims {
        guard CompactToken.isPlausible(token) else { throw .malformed }
        // A token whose key has been dropped is not accepted from the cache.
        let known = cache.value(for: CachedToken(text: token)).flatMap { keys.accepts($0.key) ? $0 : nil }
        cacheMetrics.count(isHit: known != nil)
        if let known {
            return acceptingExpired ? known.claims : try unexpired(known.claims)
        }
        let (claims, key) = try await authenticated(token)
        if acceptingExpired { return claims }
        cache.insert(Verified(try unexpired(claims), key), for: CachedToken(text: token))
        return claims
    }

    /// The number of cached tokens, for tests.
    var cachedCount: Int { cache.count }

    private func unexpired(_ claims: TokenClaims) throws(TokenError) -> TokenClaims {
        guard now() - leeway < claims.expiresAt else { throw .expired }
        return claims
    }

    /// Returns the claims of a token, and the key that signed it.
    private func authenticated(_ token: String) async throws(TokenError) -> (TokenClaims, key: String) {
        // This is stricter than jwt-kit, which accepts several spellings of one signature.
        guard let parts = CompactToken(token) else { throw .malformed }
        // jwt-kit takes the algorithm from the key and ignores `alg`.
        guard parts.algorithm == Self.algorithm, !parts.hasCriticalExtensions else { throw .badSignature }
        for key in keys.candidates(for: parts.keyID) {
            guard let payload = try await payload(of: token, signedWith: key) else { continue }
            guard payload.iss == issuer, payload.aud == issuer else { throw .badSignature }
            return (payload.claims, key.id)
        }
        throw .badSignature
    }

    /// Returns the content of a token; nil when another key has signed it.
    private func payload(of token: String, signedWith key: SigningKeys.Key) async throws(TokenError) -> Payload? {
        do {
            return try await key.collection.value.verify(token, as: Payload.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            return nil
        } catch {
            throw .malformed
        }
    }
}

/// A token as the key of a cache. It is hashed by its end, which is the signature's: only signed tokens are inserted, so
/// no client can choose the hashes.
private struct CachedToken: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0).suffix(16))) }
    }
}

/// The claims of a verified token, and the key that signed it.
private final class Verified: Sendable {
    let claims: TokenClaims
    let key: String

    init(_ claims: TokenClaims, _ key: String) {
        self.claims = claims
        self.key = key
    }
}

/// The claims with their names on the wire.
private struct Payload: JWTPayload {
    let sub: String
    let type: String
    let iat: Int64
    let exp: Int64
    let jti: String
    let sid: String
    let iss: String?
    let aud: String?

    init(_ claims: TokenClaims, issuer: String?) {
        iss = issuer
        aud = issuer
        sub = claims.subject
        type = claims.kind
        iat = claims.issuedAt
        exp = claims.expiresAt
        jti = claims.id
        sid = claims.session
    }

    var claims: TokenClaims {
        TokenClaims(subject: sub, kind: type, issuedAt: iat, expiresAt: exp, id: jti, session: sid)
    }

    // The signer checks expiry, with its own clock and also for cached tokens.
    func verify(using algorithm: some JWTAlgorithm) {}
}
