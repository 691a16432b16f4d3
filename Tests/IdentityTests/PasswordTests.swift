import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import Identity

@Suite(.timeLimit(.minutes(30))) struct PasswordTests {
    private static let passwords = Passwords(cost: .testing, threads: 1)

    /// These are the vectors of RFC 7914 §12, except the one that takes a gigabyte.
    @Test(arguments: [
        (
            "", "", 4, 1, 1,
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        ),
        (
            "password", "NaCl", 10, 8, 16,
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        ),
        (
            "pleaseletmein", "SodiumChloride", 14, 8, 1,
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
        ),
    ])
    func `test vectors`(password: String, salt: String, logN: Int, r: Int, p: Int, expected: String) throws {
        let cost = try #require(Passwords.Cost(logN: logN, blockSize: r, parallelism: p))
        let key = try cost.deriveKey(from: Array(password.utf8), salt: Array(salt.utf8), length: 64)
        #expect(key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }

    /// This is the second vector in the form in which another program would have stored it.
    @Test func `a stored string contains its own parameters`() async throws {
        let stored =
            "$scrypt$ln=10,r=8,p=16$TmFDbA$"
            + "/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA"
        #expect(try await Self.passwords.verify("password", against: stored))
        #expect(try await !Self.passwords.verify("Password", against: stored))
    }

    @Test func `the standard hash has the documented form`() async throws {
        let stored = try await Passwords(threads: 1).hash("correct horse")
        let form = /\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+\/]{22}\$[A-Za-z0-9+\/]{43}/
        #expect(stored.wholeMatch(of: form) != nil)
    }

    @Test(arguments: ["", "a", "pässwörd 🔑", "nul\0byte", String(repeating: "x", count: 5000)])
    func `a password matches its own hash only`(password: String) async throws {
        let stored = try await Self.passwords.hash(password)
        #expect(try await Self.passwords.verify(password, against: stored))
        #expect(try await !Self.passwords.verify(password + "x", against: stored))
        #expect(try await Self.passwords.hash(password) != stored, "every hash has its own salt")
    }

    @Test func `bytes decide and Unicode equivalence does not`() async throws {
        let stored = try await Self.passwords.hash("caf\u{E9}")
        #expect(try await !Self.passwords.verify("cafe\u{301}", against: stored))
    }

    @Test(arguments: [
        "", "$", "$$$$", "plain text", "$scrypt$", "$scrypt$ln=4,r=1,p=1$$", "$scrypt$ln=4,r=1,p=1$AAAA$",
        "$scrypt$ln=4,r=1,p=1$AAAA$AAAA", "$argon2id$ln=4,r=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$r=1,ln=4,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=+4,r=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=-4,r=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=63,r=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=0,r=0,p=0$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=20,r=16,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=99999999999999999999,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1,p=4000000$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1,p=1$!!!!$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=4,r=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA$",
        "$scrypt$ln=4,r=1,p=1$AAAA$" + String(repeating: "A", count: 5000),
    ])
    func `an invalid stored string is false, at the cost of one hash`(stored: String) async throws {
        let counter = Counter()
        let passwords = Passwords(cost: .testing, threads: 1, queueLimit: 1, derive: counter.derive)
        #expect(try await !passwords.verify("password", against: stored))
        #expect(counter.costs == [.testing])
    }

    @Test func `unknown user, wrong and right password each hash once at the same cost`() async throws {
        let counter = Counter()
        let passwords = Passwords(cost: .testing, threads: 1, queueLimit: 1, derive: counter.derive)
        let stored = try await Self.passwords.hash("right")
        #expect(try await !passwords.verify("right", against: nil))
        #expect(counter.costs == [.testing])
        #expect(try await !passwords.verify("wrong", against: stored))
        #expect(counter.costs == [.testing, .testing])
        #expect(try await passwords.verify("right", against: stored))
        #expect(counter.costs == [.testing, .testing, .testing])
    }

    @Test func `not even a key of zeros lets an unknown user in`() async throws {
        let passwords = Passwords(cost: .testing, threads: 1, queueLimit: 1) { _, _, _, length in
            Array(repeating: 0, count: length)
        }
        #expect(try await !passwords.verify("", against: nil))
    }

    @Test(.timeLimit(.minutes(30))) func `more than the queue holds is refused at once`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let passwords = Passwords(cost: .testing, threads: 1, queueLimit: 2) { _, _, _, length in
            gate.wait()
            return Array(repeating: 1, count: length)
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        _ = try await passwords.hash("password")
                        return true
                    } catch {
                        return !(error is Passwords.Overloaded)
                    }
                }
            }
            // One job runs and two wait, so the first answers are the two refusals.
            #expect(await group.next() == false)
            #expect(await group.next() == false)
            for _ in 0..<3 { gate.signal() }
            for await hashed in group { #expect(hashed) }
        }
        gate.signal()
        await #expect(throws: Never.self, "there is room again") { try await passwords.hash("password") }
    }
}

/// Derives keys and records the cost of each.
private final class Counter: Sendable {
    private let noted = NIOLockedValueBox<[Passwords.Cost]>([])

    var costs: [Passwords.Cost] { noted.withLockedValue { $0 } }

    var derive: Passwords.Derivation {
        { [self] password, salt, cost, length in
            noted.withLockedValue { $0.append(cost) }
            return try cost.deriveKey(from: password, salt: salt, length: length)
        }
    }
}
