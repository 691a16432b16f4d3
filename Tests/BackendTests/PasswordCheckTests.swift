import Backend
import Contract
import ContractCheck
import ContractServer
import Database
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Identity

/// Failed attempts at a password count, without locking out other users.
@Suite(.timeLimit(.minutes(30))) struct PasswordCheckTests {
    private static let schema = Schema("attempts", [.init("attempts", SignInThrottle.tables)])
    private static let home = ClientAddress("198.51.100.1")
    private static let elsewhere = ClientAddress("203.0.113.1")

    /// A password hasher that waits until it is released, and counts its calls.
    private final class Hashing: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let isHeld = NIOLockedValueBox(false)
        private let begun = NIOLockedValueBox(0)

        var count: Int { begun.withLockedValue { $0 } }

        func hold() { isHeld.withLockedValue { $0 = true } }

        func letGo() {
            isHeld.withLockedValue { $0 = false }
            gate.signal()
        }

        func derive(_ password: [UInt8], _ salt: [UInt8], _ cost: Passwords.Cost, _ length: Int) -> [UInt8] {
            begun.withLockedValue { $0 += 1 }
            if isHeld.withLockedValue({ $0 }) { gate.wait() }
            return Self.key(password, length)
        }

        static func key(_ password: [UInt8], _ length: Int) -> [UInt8] {
            Array((password + Array(repeating: 0, count: length)).prefix(length))
        }
    }

    private struct Fixture: Sendable {
        let database: Database
        let passwords: Passwords
        let check: PasswordCheck
        let throttle: SignInThrottle
        let hashing: Hashing
        let clock = TestClock()

        /// Tries a password, and returns the outcome. The accounts are "a" to "z"; each has the password "right".
        func attempt(
            _ name: String, _ password: String = "right", from address: ClientAddress, isSignIn: Bool = true,
            proceed: @escaping @Sendable (Session) throws -> Void = { _ in }
        ) async -> String {
            let stored = PasswordHash(
                cost: .testing, salt: Array(repeating: 1, count: 16), key: Hashing.key(Array("right".utf8), 32)
            ).text
            let now = clock.source.milliseconds()
            do {
                return try await check.verify(
                    password, from: address, at: now, refusal: Problem(.unauthorized, "wrong"),
                    find: { _ in
                        let isThere = name.utf8.count == 1
                        return .init(isThere ? name : nil, countedAs: name, password: isThere ? stored : nil)
                    },
                    proceed: { account, verified in
                        try await database.write { db in
                            try verified.complete(isSignIn: isSignIn, at: now, in: db)
                            try proceed(db)
                        }
                        return "in"
                    })
            } catch let problem as Problem {
                return problem.message == "wrong" ? "wrong" : String(problem.status.code)
            } catch is Passwords.Overloaded {
                return "overloaded"
            } catch is CancellationError {
                return "cancelled"
            } catch {
                return "away"
            }
        }

        func rows() async throws -> [String] {
            try await database.read { db in
                try db.all("SELECT key, count FROM attempts") { row in
                    "\(try row.get(0, as: String.self).prefix { $0 != " " }) \(try row.get(1, as: Int.self))"
                }.sorted()
            }
        }
    }

    private func withCheck(
        on engine: Stack.Engine, queueLimit: Int = 128, limits: SignInThrottle.Limits = .init(),
        _ body: (Fixture) async throws -> Void
    ) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            let hashing = Hashing()
            let passwords = Passwords(
                cost: .testing, threads: 1, queueLimit: queueLimit, derive: hashing.derive)
            let throttle = SignInThrottle(
                limits: limits, secret: .ofTests(1), errorMessages: ErrorMessages())
            try await body(
                Fixture(
                    database: database, passwords: passwords,
                    check: PasswordCheck(database: database, passwords: passwords, throttle: throttle),
                    throttle: throttle, hashing: hashing))
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aWrongPasswordCountsAndARightOneDoesNot(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check throws in
            for _ in 0..<30 { #expect(await check.attempt("a", from: Self.home) == "in") }
            #expect(try await check.rows() == [])
            for _ in 0..<10 { #expect(await check.attempt("a", "x", from: Self.home) == "wrong") }
            #expect(try await check.rows() == ["sign-in 10"])
            #expect(await check.attempt("a", from: Self.home) == "429")
            #expect(check.hashing.count == 40)
            check.clock.advance(by: .seconds(60))
            #expect(await check.attempt("a", from: Self.home) == "in")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func uncheckedPasswordsDoNotCountAsFailures(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine, queueLimit: 0) { check in
            check.hashing.hold()
            async let running = check.attempt("b", from: Self.home)
            while check.hashing.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<30 { #expect(await check.attempt("a", from: Self.home) == "overloaded") }
            check.hashing.letGo()
            #expect(await running == "in")
            #expect(await check.attempt("a", from: Self.home) == "in")
            #expect(try await check.rows() == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aCancelledCheckDoesNotCountAsAFailure(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check in
            check.hashing.hold()
            async let running = check.attempt("b", from: Self.home)
            while check.hashing.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
            let waiting = (0..<20).map { _ in Task { await check.attempt("a", "x", from: Self.elsewhere) } }
            while check.passwords.waiting < 10 { try await Task.sleep(for: .milliseconds(1)) }
            for task in waiting { task.cancel() }
            for task in waiting { #expect(["cancelled", "429", "away"].contains(await task.value)) }
            check.hashing.letGo()
            #expect(await running == "in")
            #expect(try await check.rows() == [])
        }
    }

    /// An attempt that cannot be given back while the database is away is given back later.
    @Test(arguments: Stack.Engine.available)
    func aDatabaseThatIsAwayMakesNoFailures(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check in
            struct Away: Error {}
            for _ in 0..<20 {
                #expect(await check.attempt("a", from: Self.home, proceed: { _ in throw Away() }) == "away")
            }
            #expect(try await check.rows() == [])
            for _ in 0..<9 { #expect(await check.attempt("a", "x", from: Self.home) == "wrong") }
            check.hashing.hold()
            async let hidden = check.attempt("a", from: Self.home)
            while check.hashing.count < 30 { try await Task.sleep(for: .milliseconds(1)) }
            try await check.database.write { try $0.run("ALTER TABLE attempts RENAME TO gone") }
            check.hashing.letGo()
            #expect(await hidden == "away")
            try await check.database.write { try $0.run("ALTER TABLE gone RENAME TO attempts") }
            #expect(try await check.rows().contains("sign-in 10"))
            #expect(await check.attempt("a", from: Self.home) == "in")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anAddressThatSpraysIsStoppedForAllAccountsButItsOwn(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check in
            #expect(await check.attempt("a", from: ClientAddress("2001:db8::1")) == "in")
            // Many attempts arrive at once, from all addresses of one subscriber's network.
            let results = try await together(150, width: 24) { index in
                await check.attempt("name \(index)", "x", from: ClientAddress("2001:db8::\(index)"))
            }
            #expect(results.filter { $0 == "wrong" }.count == 100)
            #expect(results.filter { $0 == "429" }.count == 50)
            let hashes = check.hashing.count
            #expect(await check.attempt("b", from: ClientAddress("2001:db8::ffff")) == "429")
            #expect(check.hashing.count == hashes)
            // Neither a user who has signed in from that network before nor a user elsewhere is held back.
            #expect(await check.attempt("a", from: ClientAddress("2001:db8::ffff")) == "in")
            #expect(await check.attempt("b", from: ClientAddress("2001:db8:0:1::1")) == "in")
            check.clock.advance(by: .seconds(3600))
            #expect(await check.attempt("b", from: ClientAddress("2001:db8::ffff")) == "in")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func usersWhoSignedInAreNotLockedOutByOthers(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check in
            try await check.database.write { db in
                try check.throttle.remember(Self.home, of: "a", at: check.clock.source.milliseconds(), in: db)
            }
            for index in 0..<110 {
                let expected = index < 100 ? "wrong" : "429"
                #expect(await check.attempt("a", "x", from: ClientAddress("203.0.113.\(index)")) == expected)
            }
            #expect(await check.attempt("a", from: Self.elsewhere) == "429")
            #expect(await check.attempt("a", from: Self.home) == "in")
            check.clock.advance(by: .seconds(31 * 24 * 3600))
            #expect(await check.attempt("a", from: Self.elsewhere) == "in")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func forgettingAnAccountLeavesNoRows(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check in
            let now = check.clock.source.milliseconds()
            #expect(await check.attempt("a", from: Self.home) == "in")
            _ = await check.attempt("a", "x", from: Self.elsewhere)
            _ = await check.attempt("name a", "x", from: Self.home)
            _ = await check.attempt("b", "x", from: Self.elsewhere)
            try await check.database.write { db in
                for address in [Self.home, Self.elsewhere] {
                    _ = try check.throttle.countEmail(to: "a@example.com", from: address, at: now, in: db)
                }
                try check.throttle.forget(account: "a", names: ["name a"], email: "a@example.com", in: db)
            }
            // The rows of b and of the addresses stay: creating and deleting accounts must not extend an address's
            // budget.
            #expect(try await check.rows() == ["address 1", "address 2", "sign-in 1", "sign-in 1"])
            let isKnown = try await check.database.read { try $0.exists("SELECT 1 FROM familiar_addresses") }
            #expect(!isKnown)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aMailboxGetsFiveEmailsFromAllClientsTogether(_ engine: Stack.Engine) async throws {
        try await withCheck(on: engine) { check in
            func remind(_ address: String) async throws -> Bool {
                try await check.database.write { db in
                    try check.throttle.countEmail(
                        to: "a@example.com", from: ClientAddress(address), at: check.clock.source.milliseconds(), in: db
                    )
                }
            }
            var sent: [Bool] = []
            for index in 0..<30 { sent.append(try await remind(index == 0 ? "127.0.0.1" : "203.0.113.\(index)")) }
            #expect(sent == Array(repeating: true, count: 5) + Array(repeating: false, count: 25))
            for _ in 0..<4 { #expect(try await remind("203.0.113.1") == false) }
            await #expect(throws: Problem.self) { try await remind("203.0.113.1") }
            check.clock.advance(by: .seconds(3600))
            #expect(try await remind("203.0.113.1"))
        }
    }
}
