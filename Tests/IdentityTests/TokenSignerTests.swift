import Crypto
import Foundation
import Testing

@testable import Identity

@Suite(.timeLimit(.minutes(30))) struct TokenSignerTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let start: Int64 = 1_700_000_000

    private let clock = Clock(start)
    private let claims = TokenClaims(
        subject: "42", kind: "access", issuedAt: start, expiresAt: start + 3600, id: "j-1", session: "s-1")

    private func signer(key: [UInt8] = key, cacheCapacity: Int = 10_000) -> TokenSigner {
        TokenSigner(secret: Secret(key), leeway: 5, cacheCapacity: cacheCapacity, now: clock.now)
    }

    @Test func `claims survive, under the names of the contract`() async throws {
        let token = try await signer().sign(claims)
        #expect(try await signer().verify(token) == claims)
        let payload = try #require(Base64URL.decode(String(token.split(separator: ".")[1])))
        let object = try #require(JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
        #expect(Set(object.keys) == ["sub", "type", "iat", "exp", "jti", "sid"])
        #expect(object["sub"] as? String == "42" && object["exp"] as? Int64 == Self.start + 3600)
    }

    /// The token of RFC 7515 appendix A.1 has a valid signature, but not this project's claims.
    @Test func `the example of the standard`() async throws {
        let key = try #require(
            Base64URL.decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
        let signed =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
            + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        await #expect(throws: TokenError.malformed) {
            try await signer(key: key).verify(signed + "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        }
        await #expect(throws: TokenError.badSignature) {
            try await signer(key: key).verify(signed + "eBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        }
    }

    // MARK: Forgeries

    private static let payload =
        #"{"sub":"1","type":"access","iat":1700000000,"exp":1800000000,"jti":"a","sid":"b"}"#

    /// Returns a token with this header, signed by `sign`.
    private static func token(header: String, payload: String = payload, sign: (Data) -> [UInt8]) -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return input + "." + Base64URL.encode(sign(Data(input.utf8)))
    }

    private static func hs256(_ data: Data) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
    }

    @Test func `the same by hand is accepted`() async throws {
        let token = Self.token(header: #"{"alg":"HS256"}"#, sign: Self.hs256)
        #expect(try await signer().verify(token).subject == "1")
    }

    @Test(arguments: [
        ("none", token(header: #"{"alg":"none"}"#) { _ in [] }),
        ("none, signed", token(header: #"{"alg":"none"}"#, sign: hs256)),
        ("no algorithm", token(header: "{}", sign: hs256)),
        ("lower case", token(header: #"{"alg":"hs256"}"#, sign: hs256)),
        ("RS256 with the secret as key", token(header: #"{"alg":"RS256","typ":"JWT"}"#, sign: hs256)),
        (
            "HS384",
            token(header: #"{"alg":"HS384"}"#) {
                Array(HMAC<SHA384>.authenticationCode(for: $0, using: SymmetricKey(data: key)))
            }
        ),
        (
            "HS512",
            token(header: #"{"alg":"HS512"}"#) {
                Array(HMAC<SHA512>.authenticationCode(for: $0, using: SymmetricKey(data: key)))
            }
        ),
        ("critical extension", token(header: #"{"alg":"HS256","crit":["exp"]}"#, sign: hs256)),
        ("empty signature", token(header: #"{"alg":"HS256"}"#) { _ in [] }),
        ("short signature", token(header: #"{"alg":"HS256"}"#) { Array(hs256($0).prefix(16)) }),
        (
            "key in the header",
            token(header: #"{"alg":"HS256","kid":"x","jku":"http://e/","jwk":{"kty":"oct","k":"AAAA"}}"#) {
                Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: [0, 0, 0])))
            }
        ),
    ])
    func `other algorithms and keys are refused`(name: String, token: String) async {
        await #expect(throws: TokenError.badSignature) { try await signer().verify(token) }
    }

    @Test func `kid and jku do not choose another key`() async throws {
        let token = Self.token(header: #"{"alg":"HS256","kid":"../../dev/null","jku":"http://e/"}"#, sign: Self.hs256)
        #expect(try await signer().verify(token).subject == "1")
        await #expect(throws: TokenError.badSignature) {
            try await signer(key: Array(repeating: 8, count: 32)).verify(token)
        }
    }

    @Test(arguments: [
        "", ".", "..", "a.b", "a.b.c.d", "Bearer x", "e30.e30.e30=", "\u{0}.\u{0}.\u{0}",
        token(header: "[]", sign: hs256), token(header: #"{"alg":5}"#, sign: hs256) + "=",
        token(header: #"{"alg":"HS256"}"#, payload: "", sign: hs256),
        token(header: #"{"alg":"HS256"}"#, payload: "[1]", sign: hs256),
        token(header: #"{"alg":"HS256"}"#, payload: #"{"sub":"1"}"#, sign: hs256),
        token(
            header: #"{"alg":"HS256"}"#,
            payload: #"{"sub":1,"type":"access","iat":1,"exp":1800000000,"jti":"a","sid":"b"}"#, sign: hs256),
        token(
            header: #"{"alg":"HS256"}"#,
            payload: #"{"sub":"1","type":"access","iat":1,"exp":1e99,"jti":"a","sid":"b"}"#, sign: hs256),
        token(header: String(repeating: "[", count: 2000), sign: hs256),
    ])
    func `other texts are malformed tokens`(token: String) async {
        await #expect(throws: TokenError.malformed) { try await signer().verify(token) }
    }

    @Test func `a token longer than 4 KiB is malformed, even with a valid signature`() async throws {
        var long = claims
        long.id = String(repeating: "x", count: 4096)
        let token = try await signer().sign(long)
        await #expect(throws: TokenError.malformed) { try await signer().verify(token) }
    }

    @Test func `no character can be changed, dropped or added`() async throws {
        let signer = signer()
        let token = Array(try await signer.sign(claims).utf8)
        _ = try await signer.verify(String(decoding: token, as: UTF8.self))
        for index in token.indices {
            for byte in "Az09-_.=+/ ".utf8 where byte != token[index] {
                var changed = token
                changed[index] = byte
                await #expect(throws: TokenError.self) {
                    try await signer.verify(String(decoding: changed, as: UTF8.self))
                }
            }
            var shorter = token
            shorter.remove(at: index)
            await #expect(throws: TokenError.self) { try await signer.verify(String(decoding: shorter, as: UTF8.self)) }
        }
    }

    @Test func `a string that is only canonically equivalent is refused, remembered or not`() async throws {
        let signer = signer()
        var token = ""
        var claims = claims
        while !token.contains("K") {
            claims.id += "-"
            token = try await signer.sign(claims)
        }
        _ = try await signer.verify(token)
        let twin = token.replacingOccurrences(of: "K", with: "\u{212A}")
        #expect(twin == token)
        await #expect(throws: TokenError.malformed) { try await signer.verify(twin) }
    }

    // MARK: Time and memory

    @Test(arguments: [(3599, true), (3600, true), (3604, true), (3605, false), (3606, false), (1_000_000, false)])
    func `a token is valid until exp and the leeway`(seconds: Int64, isGood: Bool) async throws {
        let token = try await signer().sign(claims)
        let (fresh, used) = (signer(), signer())
        _ = try await used.verify(token)
        clock.set(Self.start + seconds)
        for signer in [fresh, used] {
            if isGood {
                #expect(try await signer.verify(token) == claims)
            } else {
                await #expect(throws: TokenError.expired) { try await signer.verify(token) }
            }
            // An expired token may be used to sign out. That must not make it valid in the cache.
            #expect(try await signer.verify(token, acceptingExpired: true) == claims)
            #expect((try? await signer.verify(token)) == (isGood ? claims : nil))
            await #expect(throws: TokenError.self) { try await signer.verify(token + "x", acceptingExpired: true) }
        }
    }

    @Test func `extreme expiry times do not overflow`() async throws {
        for (expiry, isGood) in [(Int64.max, true), (.min, false), (-1, false)] {
            var extreme = claims
            extreme.expiresAt = expiry
            let token = try await signer().sign(extreme)
            #expect((try? await signer().verify(token)) == (isGood ? extreme : nil))
        }
    }

    @Test func `only valid tokens are cached, up to the capacity`() async throws {
        let signer = signer(cacheCapacity: 20)
        let good = try await signer.sign(claims)
        _ = try? await signer.verify(good + "A")
        _ = try? await signer.verify("a.b.c")
        clock.set(Self.start + 9999)
        _ = try? await signer.verify(good)
        #expect(signer.cachedCount == 0)

        clock.set(Self.start)
        for number in 0..<100 {
            var claims = claims
            claims.id = "j-\(number)"
            let token = try await signer.sign(claims)
            #expect(try await signer.verify(token) == claims)
            #expect(try await signer.verify(good) == self.claims)
            #expect(signer.cachedCount <= 20)
        }
    }

    @Test func `any number of tasks may verify at once`() async throws {
        let signer = signer(cacheCapacity: 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                var claims = claims
                claims.subject = "\(number)"
                group.addTask { [claims] in
                    let token = try await signer.sign(claims)
                    for _ in 0..<20 { #expect(try await signer.verify(token) == claims) }
                }
            }
            try await group.waitForAll()
        }
    }
}
