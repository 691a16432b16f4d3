import CryptoExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import Identity

/// An issuer's keys are fetched when they are needed, and fetched again at limited intervals.
@Suite(.timeLimit(.minutes(30))) struct KeySourceTests {
    private static let (old, new) = (RSAKey.first, RSAKey.second)

    private let clock = Clock(RSAKey.start)
    private let issuer = Publisher(RSAKey.keySet(old.webKey()))

    private func verifier() -> BearerVerifier {
        BearerVerifier(
            trusting: [
                // The time-out is generous: on a busy machine, a hundred waiting tasks may delay the issuer's answer.
                .outside(
                    RSAKey.issuer, timeout: .seconds(1800), refreshFailed: { [issuer] _ in issuer.noteFailure() },
                    keySet: issuer.fetch)
            ], now: clock.now)
    }

    /// Returns a token that stays valid however far a test moves the clock.
    private func token(_ key: RSAKey) -> String { key.token(["exp": RSAKey.start + 1_000_000]) }

    @Test func `keys are asked for once`() async throws {
        let verifier = verifier()
        #expect(issuer.requests == 0)
        for second in 0..<10 {
            clock.set(RSAKey.start + Int64(second))
            _ = try await verifier.verify(Self.old.token(["sub": "user_\(second)"]))
        }
        #expect(issuer.requests == 1)
    }

    @Test func `a new key is found when it is used, a minute after the last look`() async throws {
        let verifier = verifier()
        _ = try await verifier.verify(token(Self.old))
        issuer.publish(RSAKey.keySet(Self.old.webKey(), Self.new.webKey()))
        for second: Int64 in [0, 1, 59] {
            clock.set(RSAKey.start + second)
            await #expect(throws: TokenError.unknownKey) { try await verifier.verify(token(Self.new)) }
        }
        #expect(issuer.requests == 1)
        clock.set(RSAKey.start + 60)
        #expect(try await verifier.verify(token(Self.new)).subject == "user_1")
        #expect(try await verifier.verify(token(Self.old)).subject == "user_1")
        #expect(issuer.requests == 2)
    }

    @Test func `a key that is withdrawn counts no more, remembered tokens included`() async throws {
        let verifier = verifier()
        _ = try await verifier.verify(token(Self.old))
        issuer.publish(RSAKey.keySet(Self.new.webKey()))
        clock.set(RSAKey.start + 60)
        _ = try await verifier.verify(token(Self.new))
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(token(Self.old)) }
    }

    @Test func `a key that is replaced under its name counts no more`() async throws {
        let verifier = verifier()
        let token = token(Self.old)
        _ = try await verifier.verify(token)
        issuer.publish(RSAKey.keySet(RSAKey(Self.old.id, of: Self.new).webKey()))
        clock.set(RSAKey.start + 60)
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(RSAKey("x", of: Self.new).token()) }
        await #expect(throws: TokenError.badSignature) { try await verifier.verify(token) }
    }

    @Test func `after an hour keys are asked for in the background`() async throws {
        let verifier = verifier()
        _ = try await verifier.verify(token(Self.old))
        issuer.publish(RSAKey.keySet(Self.new.webKey()))
        clock.set(RSAKey.start + 3599)
        _ = try await verifier.verify(token(Self.old))
        #expect(issuer.requests == 1)
        issuer.hold()
        clock.set(RSAKey.start + 3600)
        // Requests that come meanwhile do not wait.
        for _ in 0..<10 { _ = try await verifier.verify(token(Self.old)) }
        issuer.release()
        #expect(try await verifier.verify(token(Self.new)).subject == "user_1")
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(token(Self.old)) }
        #expect(issuer.requests == 2)
    }

    @Test func `known keys go on while the issuer is away`() async throws {
        let verifier = verifier()
        _ = try await verifier.verify(token(Self.old))
        for broken in [nil, [], Array("<html>".utf8), RSAKey.keySet(), RSAKey.keySet(["kty": "EC"])] {
            issuer.publish(broken)
            clock.set(clock.now() + 7200)
            #expect(try await verifier.verify(token(Self.old)).subject == "user_1")
            await #expect(throws: TokenError.unknownKey) { try await verifier.verify(token(Self.new)) }
        }
        #expect(issuer.failures == 5)
        #expect(issuer.requests == 6)
        issuer.publish(RSAKey.keySet(Self.new.webKey()))
        clock.set(clock.now() + 60)
        #expect(try await verifier.verify(token(Self.new)).subject == "user_1")
    }

    @Test func `without any key nothing can be said, and another look is taken soon`() async throws {
        let verifier = verifier()
        issuer.publish(nil)
        for second: Int64 in [0, 1, 4] {
            clock.set(RSAKey.start + second)
            await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(token(Self.old)) }
        }
        #expect(issuer.requests == 1 && issuer.failures == 1)
        await #expect(throws: TokenError.malformed) { try await verifier.verify("a.b.c") }
        await #expect(throws: TokenError.foreignIssuer) { try await verifier.verify(Self.old.token(["iss": "x"])) }
        issuer.publish(RSAKey.keySet(Self.old.webKey()))
        clock.set(RSAKey.start + 5)
        #expect(try await verifier.verify(token(Self.old)).subject == "user_1")
    }

    @Test func `an issuer that does not answer is waited for only so long`() async throws {
        let verifier = BearerVerifier(
            trusting: [
                .outside(
                    RSAKey.issuer, timeout: .milliseconds(20), refreshFailed: { [issuer] _ in issuer.noteFailure() },
                    keySet: {
                        try await Task.sleep(for: .seconds(3600))
                        return []
                    })
            ], now: clock.now)
        await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(token(Self.old)) }
        #expect(issuer.failures == 1)
    }

    @Test(arguments: [true, false])
    func `a herd asks once`(isKnown: Bool) async throws {
        let verifier = verifier()
        if isKnown {
            _ = try await verifier.verify(token(Self.old))
            clock.set(RSAKey.start + 60)
        }
        let before = issuer.requests
        issuer.publish(RSAKey.keySet(Self.new.webKey()))
        issuer.hold()
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<100 {
                let token = Self.new.token(["sub": "user_\(number)", "exp": RSAKey.start + 1000])
                group.addTask { try await verifier.verify(token).subject }
            }
            await issuer.asked()
            issuer.release()
            let subjects = try await group.reduce(into: Set<String>()) { $0.insert($1) }
            #expect(subjects.count == 100)
        }
        #expect(issuer.requests == before + 1)
    }

    @Test func `many forgeries cause one request a minute`() async throws {
        let verifier = verifier()
        _ = try await verifier.verify(token(Self.old))
        for minute: Int64 in 1...3 {
            clock.set(RSAKey.start + 60 * minute)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let token = RSAKey("key \(number)", of: Self.new).token(["exp": RSAKey.start + 1000])
                        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(token) }
                    }
                }
            }
            #expect(issuer.requests == 1 + Int(minute))
        }
    }

    // MARK: Reading a key set

    @Test func `keys that are not for RS256 are passed over`() throws {
        let small = RSAKey("small", _RSA.Signing.KeySize(bitCount: 1024))
        let bare = Self.old.webKey(["kid": "bare"]).filter { !["use", "alg"].contains($0.key) }
        let set = try KeySet(
            json: RSAKey.keySet(
                Self.old.webKey(["use": "enc", "kid": "encryption"]),
                Self.old.webKey(["alg": "RS512", "kid": "rs512"]),
                Self.old.webKey(["kty": "EC", "kid": "curve"]), ["kty": "oct", "kid": "secret", "k": "AAAA"],
                small.webKey(), Self.old.webKey(["kid": 5]), Self.old.webKey().filter { $0.key != "kid" },
                Self.old.webKey(["kid": "even", "e": "AQAA"]), Self.old.webKey(["kid": "one", "e": "AQ"]),
                Self.old.webKey(["kid": "padded", "e": "AQAB="]), Self.old.webKey(["kid": "empty", "n": ""]),
                Self.old.webKey(["kid": "huge", "n": Base64URL.encode(Array(repeating: 255, count: 1025))]),
                Self.old.webKey(["kid": "good"]), Self.new.webKey(["kid": "good"]), bare))
        #expect(set.contains("good") && set.contains("bare"))
        for id in [
            "encryption", "rs512", "curve", "secret", "small", "even", "one", "padded", "empty", "huge", "first",
        ] {
            #expect(!set.contains(id), "\(id)")
        }
        let input = Array("abc".utf8)
        #expect(set.isSignature(Self.old.rs256(Data(input)), of: input, by: "good"))
        #expect(!set.isSignature(Self.new.rs256(Data(input)), of: input, by: "good"), "the first of a name counts")
    }

    @Test func `a key set is 1 MiB and a hundred keys at most`() throws {
        let keys = (0..<101).map { Self.old.webKey(["kid": "\($0)"]) }
        let set = try KeySet(json: Array(JSONSerialization.data(withJSONObject: ["keys": keys])))
        #expect(set.contains("99") && !set.contains("100"))
        let padding = Array(repeating: UInt8(ascii: " "), count: 1 << 20)
        #expect(throws: KeySetFailure("longer than 1 MiB")) {
            try KeySet(json: RSAKey.keySet(Self.old.webKey()) + padding)
        }
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":5}"#] {
            #expect(throws: KeySetFailure("no JSON Web Key Set")) { try KeySet(json: Array(text.utf8)) }
        }
        for text in [#"{"keys":[]}"#, #"{"keys":[5,null,"a",[]]}"#] {
            #expect(throws: KeySetFailure("without a key for RS256")) { try KeySet(json: Array(text.utf8)) }
        }
    }

    /// The key is the example of RFC 7638 §3.1.
    @Test func `the thumbprint of the standard's key`() throws {
        let n =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3o"
            + "knjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgd"
            + "AZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFC"
            + "ur-kEgU8awapJzKnqDKgw"
        let key = try _RSA.Signing.PublicKey(
            n: try #require(Base64URL.decode(n)), e: try #require(Base64URL.decode("AQAB")))
        #expect(try KeySet.thumbprint(of: key) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }
}

/// An issuer's key set, and the number of requests for it.
private final class Publisher: Sendable {
    struct Away: Error {}

    private struct State {
        var keySet: [UInt8]?
        var requests = 0
        var failures = 0
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state: NIOLockedValueBox<State>
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    init(_ keySet: [UInt8]) {
        state = NIOLockedValueBox(State(keySet: keySet))
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    var requests: Int { state.withLockedValue { $0.requests } }
    var failures: Int { state.withLockedValue { $0.failures } }

    /// Replaces the key set; nil means that the issuer is away.
    func publish(_ keySet: [UInt8]?) { state.withLockedValue { $0.keySet = keySet } }
    func noteFailure() { state.withLockedValue { $0.failures += 1 } }

    /// Makes requests wait.
    func hold() { state.withLockedValue { $0.isHeld = true } }

    func release() {
        let held = state.withLockedValue { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once a request waits.
    func asked() async { for await _ in arrivals { return } }

    var fetch: @Sendable () async throws -> [UInt8] {
        { [self] in
            state.withLockedValue { $0.requests += 1 }
            await withCheckedContinuation { continuation in
                let isHeld = state.withLockedValue { state in
                    if state.isHeld { state.held.append(continuation) }
                    return state.isHeld
                }
                if isHeld { arrived.yield() } else { continuation.resume() }
            }
            guard let keySet = state.withLockedValue({ $0.keySet }) else { throw Away() }
            return keySet
        }
    }
}
