import Foundation

/// Verifies JSON Web Tokens that an issuer has signed with RSASSA-PKCS1-v1_5 and SHA-256, the algorithm `RS256` of RFC
/// 7518 §3.3.
///
/// The algorithm is fixed, and keys come from the issuer alone. Of a token's header only `alg`, `typ` and `kid` are read: the
/// first to refuse any other algorithm, the second to refuse tokens that are not of a session, the third to choose among the
/// issuer's keys.
public struct BearerVerifier: Sendable {
    private static let algorithm = "RS256"
    /// The type of tokens that may be those of a session. Others of the same issuer, with the same key, say something else:
    /// that an application may do something, or that a session has ended (RFC 8725 §3.11).
    private static let type = "jwt"

    private let issuers: [TrustedIssuer]
    private let leeway: Int64
    private let now: @Sendable () -> Int64

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - issuers: The issuers whose tokens are accepted, with different names.
    ///   - leeway: The seconds past `exp` and before `nbf` in which a token is valid, because clocks differ.
    ///   - now: Returns the time in Unix seconds.
    public init(trusting issuers: [TrustedIssuer], leeway: Int64 = 5, now: @escaping @Sendable () -> Int64) {
        precondition(Set(issuers.map(\.name)).count == issuers.count, "an issuer's name tells which keys to take")
        self.issuers = issuers
        self.leeway = leeway
        self.now = now
    }

    /// Returns the claims of `token`, if a trusted issuer has signed it and it is valid now.
    ///
    /// A valid signature is cached, so that a token in use costs one look-up; its times are checked each time. The call
    /// waits for the issuer's keys, up to their time-out, while none are known or the token names an unknown one.
    public func verify(_ token: String) async throws(TokenError) -> BearerClaims {
        guard CompactToken.isPlausible(token) else { throw .malformed }
        let now = now()
        for issuer in issuers {
            if let payload = issuer.keys.current(at: now)?.verified.value(for: token) {
                return try timely(payload, at: now)
            }
        }
        return try timely(await authenticated(token, at: now), at: now)
    }

    private func timely(_ payload: BearerPayload, at now: Int64) throws(TokenError) -> BearerClaims {
        guard now - leeway < payload.claims.expiresAt else { throw .expired }
        guard (payload.notBefore ?? .min) <= now + leeway else { throw .notYetValid }
        return payload.claims
    }

    private func authenticated(_ token: String, at now: Int64) async throws(TokenError) -> BearerPayload {
        guard let parts = CompactToken(token) else { throw .malformed }
        guard parts.algorithm == Self.algorithm, !parts.hasCriticalExtensions else { throw .badSignature }
        guard let payload = try? JSONDecoder().decode(BearerPayload.self, from: Data(parts.payload)) else {
            throw .malformed
        }
        guard let issuer = issuers.first(where: { $0.name == payload.issuer }) else { throw .foreignIssuer }
        guard let id = parts.keyID else { throw .unknownKey }
        let keys = try await issuer.keys.keys(with: id, at: now)
        guard keys.isSignature(parts.signature, of: parts.signedPart, by: id) else { throw .badSignature }
        guard parts.type.map({ $0.lowercased() == Self.type }) ?? true else { throw .foreignType }
        guard issuer.allows(payload.authorizedParty) else { throw .foreignParty }
        try issuer.requireSession(payload)
        keys.verified.insert(payload, for: token)
        return payload
    }
}

extension TrustedIssuer {
    fileprivate func allows(_ party: String?) -> Bool {
        authorizedParties.isEmpty || party.map(authorizedParties.contains) == true
    }

    /// Throws unless a token is that of a user's session.
    fileprivate func requireSession(_ payload: BearerPayload) throws(TokenError) {
        guard let statuses = sessionStatuses else { return }
        guard payload.sessionStatus.map(statuses.contains) ?? true else { throw .sessionNotActive }
        guard !payload.claims.subject.hasPrefix(Self.machinePrefix) else { throw .notAUser }
    }
}
