import Crypto
import CryptoExtras
import Foundation
import Testing

@testable import Identity

@Suite(.timeLimit(.minutes(30))) struct BearerVerifierTests {
    private static let key = RSAKey.first

    private let clock = Clock(RSAKey.start)

    /// Returns a verifier that trusts ``RSAKey/issuer`` and its key `first`.
    private func verifier(
        parties: Set<String> = [], allowsPending: Bool = false, local: LocalIssuer? = nil
    ) -> BearerVerifier {
        let outside = TrustedIssuer.outside(
            RSAKey.issuer, authorizedParties: parties, allowsPendingSessions: allowsPending, refreshFailed: { _ in },
            keySet: { RSAKey.keySet(Self.key.webKey()) })
        return BearerVerifier(trusting: [outside] + (local.map { [.local($0)] } ?? []), now: clock.now)
    }

    // MARK: Claims

    @Test func `a token's claims are read`() async throws {
        let claims = try await verifier().verify(Self.key.token())
        #expect(
            claims == BearerClaims(subject: "user_1", issuedAt: RSAKey.start, expiresAt: RSAKey.start + 60))
    }

    @Test func `names under both spellings`() async throws {
        let claims = try await verifier().verify(
            Self.key.token(["email": "a@example.com", "first_name": "Zoë", "last_name": "Doe"]))
        #expect([claims.email, claims.firstName, claims.lastName] == ["a@example.com", "Zoë", "Doe"])
        let standard = try await verifier().verify(Self.key.token(["given_name": "Zoë", "family_name": "Doe"]))
        #expect([standard.email, standard.firstName, standard.lastName] == [nil, "Zoë", "Doe"])
        let both = try await verifier().verify(
            Self.key.token(["given_name": "A", "first_name": "B", "family_name": "C", "last_name": "D"]))
        #expect([both.firstName, both.lastName] == ["B", "D"])
    }

    @Test(arguments: [
        "null", "5", #""""#, #"["a"]"#, #"{"a":"b"}"#, #""a\u0000b""#, #""a\nb""#,
        "\"" + String(repeating: "x", count: 256) + "\"",
    ])
    func `an invalid name counts as absent`(json: String) async throws {
        let value = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        let claims = try await verifier().verify(
            Self.key.token(["email": value, "first_name": value, "given_name": "Zoë", "last_name": value]))
        #expect([claims.email, claims.firstName, claims.lastName] == [nil, "Zoë", nil])
    }

    @Test func `times may have a fraction`() async throws {
        let start = Double(RSAKey.start)
        let claims = try await verifier().verify(
            Self.key.token(["iat": start + 0.9, "nbf": start + 0.5, "exp": start + 60.5]))
        #expect(claims.issuedAt == RSAKey.start && claims.expiresAt == RSAKey.start + 60)
    }

    // MARK: Forgeries

    private static func hmac(_ secret: Data) -> (Data) -> [UInt8] {
        { Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: secret))) }
    }

    /// The attacker's own key, in `jwk` and `jku` of a token.
    private static var attacker: [String: Any?] {
        [
            "jku": "https://attacker.example/keys", "x5u": "https://attacker.example/chain",
            "jwk": RSAKey.second.webKey(["kid": key.id]),
        ]
    }

    @Test(arguments: [
        ("none", RSAKey.token(header: ["alg": "none"]) { _ in [] }),
        ("none, signed", key.token(header: ["alg": "none"])),
        ("no algorithm", key.token(header: ["alg": nil])),
        ("RS256 in lower case", key.token(header: ["alg": "rs256"])),
        ("no signature", RSAKey.token { _ in [] }),
        (
            "HS256 with the key's PEM",
            RSAKey.token(header: ["alg": "HS256"], sign: hmac(Data(key.key.publicKey.pemRepresentation.utf8)))
        ),
        (
            "HS256 with the key's DER",
            RSAKey.token(header: ["alg": "HS256"], sign: hmac(key.key.publicKey.derRepresentation))
        ),
        (
            "HMAC under RS256",
            RSAKey.token(sign: hmac(Data(key.key.publicKey.pemRepresentation.utf8)))
        ),
        ("RS512", RSAKey.token(header: ["alg": "RS512"]) { key.sign(SHA512.hash(data: $0)) }),
        ("RS512 under RS256", RSAKey.token { key.sign(SHA512.hash(data: $0)) }),
        (
            "PS256 under RS256",
            RSAKey.token {
                Array(try! key.key.signature(for: SHA256.hash(data: $0), padding: .PSS).rawRepresentation)
            }
        ),
        ("another key under the known name", RSAKey(key.id, of: .second).token()),
        ("another key that the token brings along", RSAKey(key.id, of: .second).token(header: attacker)),
        ("critical extension", key.token(header: ["crit": ["exp"]])),
        ("half a signature", RSAKey.token { Array(key.rs256($0).prefix(128)) }),
    ])
    func `other algorithms and keys are refused`(name: String, token: String) async {
        await #expect(throws: TokenError.badSignature) { try await verifier().verify(token) }
    }

    @Test func `keys in a header are ignored`() async throws {
        #expect(try await verifier().verify(Self.key.token(header: Self.attacker)).subject == "user_1")
    }

    @Test func `a key of another name, or without a name`() async {
        for token in [
            RSAKey.second.token(), RSAKey.second.token(header: Self.attacker.merging(["kid": "x"]) { $1 }),
            Self.key.token(header: ["kid": nil]), Self.key.token(header: ["kid": "../../etc/passwd"]),
        ] {
            await #expect(throws: TokenError.unknownKey) { try await verifier().verify(token) }
        }
    }

    @Test(arguments: [
        "https://issuer.example/", "HTTPS://ISSUER.EXAMPLE", "https://attacker.example", "concord", "",
    ])
    func `another issuer`(issuer: String) async {
        await #expect(throws: TokenError.foreignIssuer) { try await verifier().verify(Self.key.token(["iss": issuer])) }
    }

    @Test func `parties count when some are configured`() async throws {
        let token = Self.key.token()
        #expect(try await verifier(parties: ["https://app.example", "b"]).verify(token).subject == "user_1")
        #expect(try await verifier().verify(Self.key.token(["azp": nil])).subject == "user_1")
        for token in [token, Self.key.token(["azp": nil]), Self.key.token(["azp": "https://app.example/"])] {
            await #expect(throws: TokenError.foreignParty) { try await verifier(parties: ["b"]).verify(token) }
        }
    }

    // MARK: Sessions

    @Test(
        arguments: [
            (nil, true), ("JWT", true), ("jwt", true), ("Jwt", true), ("", false), ("JWT ", false), ("JWE", false),
            ("application/jwt", false), ("at+jwt", false), ("application/at+jwt", false), ("AT+JWT", false),
            ("logout+jwt", false), ("secevent+jwt", false), ("dpop+jwt", false), ("JOSE", false),
        ] as [(String?, Bool)])
    func `tokens of other types are no sessions`(type: String?, isSession: Bool) async {
        let token = Self.key.token(header: ["typ": type])
        if isSession {
            await #expect(throws: Never.self) { try await verifier().verify(token) }
        } else {
            await #expect(throws: TokenError.foreignType) { try await verifier().verify(token) }
        }
    }

    @Test(
        arguments: [
            (nil, true, true), ("active", true, true), ("pending", false, true), ("ACTIVE", false, false),
            ("ended", false, false), ("revoked", false, false), ("", false, false),
        ] as [(String?, Bool, Bool)])
    func `a session is active, or pending where that is allowed`(
        status: String?, isSession: Bool, isAllowed: Bool
    ) async {
        let token = Self.key.token(["sts": status])
        for (allowsPending, expected) in [(false, isSession), (true, isAllowed)] {
            let verifier = verifier(allowsPending: allowsPending)
            if expected {
                await #expect(throws: Never.self) { try await verifier.verify(token) }
            } else {
                await #expect(throws: TokenError.sessionNotActive) { try await verifier.verify(token) }
            }
        }
    }

    @Test func `a machine is not a user`() async throws {
        for subject in ["mch_", "mch_2xyz"] {
            await #expect(throws: TokenError.notAUser) { try await verifier().verify(Self.key.token(["sub": subject])) }
        }
        for subject in ["mch", "user_mch_1", "MCH_1"] {
            #expect(try await verifier().verify(Self.key.token(["sub": subject])).subject == subject)
        }
    }

    @Test(arguments: [
        "", ".", "..", "a.b", "a.b.c.d", "Bearer x", "e30.e30.e30=", "\u{0}.\u{0}.\u{0}", key.token() + "=",
        key.token(["sub": nil]), key.token(["sub": ""]), key.token(["sub": 5]), key.token(["sub": "a\u{0}"]),
        key.token(["sub": String(repeating: "x", count: 256)]), key.token(["iss": nil]), key.token(["iss": ["a"]]),
        key.token(["exp": nil]), key.token(["exp": "soon"]), key.token(["exp": 1e99]), key.token(["iat": nil]),
        key.token(["nbf": "now"]), key.token(["azp": 5]), key.token(header: ["alg": 5]), key.token(header: ["kid": 5]),
        key.token(header: ["typ": 5]), key.token(["sts": 5]), key.token(["sts": ["active"]]),
        key.token(["email": String(repeating: "x", count: 4096)]),
    ])
    func `other texts are malformed tokens`(token: String) async {
        await #expect(throws: TokenError.malformed) { try await verifier().verify(token) }
    }

    @Test func `no part can be changed, dropped or added`() async throws {
        let verifier = verifier()
        let token = Self.key.token()
        _ = try await verifier.verify(token)
        let other = Self.key.token(["sub": "user_2"])
        _ = try await verifier.verify(other)
        let (parts, others) = (token.split(separator: "."), other.split(separator: "."))
        await #expect(throws: TokenError.badSignature, "another's claims") {
            try await verifier.verify("\(parts[0]).\(others[1]).\(parts[2])")
        }
        let bytes = Array(token.utf8)
        for index in stride(from: 0, to: bytes.count, by: 7) {
            for byte in "Az-=. ".utf8 where byte != bytes[index] {
                var changed = bytes
                changed[index] = byte
                await #expect(throws: TokenError.self) {
                    try await verifier.verify(String(decoding: changed, as: UTF8.self))
                }
            }
            var shorter = bytes
            shorter.remove(at: index)
            await #expect(throws: TokenError.self) {
                try await verifier.verify(String(decoding: shorter, as: UTF8.self))
            }
        }
    }

    // MARK: Time

    @Test(
        arguments: [
            (-7, TokenError.notYetValid), (-6, .notYetValid), (-5, nil), (0, nil), (60, nil), (64, nil), (65, .expired),
            (1_000_000, .expired),
        ] as [(Int64, TokenError?)])
    func `a token is valid from nbf to exp, with leeway`(seconds: Int64, error: TokenError?) async throws {
        let token = Self.key.token()
        let (fresh, used) = (verifier(), verifier())
        _ = try await used.verify(token)
        clock.set(RSAKey.start + seconds)
        for verifier in [fresh, used] {
            if let error {
                await #expect(throws: error) { try await verifier.verify(token) }
            } else {
                #expect(try await verifier.verify(token).subject == "user_1")
            }
        }
    }

    @Test func `extreme times do not overflow`() async throws {
        #expect(try await verifier().verify(Self.key.token(["exp": Int64.max, "nbf": Int64.min])).subject == "user_1")
        await #expect(throws: TokenError.expired) { try await verifier().verify(Self.key.token(["exp": Int64.min])) }
        await #expect(throws: TokenError.notYetValid) {
            try await verifier().verify(Self.key.token(["exp": Int64.max, "nbf": Int64.max]))
        }
    }

    // MARK: The server's own issuer

    @Test func `the server's own tokens count beside the issuer's`() async throws {
        let folder = try TemporaryFolder()
        let local = try SecretKeys(folder: folder.path, environment: [:]).localIssuer(
            "issuer", variable: "KEY", now: clock.now)
        let verifier = verifier(parties: ["https://app.example"], local: local)
        let token = try local.sign(
            subject: "user_abc", email: "a@example.com", firstName: "Zoë", lastName: "Doe", lifetime: .seconds(60))
        #expect(
            try await verifier.verify(token)
                == BearerClaims(
                    subject: "user_abc", email: "a@example.com", firstName: "Zoë", lastName: "Doe",
                    issuedAt: RSAKey.start, expiresAt: RSAKey.start + 60))
        #expect(try await verifier.verify(Self.key.token()).subject == "user_1")
        await #expect(throws: TokenError.foreignIssuer) { try await self.verifier().verify(token) }

        // Each issuer name is valid with its own keys only.
        await #expect(throws: TokenError.unknownKey) {
            try await verifier.verify(Self.key.token(["iss": LocalIssuer.name]))
        }
        let other = try SecretKeys(folder: folder.path, environment: [:]).localIssuer(
            "another", variable: "KEY", now: clock.now)
        let foreign = try other.sign(subject: "user_abc", lifetime: .seconds(60))
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(foreign) }
        clock.set(RSAKey.start + 65)
        await #expect(throws: TokenError.expired) { try await verifier.verify(token) }
    }

    @Test(arguments: ["", "a\u{0}", "a\nb", String(repeating: "x", count: 256)])
    func `nothing is signed that would be refused`(text: String) throws {
        let local = try LocalIssuer(Self.key.key, now: clock.now)
        #expect(throws: TokenError.malformed) { try local.sign(subject: text, lifetime: .seconds(1)) }
        #expect(throws: TokenError.malformed) { try local.sign(subject: "a", email: text, lifetime: .seconds(1)) }
    }

    @Test(.timeLimit(.minutes(30))) func `any number of tasks may verify at once`() async throws {
        let verifier = verifier()
        let tokens = (0..<16).map { Self.key.token(["sub": "user_\($0)"]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    for _ in 0..<10 {
                        let claims = try await verifier.verify(tokens[number % 16])
                        #expect(claims.subject == "user_\(number % 16)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
