import JWTKit

/// The key with which a team proves itself to Apple's push service: the `.p8` file of Apple's developer site.
public struct APNsKey: Sendable {
    let id: String
    let team: String
    let key: ES256PrivateKey

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - pem: The content of the `.p8` file.
    ///   - id: The key's id, ten letters and digits.
    ///   - team: The team's id, ten letters and digits.
    /// - Throws: ``APNsKeyError``, whose description does not contain the key.
    public init(pem: String, id: String, team: String) throws(APNsKeyError) {
        guard Self.isIdentifier(id) else { throw APNsKeyError("the key's id must have 10 letters and digits") }
        guard Self.isIdentifier(team) else { throw APNsKeyError("the team's id must have 10 letters and digits") }
        do { key = try ES256PrivateKey(pem: pem) } catch {
            throw APNsKeyError("it is no private key of the curve P-256 in PEM, as Apple's .p8 files are")
        }
        (self.id, self.team) = (id, team)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 }
    }
}

/// The error for a key that cannot be used. Its description is for the operator.
public struct APNsKeyError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Signs the tokens that requests carry (`authorization: bearer`). Apple takes a token for an hour, and refuses a team that
/// makes new ones more often than every 20 minutes.
actor ProviderTokens {
    /// The age at which a token is replaced, in seconds.
    static let maximumAge: Int64 = 50 * 60
    /// The age in seconds before which a token is never replaced.
    static let minimumAge: Int64 = 20 * 60

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private let key: APNsKey
    private let keys: Task<JWTKeyCollection, Never>
    private let now: @Sendable () -> Int64
    private var current: (token: Task<String, any Error>, issuedAt: Int64)?

    /// - Parameter now: Returns the time in Unix seconds.
    init(_ key: APNsKey, now: @escaping @Sendable () -> Int64) {
        self.key = key
        self.now = now
        keys = Task { await JWTKeyCollection().add(ecdsa: key.key, kid: JWKIdentifier(string: key.id)) }
    }

    /// Returns the token that is valid now.
    func token() async throws -> String {
        // A clock that was set back must not keep a token for ever.
        if let current, 0..<Self.maximumAge ~= now() - current.issuedAt { return try await current.token.value }
        return try await issue()
    }

    /// Returns another token than one that Apple has called expired; nil when it is too early for another.
    func token(after rejected: String) async throws -> String? {
        guard let current else { return try await issue() }
        let token = try await current.token.value
        if token != rejected { return token }
        return 0..<Self.minimumAge ~= now() - current.issuedAt ? nil : try await issue()
    }

    private func issue() async throws -> String {
        let claims = Claims(iss: key.team, iat: now())
        let signing = Task { [keys, id = key.id] in try await keys.value.sign(claims, kid: JWKIdentifier(string: id)) }
        current = (signing, claims.iat)
        return try await signing.value
    }
}
