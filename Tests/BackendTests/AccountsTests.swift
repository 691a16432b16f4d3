import Backend
import Contract
import ContractCheck
import ContractServer
import Database
import Foundation
import HTTPTypes
import Identity
import Mail
import Testbed
import Testing

/// The accounts of a made-up API. The first part of this file is all that such an API has to define.
private enum Users: EmailAccountTable {
    struct Named {}
    typealias ID = Identifier<Named>

    static let gone = Problem(.unauthorized, "gone")
    static let wrongSignIn = Problem(.unauthorized, "wrong name or password")
    static let wrongPassword = Problem(.forbidden, "wrong password")
    static func emailKey(_ address: String) -> String { address.lowercased() }

    static let schema = Schema(
        "accounts",
        [
            .init(
                "accounts",
                [
                    """
                    CREATE TABLE users (
                        id {ID}, email TEXT NOT NULL, email_key {KEY} NOT NULL UNIQUE, password TEXT NOT NULL,
                        is_verified INTEGER NOT NULL DEFAULT 0)
                    """
                ] + Accounts<Users>.tables + RefreshTokens<ID>.tables + AccountEmails<Users>.tables())
        ])
}

/// The service of the made-up API.
private struct Service: Sendable {
    let database: Database
    let accounts: Accounts<Users>
    let sessions: TokenSessions<Users.ID>
    let refreshTokens: RefreshTokens<Users.ID>
    let emails: AccountEmails<Users>
    let clock: TestClock

    init(_ database: Database, mailer: any Mailer, clock: TestClock) {
        let (key, time) = (Secret.ofTests(7), clock.source)
        self.database = database
        self.clock = clock
        accounts = Accounts(
            database: database, passwords: Passwords(cost: .testing), secret: key, errorMessages: ErrorMessages(),
            time: time)
        sessions = TokenSessions(
            database: database, secret: key, rules: .init(access: 60, refresh: 3600, invalid: Users.gone), time: time)
        refreshTokens = RefreshTokens(sessions)
        emails = AccountEmails(
            database: database, mailer: mailer, throttle: accounts.throttle, secret: key, time: time,
            texts: AccountEmailTexts(
                verification: { MailMessage(to: $0, subject: "verify", text: $1) },
                reset: { MailMessage(to: $0, subject: "reset", text: $1) },
                help: { MailMessage(to: $0, subject: "help", text: $1) },
                change: { MailMessage(to: $0, subject: "change", text: $1) },
                changeNotice: { MailMessage(to: $0, subject: "notice", text: "") }), report: { _, _, _ in })
    }

    func signUp(_ email: String, _ password: String, _ info: RequestInfo) async throws -> Answer<Users.ID> {
        let token = RandomToken.make()
        return try await accounts.signUp(password: password, info, signsIn: false) { [emails] password, now, db in
            let id: Users.ID? = try db.value(
                """
                INSERT INTO users (email, email_key, password) VALUES (\(email), \(Users.emailKey(email)), \(password))
                ON CONFLICT DO NOTHING RETURNING id
                """)
            guard let id else { throw Problem(.conflict, "taken") }
            try emails.sendVerification(to: email, of: id, token: token, at: now, in: db)
            return (id, Answer(.created, id))
        }
    }

    func signIn(_ email: String, _ password: String, _ info: RequestInfo) async throws -> (Users.ID, NewSession) {
        let (key, session) = (Users.emailKey(email), NewSession())
        let user = try await accounts.signIn(
            as: key, where: "email_key = \(key)", password: password, info
        ) { [refreshTokens] user, now, db in
            try refreshTokens.begin(session, for: user, at: now, in: db)
            return user
        }
        return (user, session)
    }

    func exchange(_ old: String, for new: String) async throws -> RefreshTokens<Users.ID>.Exchange {
        let now = clock.source.milliseconds()
        return try await database.write { [refreshTokens] db in
            try refreshTokens.exchange(old, for: new, at: now, in: db)
        }
    }

