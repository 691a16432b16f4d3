import Contract
import ContractClient
import ContractServer
import Database
import DeuceDiaryClient
import DeuceDiaryTestHost
import DunbarClient
import DunbarService
import Foundation
import GTSDClient
import GTSDService
import Identity
import MessengerClient
import MessengerService
import MessengerTestHost
import Testbed
import Testing

@testable import Backend

/// Who may register holds in every API, for its SDK: what the operator has closed or barred, invitation codes, and terms
/// that must be accepted.
@Suite(.timeLimit(.minutes(30))) struct RegistrationTests {
    /// An API with a registration, as a client of its SDK sees it.
    struct Door: Sendable {
        let api: String
        let clock: TestClock
        let database: Database
        let about: @Sendable () async throws -> About
        /// Registers a person, and returns the refusal; nil for none.
        let register:
            @Sendable (_ name: String, _ email: String, _ terms: String?, _ code: String?) async throws -> String?
        /// Signs in, and returns the refusal; nil for none.
        let signIn: @Sendable (_ name: String, _ email: String) async throws -> String?
        /// Asks for another address with a person's session, and returns the refusal; nil for none.
        let change: @Sendable (_ name: String, _ email: String, _ to: String) async throws -> String?
        /// Returns what `concord people show` prints.
        let show: @Sendable (_ id: String) async throws -> String

        func register(_ name: String, email: String? = nil, terms: String? = nil, code: String? = nil) async throws
            -> String?
        {
            try await register(name, email ?? "\(name)@example.com", terms, code)
        }

        func set(_ state: RegistrationState) async throws {
            try await database.write { try Registration.set(state, in: $0) }
        }

        func makeCode(uses: Int = 1, expiresAt: Int64? = nil) async throws -> String {
            let (code, now) = (TypedCode.make(), clock.source.milliseconds())
            _ = try await database.write {
                try InvitationCodes.insert(code, uses: uses, expiresAt: expiresAt, at: now, in: $0)
            }
            return code
        }

        func bar(_ kind: Bars.Kind, _ text: String) async throws {
            let now = clock.source.milliseconds()
            _ = try await database.write {
                try Bars.add(try Bars.value(kind, of: text), kind, because: "x", at: now, in: $0)
            }
        }

        func used() async throws -> [Int64] { try await database.read { try InvitationCodes.all(in: $0).map(\.used) } }
    }

    static let apis = ["messenger", "gtsd", "dunbar"]
    static let cases = Stack.all.flatMap { stack in apis.map { (stack, $0) } }

    /// Returns the refusal that an SDK gets; nil for none.
    private static func refusal(_ body: () async throws -> Void) async throws -> String? {
        do {
            try await body()
            return nil
        } catch let error as ContractClient.APIError {
            return "\(error.status.code) \(error.message)"
        } catch Dunbar.APIError.serverError(let status, let message) {
            return "\(status) \(message ?? "")"
        } catch Dunbar.APIError.unauthorized {
            return "401"
        }
    }

    private func withDoor(
        _ api: String, on stack: Stack, _ setup: TestSetup = TestSetup(), _ body: @escaping (Door) async throws -> Void
    ) async throws {
        let password = "Secret-123"
        switch api {
        case "messenger":
            try await withNodes(of: HostedMessenger(), on: stack, setup) { nodes in
                let host = nodes[0]
                @Sendable func client() -> MessengerClient {
                    MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                }
                try await body(
                    Door(
                        api: api, clock: host.clock, database: host.database,
                        about: { try await client().send(GetAbout<Messenger>()) },
                        register: { name, email, terms, code in
                            try await Self.refusal {
                                try await client().send(
                                    Messenger.Register(
                                        username: name, email: email, password: password, acceptedTerms: terms,
                                        invitationCode: code))
                            }
                        },
                        signIn: { name, _ in
                            try await Self.refusal { try await client().signIn(username: name, password: password) }
                        },
                        change: { name, _, other in
                            let client = client()
                            try await client.signIn(username: name, password: password)
                            return try await Self.refusal {
                                try await client.send(Messenger.ChangeEmail(email: other, password: password))
                            }
                        }, show: { try await host.perform(ShowPerson(NamedPerson(id: $0), format: .text)) }))
            }
        case "gtsd":
            try await withNodes(of: HostedGTSD(), on: stack, setup) { nodes in
                let host = nodes[0]
                @Sendable func client() -> GTSDClient {
                    GTSDClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                }
                try await body(
                    Door(
                        api: api, clock: host.clock, database: host.database,
                        about: { try await client().send(GetAbout<GTSD>()).data },
                        register: { _, email, terms, code in
                            try await Self.refusal {
                                try await client().signUp(
                                    email: email, password: password, acceptedTerms: terms, invitationCode: code)
                            }
                        },
                        signIn: { _, email in
                            try await Self.refusal { try await client().signIn(email: email, password: password) }
                        },
                        change: { _, email, other in
                            let client = client()
                            try await client.signIn(email: email, password: password)
                            return try await Self.refusal {
                                try await client.send(GTSD.ChangeEmail(email: other, password: password))
                            }
                        }, show: { try await host.perform(ShowPerson(NamedPerson(id: $0), format: .text)) }))
            }
        default:
            let hosted = HostedDunbar(
                settings: { DunbarService.Settings(publicURL: $0) }, images: { _ in { _, _, _ in nil } },
                mailer: { _ in TestMailbox() })
            try await withNodes(of: hosted, on: stack, setup) { nodes in
                let host = nodes[0]
                @Sendable func client() -> DunbarClient {
                    DunbarClient(
                        baseURL: host.baseURL, store: MemoryCookieStore(), transport: host.transport, retry: .never)
                }
                try await body(
                    Door(
                        api: api, clock: host.clock, database: host.database,
                        about: { try await client().send(GetAbout<Dunbar>()) },
                        register: { name, email, terms, code in
                            try await Self.refusal {
                                try await client().register(
                                    .init(
                                        username: name, email: email, password: password, displayName: "Some One",
                                        acceptedTerms: terms, invitationCode: code))
                            }
                        },
                        signIn: { name, _ in
                            try await Self.refusal { try await client().signIn(username: name, password: password) }
                        },
                        change: { name, _, other in
                            let client = client()
                            try await client.signIn(username: name, password: password)
                            return try await Self.refusal {
                                try await client.send(Dunbar.ChangeEmail(email: other, password: password))
                            }
                        }, show: { try await host.perform(ShowPerson(NamedPerson(id: $0), format: .text)) }))
            }
        }
    }

    // MARK: The door

    @Test("Closed, nobody registers, and those who have an account sign in", arguments: cases)
    func closed(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { door in
            #expect(try await door.register("anna") == nil)
            try await door.set(.closed)
            #expect(try await door.register("ben") == "403 Registration is closed")
            #expect(try await door.register("ben", code: "K7QM-2XWA-9DHT") == "403 Registration is closed")
            #expect(try await door.signIn("anna", "anna@example.com") == nil)
            try await door.set(.open)
            #expect(try await door.register("ben", code: "nothing that counts") == nil)
        }
    }

    @Test("Invited, those register who have a code, as often as it says and until it ends", arguments: cases)
    func codes(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { door in
            #expect(try await door.register("anna") == nil)
            try await door.set(.invite)
            #expect(try await door.register("ben") == "403 Registration needs an invitation code")
            #expect(try await door.register("ben", code: "K7QM-2XWA-9DHT") == "403 Invitation code is not valid")
            let end = door.clock.source.milliseconds() + 60_000
            let code = try await door.makeCode(uses: 2, expiresAt: end)
            // A registration that fails for another reason does not use the code up.
            #expect(try await door.register("anna", code: code) != nil)
            #expect(try await door.used() == [0])
            #expect(try await door.register("ben", code: code) == nil)
            let typed = " " + code.lowercased().replacingOccurrences(of: "-", with: " ")
            #expect(try await door.register("carl", code: typed) == nil)
            #expect(try await door.used() == [2])
            #expect(try await door.register("dora", code: code) == "403 Invitation code is not valid")
            let other = try await door.makeCode(uses: 2, expiresAt: end)
            #expect(try await door.register("dora", code: other) == nil)
            door.clock.advance(by: .seconds(60))
            #expect(try await door.register("emil", code: other) == "403 Invitation code is not valid")
        }
    }

    @Test("A code for one is one registration's, however many come at once", arguments: cases)
    func together(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { door in
            try await door.set(.invite)
            let code = try await door.makeCode()
            let results = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<20 { group.addTask { try await door.register("person\(index)", code: code) } }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(results.count { $0 == nil } == 1)
            // Those who come when it is used up have given a wrong code, and these are limited.
            #expect(
                results.allSatisfy {
                    $0 == nil || $0 == "403 Invitation code is not valid" || $0?.hasPrefix("429") == true
                })
            #expect(try await door.used() == [1])
        }
    }

    @Test("Codes are guessed no faster than passwords", arguments: cases)
    func guessing(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { door in
            try await door.set(.invite)
            let code = try await door.makeCode(uses: 20)
            for index in 0..<10 {
                #expect(
                    try await door.register("x\(index)x", code: "no \(index)") == "403 Invitation code is not valid")
            }
            #expect(try await door.register("anna", code: "no 10")?.hasPrefix("429") == true)
            #expect(try await door.register("anna", code: code)?.hasPrefix("429") == true)
            door.clock.advance(by: .seconds(61))
            for index in 0..<12 { #expect(try await door.register("y\(index)y", code: code) == nil) }
        }
    }

    @Test("A registration that is repeated under its key is answered as before, although the door is closed now")
    func repeats() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let client = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
            let request = Messenger.Register(username: "anna", email: "anna@example.com", password: "Secret-123")
            let first = try await client.send(request, idempotencyKey: "one")
            try await host.database.write { try Registration.set(.closed, in: $0) }
            #expect(try await client.send(request, idempotencyKey: "one") == first)
        }
    }

    private static let needsNodes: ConditionTrait = .enabled(
        if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL")

    @Test("What one node has closed is closed on the other, and a code is used once on both", needsNodes)
    func nodes() async throws {
        try await withMessengerNodes(2, on: Stack(.postgreSQL, .inProcess)) { nodes in
            @Sendable func register(_ index: Int, _ code: String?) async throws -> String? {
                let host = nodes[index % 2]
                let client = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                return try await Self.refusal {
                    try await client.send(
                        Messenger.Register(
                            username: "person\(index)", email: "\(index)@example.com", password: "Secret-123",
                            invitationCode: code))
                }
            }
            #expect(try await register(0, nil) == nil)
            try await nodes[0].database.write { try Registration.set(.invite, in: $0) }
            #expect(try await register(1, nil) == "403 Registration needs an invitation code")
            let code = TypedCode.make()
            _ = try await nodes[0].database.write {
                try InvitationCodes.insert(code, uses: 3, expiresAt: nil, at: 0, in: $0)
            }
            let results = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 2..<22 { group.addTask { try await register(index, code) } }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(results.count { $0 == nil } == 3)
        }
    }

    // MARK: Bars

    @Test("Who is barred cannot register, nor change to a barred address", arguments: cases)
    func barred(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { door in
            #expect(try await door.register("anna") == nil)
            try await door.bar(.domain, "Spam.example")
            try await door.bar(.address, "Ben@Example.com")
            let refused = "403 Email address is not allowed here"
            for email in [
                "a@spam.example", "A@SPAM.Example", "a@mail.spam.example", "ben@example.com", "BEN@example.COM",
            ] {
                #expect(try await door.register("ben", email: email) == refused, "\(email)")
                #expect(try await door.change("anna", "anna@example.com", email) == refused, "\(email)")
            }
            for (index, email) in ["a@notspam.example", "a@spam.example.org", "benn@example.com"].enumerated() {
                #expect(try await door.register("free\(index)", email: email) == nil, "\(email)")
            }
            #expect(try await door.change("anna", "anna@example.com", "other@example.com") == nil)
        }
    }

    @Test("An address that was barred after it was asked for is not confirmed", arguments: Stack.Engine.available)
    func confirmations(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let client = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
            let id = try await client.send(
                Messenger.Register(username: "anna", email: "anna@example.com", password: "Secret-123")
            ).id.rawValue
            let end = host.clock.source.milliseconds() + 60_000
            try await host.database.write { db in
                _ = try Bars.add("spam.example", .domain, because: "", at: 0, in: db)
                try db.run(
                    """
                    INSERT INTO email_changes (user_id, hash, email, email_key, expires_at)
                    VALUES (\(id), \(Digest.sha256("abc")), 'a@spam.example', 'a@spam.example', \(end))
                    """)
            }
            let refusal = try await Self.refusal { try await client.send(Messenger.VerifyEmail(token: "abc")) }
            #expect(refusal == "400 Invalid or expired verification token")
            _ = try await host.database.write { try Bars.remove("spam.example", in: $0) }
            try await client.send(Messenger.VerifyEmail(token: "abc"))
        }
    }

    @Test("From a barred network no one registers or signs in", arguments: cases)
    func networks(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { door in
            #expect(try await door.register("anna") == nil)
            try await door.bar(.network, "203.0.113.0/24")
            #expect(try await door.signIn("anna", "anna@example.com") == nil)
            try await door.bar(.network, "127.0.0.1/8")
            let refused = "403 Access from this network is not allowed"
            #expect(try await door.register("ben") == refused)
            #expect(try await door.signIn("anna", "anna@example.com") == refused)
            _ = try await door.database.write { try Bars.remove("127.0.0.0/8", in: $0) }
            #expect(try await door.signIn("anna", "anna@example.com") == nil)
        }
    }

    @Test("A bar is found by every network and domain that contains what comes", arguments: Stack.Engine.available)
    func values(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            func bars(_ kind: Bars.Kind, _ text: String) async throws {
                _ = try await host.database.write {
                    try Bars.add(try Bars.value(kind, of: text), kind, because: "", at: 0, in: $0)
                }
            }
            func isFree(_ address: String, _ email: String? = nil) async throws -> Bool {
                try await host.database.read { db in
                    do {
                        try Bars.requireNone(against: email, from: ClientAddress(address), in: db)
                        return true
                    } catch is Problem { return false }
                }
            }
            try await bars(.network, "2001:db8::/32")
            try await bars(.network, "192.0.2.7")
            try await bars(.network, "::ffff:198.51.100.0/120")
            for address in ["2001:db8:1::5", "192.0.2.7", "::ffff:192.0.2.7", "198.51.100.200"] {
                #expect(try await !isFree(address), "\(address)")
            }
            for address in ["2001:db9::1", "192.0.2.8", "198.51.101.1", "unknown"] {
                #expect(try await isFree(address), "\(address)")
            }
            try await bars(.domain, "Bücher.example.")
            #expect(try await !isFree("unknown", "a@BÜCHER.example"))
            #expect(try await !isFree("unknown", "a@ｂücher.example."))
            #expect(try await isFree("unknown", "a@example"))

            let mistakes: [(kind: Bars.Kind, text: String)] = [
                (.network, "0.0.0.0/0"), (.network, "::/0"), (.network, "10.0.0.0/33"), (.network, "example.com"),
                (.network, ""), (.address, "anna"), (.address, ""), (.domain, "a@b"), (.domain, ""),
                (.domain, "10.0.0.0/8"),
            ]
            for (kind, text) in mistakes {
                #expect(throws: OperatorError.self, "\(kind) \(text)") { try Bars.value(kind, of: text) }
            }
        }
    }

    // MARK: Terms

    @Test("Terms that must be accepted are, and what is accepted is kept", arguments: cases)
    func terms(_ stack: Stack, _ api: String) async throws {
        var setup = TestSetup()
        setup.about = About(name: "Club", terms: "https://example.com/terms", version: "2026-11")
        setup.requiresTerms = true
        let about = setup.about
        let sentence = "The terms of version 2026-11 must be accepted"
        let refused: String? = api == "gtsd" ? "400 Validation failed: acceptedTerms: \(sentence)" : "400 \(sentence)"
        try await withDoor(api, on: stack, setup) { (door: Door) async throws -> Void in
            #expect(try await door.about() == about)
            #expect(try await door.register("anna") == refused)
            #expect(try await door.register("anna", terms: "2025-01") == refused)
            #expect(try await door.register("anna", terms: "2026-11") == nil)
            #expect(try await door.show("1").contains("accepted terms: \"2026-11\"\n"))
        }
    }

    @Test("Without the setting terms are optional, and kept", arguments: cases)
    func optionalTerms(_ stack: Stack, _ api: String) async throws {
        try await withDoor(api, on: stack) { (door: Door) async throws -> Void in
            #expect(try await door.about() == About())
            #expect(try await door.register("anna") == nil)
            #expect(try await door.register("ben", terms: "1.0") == nil)
            #expect(try await !door.show("1").contains("terms"))
            #expect(try await door.show("2").contains("accepted terms: \"1.0\"\n"))
        }
    }

    // MARK: Deuce Diary

    @Test("Deuce Diary refuses the first token of a user while it is closed, and of a barred one", arguments: Stack.all)
    func firstTokens(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            @Sendable func use(_ user: String, _ email: String) async throws -> String? {
                let token = try host.issuer.issue(user, email: email, firstName: "A", lastName: "B")
                let client = DeuceDiaryClient(
                    baseURL: host.baseURL, transport: host.transport, retry: .never, token: { token })
                return try await Self.refusal { try await client.send(DeuceDiary.GetUser()) }
            }
            #expect(try await use("user_anna", "anna@example.com") == nil)
            try await host.database.write { try Registration.set(.closed, in: $0) }
            #expect(try await use("user_ben", "ben@example.com") == "403 Registration is closed")
            #expect(try await use("user_anna", "anna@example.com") == nil)
            try await host.database.write { db in
                try Registration.set(.open, in: db)
                _ = try Bars.add("spam.example", .domain, because: "", at: 0, in: db)
            }
            #expect(try await use("user_carl", "carl@spam.example") == "403 Email address is not allowed here")
            #expect(try await use("user_ben", "ben@example.com") == nil)
        }
    }
}
