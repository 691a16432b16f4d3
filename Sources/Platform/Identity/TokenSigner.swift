import Foundation
import JWTKit

/// Signs and verifies JSON Web Tokens (RFC 7519) with HMAC-SHA-256, the algorithm `HS256` of RFC 7518 §3.2.
///
/// Key and algorithm are fixed: nothing in a token's header (`alg`, `kid`, `jku`, `jwk`, `x5u`) can choose others.
public struct TokenSigner: Sendable {
    private static let algorithm = "HS256"

    // jwt-kit keeps its keys in an actor, which an initialiser cannot fill without suspending.
    private let keys: Task<JWTKeyCollection, Never>
    private let leeway: Int64
    private let issuer: String?
    private let now: @Sendable () -> Int64
    private let cache: BoundedCache<String, TokenClaims>

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - key: The secret, 32 bytes or more.
    ///   - issuer: The `iss` and `aud` of each token; tokens with other values are refused. Nil for tokens that have
    ///     neither.
    ///   - leeway: The seconds past `exp` in which a token is still valid, because clocks differ.
    ///   - now: Returns the time in Unix seconds.
    public init(key: [UInt8], issuer: String? = nil, leeway: Int64 = 5, now: @escaping @Sendable () -> Int64) {
        self.init(key: key, issuer: issuer, leeway: leeway, cacheCapacity: 10_000, now: now)
    }

    init(
        key: [UInt8], issuer: String? = nil, leeway: Int64, cacheCapacity: Int, now: @escaping @Sendable () -> Int64
    ) {
        precondition(key.count >= 32, "an HS256 key has at least 32 bytes (RFC 7518 §3.2)")
        self.keys = Task { await JWTKeyCollection().add(hmac: HMACKey(from: key), digestAlgorithm: .sha256) }
        self.leeway = leeway
        self.issuer = issuer
        self.now = now
        self.cache = BoundedCache(capacity: cacheCapacity)
    }

    /// Signs a token with these claims, in the compact form (three parts of base64url, joined by full stops).
    public func sign(_ claims: TokenClaims) async throws -> String {
        try await keys.value.sign(Payload(claims, issuer: issuer))
    }

    /// Returns the claims of `token`, if this signer's key has signed it and it has not expired.
    ///
    /// A valid signature is cached, so that a token in use costs one look-up; its expiry is checked each time. The
    /// caller must check revocation, by ``TokenClaims/session``.
    ///
    /// - Parameter acceptingExpired: Whether an expired token is accepted, for signing out.
    public func verify(_ token: String, acceptingExpired: Bool = false) async throws(TokenError) -> TokenClaims {
        guard CompactToken.isPlausible(token) else { throw .malformed }
        if let claims = cache.value(for: token) {
            return acceptingExpired ? claims : try unexpired(claims)
        }
        let claims = try await authenticated(token)
        if acceptingExpired { return claims }
        cache.insert(try unexpired(claims), for: token)
        return claims
    }

    /// The number of cached tokens, for tests.
    var cachedCount: Int { cache.count }

    private func unexpired(_ claims: TokenClaims) throws(TokenError) -> TokenClaims {
        guard now() - leeway < claims.expiresAt else { throw .expired }
        return claims
    }

    private func authenticated(_ token: String) async throws(TokenError) -> TokenClaims {
        // This is stricter than jwt-kit, which accepts several spellings of one signature.
        guard let parts = CompactToken(token) else { throw .malformed }
        // jwt-kit takes the algorithm from the key and ignores `alg`.
        guard parts.algorithm == Self.algorithm, !parts.hasCriticalExtensions else { throw .badSignature }
        let payload: Payload
        do {
            payload = try await keys.value.verify(token, as: Payload.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            throw .badSignature
        } catch {
            throw .malformed
        }
        guard payload.iss == issuer, payload.aud == issuer else { throw .badSignature }
        return payload.claims
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