    func delete(_ user: Users.ID, _ password: String, _ info: RequestInfo) async throws {
        try await accounts.confirm(password, of: user, info) { [accounts, sessions] _, db in
            let email: String? = try db.value("SELECT email_key FROM users WHERE id = \(user)")
            try sessions.endAll(of: user, in: db)
            try AccountEmails<Users>.forget(user, accounts.throttle, in: db)
            try accounts.forget(user, logins: [email].compactMap(\.self), email: email, in: db)
            try db.run("DELETE FROM users WHERE id = \(user)")
        }
    }
}

@Suite(.timeLimit(.minutes(30))) struct AccountsTests {
    private static let email = "anna@example.com"

    private func info(_ address: String = "203.0.113.7", key: String? = nil) -> RequestInfo {
        RequestInfo(
            id: "r", address: ClientAddress(address), headers: [:],
            idempotencyKey: key.map { IdempotencyKey(scope: "anyone POST /x", text: $0, fingerprints: [[1]]) })
    }

    private func withService(
        _ engine: Stack.Engine, _ body: (Service, TestMailbox) async throws -> Void
    ) async throws {
        try await withTestDatabase(on: engine) { place in
            let (database, mailbox) = (try place.open(Users.schema), TestMailbox())
            try await body(Service(database, mailer: mailbox, clock: TestClock()), mailbox)
            try await database.close()
        }
    }

    private func refusal(_ body: () async throws -> Void) async throws -> String {
        do {
            try await body()
            return "none"
        } catch let problem as Problem {
            return problem.status == .tooManyRequests ? "429" : problem.message
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aSignUpMakesOneAccountPerKeyAndName(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, _ throws in
            let first = try await service.signUp(Self.email, "right", info(key: "k"))
            let second = try await service.signUp(Self.email, "right", info(key: "k"))
            #expect(try first.decoded() == second.decoded())
            #expect(!first.isReplay && second.isReplay)
            #expect(try await refusal { _ = try await service.signUp("Anna@Example.com", "x", info()) } == "taken")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aSessionLastsUntilItEnds(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, _ throws in
            _ = try await service.signUp(Self.email, "right", info())
            for (name, password) in [(Self.email, "wrong"), ("nobody@example.com", "right")] {
                let said = try await refusal { _ = try await service.signIn(name, password, info()) }
                #expect(said == "wrong name or password")
            }
            let (user, session) = try await service.signIn("ANNA@example.com", "right", info())
            let access = try await service.sessions.accessToken(for: user, session: session.id)
            let caller = try await service.sessions.caller(access)
            #expect(caller.user == user && caller.session == session.id)
            // Another node looked the session up a moment ago, and has it in its cache.
            let other = Service(service.database, mailer: TestMailbox(), clock: service.clock)
            _ = try await other.sessions.caller(access)
            try await service.database.write { [sessions = service.sessions] in try sessions.end(session.id, in: $0) }
            #expect(try await refusal { _ = try await service.sessions.caller(access) } == "gone")
            #expect(try await other.sessions.isOpen(caller))
            #expect(try await other.sessions.isOpenNow(caller) == false)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aRefreshTokenWorksOnce(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, _ throws in
            _ = try await service.signUp(Self.email, "right", info())
            let (user, session) = try await service.signIn(Self.email, "right", info())
            let caller = Caller(user: user, session: session.id, expiresAt: 0)
            guard case .renewed(user, session.id) = try await service.exchange(session.refreshToken, for: "two") else {
                Issue.record("not renewed")
                return
            }
            // The answer may have been lost, so the old token is accepted again for ten seconds, unless the new one has
            // been used.
            guard case .renewed = try await service.exchange(session.refreshToken, for: "three"),
                case .renewed = try await service.exchange("two", for: "four")
            else {
                Issue.record("not renewed")
                return
            }
            #expect(try await service.sessions.isOpen(caller))
            guard case .refused = try await service.exchange(session.refreshToken, for: "five") else {
                Issue.record("a stolen token is taken")
                return
            }
            #expect(try await service.sessions.isOpen(caller) == false)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func ofTokensThatAreMadeFromOneTheFirstUsedEndsTheOthers(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, _ throws in
            _ = try await service.signUp(Self.email, "right", info())
            let (user, session) = try await service.signIn(Self.email, "right", info())
            let caller = Caller(user: user, session: session.id, expiresAt: 0)
            func isRenewed(_ old: String, _ new: String) async throws -> Bool {
                if case .renewed = try await service.exchange(old, for: new) { true } else { false }
            }
            for new in ["two", "three", "four"] { #expect(try await isRenewed(session.refreshToken, new)) }
            #expect(try await isRenewed("three", "five"))
            for other in ["two", "four"] { #expect(try await isRenewed(other, "none") == false) }
            // The answer to the first use may have been lost, too.
            #expect(try await isRenewed("three", "six"))
            #expect(try await isRenewed("six", "seven"))
            #expect(try await isRenewed("five", "none") == false)
            #expect(try await service.sessions.isOpen(caller))
            #expect(try await isRenewed("seven", "eight"))
            #expect(try await isRenewed(session.refreshToken, "none") == false)
            #expect(try await isRenewed("eight", "none") == false)
            #expect(try await service.sessions.isOpen(caller) == false)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func passwordChecksAreThrottledLikeSignIns(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, _ throws in
            let user = try await service.signUp(Self.email, "right", info()).decoded()
            var said: [String] = []
            for _ in 0..<12 { said.append(try await refusal { try await service.delete(user, "x", info()) }) }
            #expect(said == Array(repeating: "wrong password", count: 10) + ["429", "429"])
            // Password checks and sign-ins count towards one limit.
            #expect(try await refusal { _ = try await service.signIn(Self.email, "right", info()) } == "429")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aDeletionLeavesNothing(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, mailbox throws in
            let email = "rare-name@mail.example"
            _ = try await refusal { _ = try await service.signIn(email, "right", info()) }
            let user = try await service.signUp(email, "right", info(key: "k")).decoded()
            _ = try await service.signIn(email, "right", info())
            _ = try await refusal { _ = try await service.signIn(email, "wrong", info()) }
            try await service.emails.sendReset(to: email, from: info().address)
            try await service.emails.queue.sendDue()
            #expect(Set(mailbox.emails.map(\.subject)) == ["verify", "reset"])
            try await service.delete(user, "right", info())
            let left = try await service.database.read { db in
                try [
                    "users", "sessions", "refresh_tokens", "email_tokens", "reset_tokens", "familiar_addresses",
                    "once_only", "once_only_subjects", "outbox",
                ].filter { try db.exists("SELECT 1 FROM \(SQL(trusted: $0))") }
            }
            #expect(left == [])
            // The counters of addresses stay for an hour: creating and deleting accounts must not reset them.
            let counters = try await service.database.read { db in
                try db.all("SELECT key FROM attempts") { try $0.get(0, as: String.self).prefix { $0 != " " } }
            }
            #expect(Set(counters).isSubset(of: ["address", "register"]))
            #expect(try await refusal { try await service.delete(user, "right", info()) } == "gone")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func emailsVerifyAddressesAndResetPasswords(_ engine: Stack.Engine) async throws {
        try await withService(engine) { service, mailbox throws in
            _ = try await service.signUp(Self.email, "right", info())
            try await service.emails.queue.sendDue()
            let verification = try #require(mailbox.emails.first).text
            #expect(try await service.emails.verify("x") == false)
            #expect(try await service.emails.verify(verification))
            for email in ["ANNA@example.com", "nobody@example.com"] {
                try await service.emails.sendReset(to: email, from: info().address)
            }
            try await service.emails.queue.sendDue()
            #expect(mailbox.emails.count == 2)
            let token = try #require(mailbox.emails.last).text
            #expect(try await service.emails.isValid(resetToken: token))
            let hash = try await service.accounts.hash("new", from: info().address)
            let sessions = service.sessions
            let set = { @Sendable in
                try await service.emails.setPassword(hash, byResetToken: token) { user, db in
                    try sessions.endAll(of: user, in: db)
                }
            }
            // The token works once, even when several requests use it at the same time.
            let results = try await together(8, width: 8) { _ in try await set() }
            #expect(results.filter { $0 }.count == 1)
            #expect(
                try await refusal { _ = try await service.signIn(Self.email, "right", info()) }
                    == "wrong name or password")
            _ = try await service.signIn(Self.email, "new", info())
        }
    }
}
