import ContractCheck
import ContractClient
import Database
import DeuceDiaryClient
import DeuceDiaryTestHost
import DunbarClient
import DunbarService
import DunbarTestHost
import Foundation
import GTSDClient
import GTSDService
import GTSDTestHost
import MessengerClient
import MessengerTestHost
import MonicaClient
import MonicaTestHost
import Testbed
import Testing

@testable import Backend

/// `concord people`: what an operator does to a person holds in every API, for their SDK, and stays undone where a command
/// is wrong.
@Suite(.timeLimit(.minutes(30))) struct PeopleTests {
    /// A person who is signed in with an API's SDK.
    struct Subject: Sendable {
        let api: String
        let id: String
        let clock: TestClock
        let database: Database
        let table: (any PeopleTable.Type)?
        /// Sends a request with the person's session, and returns the refusal; nil for none.
        let use: @Sendable () async throws -> String?
        /// Signs in anew, and returns the refusal; nil for none. Nil for an API whose users do so elsewhere.
        var signIn: (@Sendable () async throws -> String?)?
        let perform: @Sendable (any OperatorCommand) async throws -> String
        let performElsewhere: @Sendable (any OperatorCommand) async throws -> String

        var named: [NamedPerson] { [NamedPerson(id: id)] }
    }

    static let apis = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
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
        } catch is SignedOut {
            return "401"
        } catch MonicaAPIError.forbidden {
            return "403"
        } catch MonicaAPIError.invalidToken {
            return "401"
        }
    }

    private func withSubject(
        _ api: String, on stack: Stack, _ body: @escaping (Subject) async throws -> Void
    ) async throws {
        func subject(
            _ host: TestNode<some HostedAPI>, id: String, signIn: (@Sendable () async throws -> Void)?,
            use: @escaping @Sendable () async throws -> Void
        ) -> Subject {
            var subject = Subject(
                api: api, id: id, clock: host.clock, database: host.database, table: host.api.tableOfPeople,
                use: { try await Self.refusal(use) },
                perform: { try await host.perform($0) }, performElsewhere: { try await host.performElsewhere($0) })
            if let signIn { subject.signIn = { try await Self.refusal(signIn) } }
            return subject
        }
        let (email, password) = ("anna@example.com", "Secret-123")
        switch api {
        case "messenger":
            try await withMessenger(on: stack) { host in
                let client = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                try await client.send(Messenger.Register(username: "anna", email: email, password: password))
                let id = try await client.signIn(username: "anna", password: password)
                let again = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                try await body(
                    subject(host, id: "\(id)", signIn: { try await again.signIn(username: "anna", password: password) })
                    {
                        try await client.send(Messenger.GetMe())
                    })
            }
        case "gtsd":
            try await withGTSD(on: stack) { host in
                let client = GTSDClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                let id = try await client.signUp(email: email, password: password).id
                let again = GTSDClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                try await body(
                    subject(
                        host, id: id.rawValue, signIn: { try await again.signIn(email: email, password: password) }
                    ) {
                        try await client.send(GTSD.GetMe())
                    })
            }
        case "dunbar":
            try await withDunbar(on: stack) { host in
                let (first, again) = (client(host), client(host))
                let id = try await first.register(
                    .init(username: "anna", email: email, password: password, displayName: "Anna Smith")
                ).id
                try await body(
                    subject(
                        host.node, id: "\(id)",
                        signIn: { try await again.signIn(username: "anna", password: password) }
                    ) {
                        try await first.send(Dunbar.GetCurrentUser())
                    })
            }
        case "monica":
            try await withMonica(on: stack) { host in
                let configuration = APIConfiguration(
                    baseURL: host.baseURL, token: try await host.token("anna"), retryCount: 0)
                let client = MonicaAPIClient(configuration: configuration, transport: host.transport)
                let me = try await client.send(Monica.GetMe()).data
                try await body(
                    subject(host, id: "\(me.id)", signIn: nil) {
                        // The SDK answers from what it keeps for a while.
                        await client.forgetAnswers()
                        try await client.send(Monica.GetMe())
                    })
            }
        default:
            try await withDeuceDiary(on: stack) { host in
                let token = try host.issuer.issue("user_anna", email: email, firstName: "Anna", lastName: "Smith")
                let client = DeuceDiaryClient(
                    baseURL: host.baseURL, transport: host.transport, retry: .never, token: { token })
                let id = try await client.send(DeuceDiary.GetUser()).id
                try await body(
                    subject(host, id: id.rawValue, signIn: nil) { try await client.send(DeuceDiary.GetUser()) })
            }
        }
    }

    /// The words of an API for a person who is suspended.
    private func words(_ api: String, _ more: String) -> String {
        // Monica's SDK has one error for every refusal of this kind.
        api == "monica" ? "403" : "403 \(api == "gtsd" ? "Account is deactivated" : "Account is suspended")\(more)"
    }

    private func refused(_ body: () async throws -> Void) async throws -> String {
        let error = await #expect(throws: OperatorError.self) { try await body() }
        return error?.description ?? ""
    }

    // MARK: Finding

    @Test("Each name and address is found by an index", arguments: Stack.Engine.available, apis)
    func indexes(_ engine: Stack.Engine, _ api: String) async throws {
        try await withSubject(api, on: Stack(engine, .inProcess)) { anna in
            let table = try #require(anna.table)
            let plans = try await anna.database.write { db in
                // PostgreSQL would read a table of one row as a whole.
                if engine == .postgreSQL { try db.run("SET LOCAL enable_seqscan = off") }
                return try Self.plans(table, in: db)
            }
            #expect(plans.count >= 2)
            for plan in plans { #expect(plan.joined().contains("people_by_"), "\(plan)") }
        }
    }

    private static func plans<Table: PeopleTable>(_: Table.Type, in db: Session) throws -> [[String]] {
        try Table.searched.map { column in
            try db.plan(of: PeopleSearch.query("anna", of: column, in: Table.self, limit: 50, db))
        }
    }

    // MARK: Suspending

    @Test("Somebody who is suspended is refused within a second, with the reason, until restored", arguments: cases)
    func suspended(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            #expect(try await anna.use() == nil)
            let printed = try await anna.perform(
                SuspendPeople(anna.named, until: nil, because: "spam in groups", format: .text))
            #expect(printed.hasPrefix("\(api) \(anna.id) ") && printed.hasSuffix(" is suspended\n"), "\(printed)")
            anna.clock.advance(by: .seconds(1))
            #expect(try await anna.use() == words(api, ": spam in groups"))
            if let signIn = anna.signIn { #expect(try await signIn() == words(api, ": spam in groups")) }
            let restored = try await anna.perform(RestorePeople(anna.named, because: "", format: .json))
            #expect(restored.contains(#""api":"\#(api)""#) && restored.contains(#""id":"\#(anna.id)""#))
            // The session is the one from before.
            #expect(try await anna.use() == nil)
            if let signIn = anna.signIn { #expect(try await signIn() == nil) }
        }
    }

    @Test("A suspension with an end is over by itself", arguments: cases)
    func ending(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            let end = Date(timeIntervalSince1970: Double(anna.clock.source.seconds + 3600))
            let printed = try await anna.perform(
                SuspendPeople(anna.named, until: end, because: "rude", format: .text))
            #expect(printed.hasSuffix(" is suspended until 2026-02-23T11:00:00Z\n"), "\(printed)")
            anna.clock.advance(by: .seconds(2))
            #expect(try await anna.use() == words(api, " until 2026-02-23T11:00:00Z: rude"))
            anna.clock.advance(by: .seconds(3598))
            // Tokens of a quarter of an hour have expired by then, and GTSD's SDK renews them.
            let refusal = try await anna.use()
            #expect(refusal == nil || api == "deuce-diary" && refusal?.hasPrefix("401") == true, "\(refusal ?? "")")
            let mistake = try await refused {
                _ = try await anna.perform(RestorePeople(anna.named, because: "", format: .text))
            }
            #expect(mistake == "\(anna.id) is not suspended")
        }
    }

    @Test("What an operator does without a server holds for the nodes that serve", arguments: cases)
    func elsewhere(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            #expect(try await anna.use() == nil)
            _ = try await anna.performElsewhere(
                SuspendPeople(anna.named, until: nil, because: "spam", format: .text))
            anna.clock.advance(by: .seconds(1))
            #expect(try await anna.use() == words(api, ": spam"))
            _ = try await anna.performElsewhere(DeletePeople(anna.named, because: "spam", format: .text))
            anna.clock.advance(by: .seconds(1))
            // With an issuer that still knows the person, a new account would begin.
            let refusal = try await anna.use()
            #expect(refusal?.hasPrefix("401") == true, "\(refusal ?? "none")")
        }
    }

    // MARK: Signing out and deleting

    @Test("Somebody who is signed out must sign in again", arguments: cases)
    func signedOut(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            #expect(try await anna.use() == nil)
            let printed = try await anna.perform(
                SignOutPeople(anna.named, because: "lost phone", format: .text))
            let sessions = api == "deuce-diary" ? "" : ": 1 session"
            #expect(printed.hasSuffix(" is signed out\(sessions)\n"), "\(printed)")
            let refusal = try await anna.use()
            #expect(refusal?.hasPrefix("401") == true, "\(refusal ?? "none")")
            if let signIn = anna.signIn { #expect(try await signIn() == nil) }
        }
    }

    @Test("Somebody who is deleted is gone, and the audit says why", arguments: cases)
    func deleted(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            _ = try await anna.perform(SuspendPeople(anna.named, until: nil, because: "rare-reason", format: .text))
            let printed = try await anna.perform(DeletePeople(anna.named, because: "by letter", format: .text))
            #expect(printed.hasSuffix(" is deleted\n"), "\(printed)")
            // Nothing else says why the account was suspended, or whose it was.
            let left = try await TableDump(anna.database, engine: stack.engine).cells(
                mentioning: ["rare-reason", "anna@example.com"]
            ).filter { !$0.hasPrefix("audit.subject:") }
            #expect(left == [])
            let refusal = try await anna.use()
            #expect(refusal?.hasPrefix("401") == true, "\(refusal ?? "none")")
            if let signIn = anna.signIn { #expect(try await signIn()?.hasPrefix("401") == true) }
            let mistake = try await refused {
                _ = try await anna.perform(ShowPerson(anna.named[0], format: .text))
            }
            #expect(mistake.hasPrefix("There is no person \(anna.id) in "))
            let entries = try await anna.database.read { try $0.auditEntries(after: 0, limit: 100) }
            let entry = try #require(entries.last)
            #expect(entry.actor == "operator anna" && entry.action == "people delete")
            #expect(entry.subject == "user \(anna.id): by letter")
        }
    }

    // MARK: Mistakes

    @Test("A mistake is a clear sentence, and changes nothing", arguments: cases)
    func mistakes(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            func suspend(_ people: [NamedPerson], until: Date? = nil) async throws {
                _ = try await anna.perform(SuspendPeople(people, until: until, because: "spam", format: .text))
            }
            let unknown = api == "deuce-diary" ? "user_nobody" : "99"
            let title = try #require(
                [
                    "messenger": "Messenger", "deuce-diary": "Deuce Diary", "monica": "Monica", "gtsd": "GTSD",
                    "dunbar": "Dunbar",
                ][api])
            #expect(
                try await refused { try await suspend([NamedPerson(id: unknown)]) }
                    == "There is no person \(unknown) in \(title)")
            let lines = [NamedPerson(id: anna.id, line: 1), NamedPerson(id: unknown, line: 4)]
            #expect(
                try await refused { try await suspend(lines) }
                    == "Line 4: There is no person \(unknown) in \(title). Nothing was done")
            #expect(
                try await refused { try await suspend([lines[0], NamedPerson(id: anna.id, line: 2)]) }
                    == "Line 2: \(anna.id) is there twice. Nothing was done")
            #expect(
                try await refused { try await suspend(anna.named, until: Date(timeIntervalSince1970: 1)) }
                    == "--until is a time that has passed")
            #expect(
                try await refused {
                    _ = try await anna.perform(RestorePeople(anna.named, because: "", format: .text))
                } == "\(anna.id) is not suspended")
            anna.clock.advance(by: .seconds(1))
            #expect(try await anna.use() == nil)
            try await suspend(anna.named)
            #expect(try await refused { try await suspend(anna.named) } == "\(anna.id) is suspended already")
            let entries = try await anna.database.read { try $0.auditEntries(after: 0, limit: 100) }
            #expect(entries.filter { $0.action.hasPrefix("people") }.map(\.action) == ["people suspend"])
        }
    }

    @Test(
        "An account of GTSD that was deactivated before there were suspensions is one now",
        arguments: Stack.Engine.available)
    func formerDeactivation(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let schema = GTSDService.schema
            let steps = schema.migrations.prefix { $0.name != "people whom operators find and suspend" }
            #expect(steps.count < schema.migrations.count)
            let former = try place.open(Schema(schema.name, Array(steps)))
            try await former.write { db in
                for (email, isDeactivated) in [("anna@example.com", true), ("bob@example.com", false)] {
                    try db.run(
                        """
                        INSERT INTO users (email, password, timezone, is_deactivated, created_at, updated_at)
                        VALUES (\(email), 'x', 'UTC', \(isDeactivated), 1, 2)
                        """)
                }
            }
            try await former.close()
            let database = try place.open(schema)
            let people = try await database.read { db in
                try db.all("SELECT suspended_at, suspended_until, suspension_reason FROM users ORDER BY id") {
                    try Suspension(row: $0, at: 0, now: 1000).map { $0.sentence(beginning: "since \($0.since)") }
                }
            }
            #expect(people == ["since 1970-01-01T00:00:00Z", nil])
            try await database.close()
        }
    }

    @Test("The last admin of Dunbar cannot be suspended or deleted", arguments: Stack.all)
    func lastAdmin(_ stack: Stack) async throws {
        try await withSubject("dunbar", on: stack) { anna in
            _ = try await anna.perform(DunbarService.Promote(["anna"]))
            let commands: [any OperatorCommand] = [
                SuspendPeople(anna.named, until: nil, because: "x", format: .text),
                DeletePeople(anna.named, because: "x", format: .text),
            ]
            for command in commands {
                let mistake = try await refused { _ = try await anna.perform(command) }
                #expect(mistake == "\(anna.id) is the last admin: promote another one before")
            }
            #expect(try await anna.use() == nil)
        }
    }

    // MARK: Sockets and nodes

    private static let needsNodes: ConditionTrait = .enabled(
        if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL")

    @Test("Messenger's sockets close on every node, and open again only once their user is restored", needsNodes)
    func messengersSockets() async throws {
        try await withMessengerNodes(2, on: Stack(.postgreSQL, .live)) { nodes in
            let store = MemoryTokenStore()
            let client = MessengerClient(
                baseURL: nodes[0].baseURL, store: store, transport: nodes[0].transport, sockets: nodes[0].sockets,
                retry: .never)
            try await client.send(
                Messenger.Register(username: "anna", email: "anna@example.com", password: "Secret-123"))
            let id = try await client.signIn(username: "anna", password: "Secret-123")
            let elsewhere = MessengerClient(
                baseURL: nodes[1].baseURL, store: store, transport: nodes[1].transport, sockets: nodes[1].sockets,
                retry: .never)
            // The clock stands still: what holds now does not wait for a cache.
            for round in 0..<3 {
                let sockets = [try await client.openSocket(), try await elsewhere.openSocket()]
                try await elsewhere.send(Messenger.GetMe())
                try await nodes[0].perform(
                    SuspendPeople([NamedPerson(id: "\(id)")], until: nil, because: "round \(round)", format: .text))
                for socket in sockets {
                    await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) {
                        _ = try await socket.receive()
                    }
                }
                // The other node has dropped what it knew of the session, so no second needs to pass.
                for client in [client, elsewhere] {
                    let refusal = await #expect(throws: Messenger.APIError.self) {
                        try await client.send(Messenger.GetMe())
                    }
                    #expect(refusal?.message == "Account is suspended: round \(round)")
                    await #expect(throws: (any Error).self) { _ = try await client.openSocket() }
                }
                try await nodes[1].perform(
                    RestorePeople([NamedPerson(id: "\(id)")], because: "", format: .text))
            }
            try await client.send(Messenger.GetMe())
            _ = try await client.openSocket()
        }
    }

    @Test("A socket of somebody who is suspended says why it is refused", arguments: Stack.all)
    func refusedSocket(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let store = MemoryTokenStore()
            let client = MessengerClient(
                baseURL: host.baseURL, store: store, transport: host.transport, sockets: host.sockets, retry: .never)
            try await client.send(
                Messenger.Register(username: "anna", email: "anna@example.com", password: "Secret-123"))
            let id = try await client.signIn(username: "anna", password: "Secret-123")
            let token = try #require(await store.load()).accessToken
            try await host.perform(
                SuspendPeople([NamedPerson(id: "\(id)")], until: nil, because: "spam", format: .text))
            let socket = RawSocket(
                try await host.sockets.open(
                    host.baseURL.appendingPathComponent("ws"), headers: [:], maximumMessageSize: 65_536))
            try await socket.send(["type": "auth", "token": .string(token)])
            try await socket.expect(["type": "error", "message": "Account is suspended: spam"])
            try await socket.expectClose(1008)
        }
    }

    @Test("Deuce Diary's sockets with a token close on every node", needsNodes)
    func diarysSockets() async throws {
        try await withDeuceDiaryNodes(2, on: Stack(.postgreSQL, .inProcess), sockets: .member) { nodes in
            let token = try nodes[0].issuer.issue("user_anna")
            let client = DeuceDiaryClient(
                baseURL: nodes[0].baseURL, transport: nodes[0].transport, retry: .never, token: { token })
            try await client.send(DeuceDiary.GetUser())
            func open(_ node: DeuceDiaryHost) async throws -> RawSocket {
                let url = node.baseURL.appendingPathComponent("ws").appending(
                    queryItems: [URLQueryItem(name: "token", value: token)])
                return RawSocket(try await node.sockets.open(url, headers: [:], maximumMessageSize: 65_536))
            }
            var sockets: [RawSocket] = []
            for node in nodes { sockets.append(try await open(node)) }
            let anna = [NamedPerson(id: "user_anna")]
            try await nodes[0].perform(SuspendPeople(anna, until: nil, because: "spam", format: .text))
            for socket in sockets { try await socket.expectClose(4001) }
            for node in nodes {
                await #expect(throws: (any Error).self) { _ = try await open(node) }
            }
        }
    }

    // MARK: Resets

    private func client(_ host: DunbarHost) -> DunbarClient {
        DunbarClient(baseURL: host.baseURL, store: MemoryCookieStore(), transport: host.transport, retry: .never)
    }

    /// Returns the code of an e-mail.
    private static func code(in letter: String) -> String? {
        letter.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .first { $0.count >= 40 && !$0.contains(" ") }
    }

    @Test("A password is not reset while its account is suspended", arguments: Stack.Engine.available)
    func resets(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let client = client(host)
            let id = try await client.register(
                .init(username: "anna", email: "anna@example.com", password: "Secret-123", displayName: "Anna")
            ).id
            func letters() async throws -> [String] {
                try await host.service.sendDueEmails()
                return host.mailbox.emails.map(\.text).filter { $0.contains("reset the password") }
            }
            try await client.send(Dunbar.ForgotPassword(email: "anna@example.com"))
            let letter = try #require(try await letters().first)
            let code = try #require(Self.code(in: letter))
            try await host.node.perform(
                SuspendPeople([NamedPerson(id: "\(id)")], until: nil, because: "spam", format: .text))
            let reset = Dunbar.ResetPassword(token: code, newPassword: "Secret-456")
            let refusal = await #expect(throws: Dunbar.APIError.self) { try await client.send(reset) }
            #expect(refusal?.status == 400)
            try await client.send(Dunbar.ForgotPassword(email: "anna@example.com"))
            #expect(try await letters().count == 1)
            try await host.node.perform(RestorePeople([NamedPerson(id: "\(id)")], because: "", format: .text))
            try await client.send(reset)
            try await client.signIn(username: "anna", password: "Secret-456")
        }
    }

    @Test("A code of an operator sets a new password once, within 15 minutes", arguments: Stack.all, [false, true])
    func resetCodes(_ stack: Stack, _ isSent: Bool) async throws {
        try await withDunbar(on: stack) { host in
            let client = client(host)
            let id = try await client.register(
                .init(username: "anna", email: "anna@example.com", password: "Secret-123", displayName: "Anna")
            ).id
            let person = NamedPerson(id: "\(id)")
            func code() async throws -> String {
                let printed = try await host.node.perform(MakeResetCode(person, isSent: isSent, format: .text))
                guard isSent else { return printed.trimmingCharacters(in: .newlines) }
                #expect(printed == "dunbar \(id) \"anna\" gets an e-mail to \"anna@example.com\"\n")
                try await host.service.sendDueEmails()
                let letter = try #require(host.mailbox.emails.map(\.text).last { $0.contains("15 minutes") })
                return try #require(Self.code(in: letter))
            }
            func reset(_ code: String, to password: String) async throws -> String? {
                try await Self.refusal {
                    try await client.send(Dunbar.ResetPassword(token: code, newPassword: password))
                }
            }
            let (late, early) = (try await code(), try await code())
            #expect(late != early)
            #expect(try await reset(early, to: "Secret-456") == nil)
            let used = try await reset(early, to: "Secret-789")
            #expect(used == "400 Invalid or expired reset token")
            // All sessions have ended, and the other code with them.
            #expect(try await client.currentUser() == nil)
            #expect(try await reset(late, to: "Secret-789") == "400 Invalid or expired reset token")
            try await self.client(host).signIn(username: "anna", password: "Secret-456")

            let expired = try await code()
            host.clock.advance(by: .seconds(15 * 60))
            #expect(try await reset(expired, to: "Secret-789") == "400 Invalid or expired reset token")
            try await host.node.perform(SuspendPeople([person], until: nil, because: "spam", format: .text))
            let mistake = try await refused {
                try await host.node.perform(MakeResetCode(person, isSent: isSent, format: .text))
            }
            #expect(mistake == "\(id) is suspended: a password cannot be reset until it is restored")
        }
    }

    @Test("Every API with passwords makes codes, and the others say that they have none", arguments: cases)
    func codesOfEachAPI(_ stack: Stack, _ api: String) async throws {
        try await withSubject(api, on: stack) { anna in
            let make = MakeResetCode(anna.named[0], isSent: false, format: .json)
            guard anna.signIn != nil else {
                let mistake = try await refused { _ = try await anna.perform(make) }
                #expect(mistake == "The users of this API have no passwords")
                return
            }
            for printed in [try await anna.perform(make), try await anna.performElsewhere(make)] {
                #expect(printed.contains(#""code":""#) && printed.contains(#""expires_at":"20"#), "\(printed)")
            }
            let codes: Int? = try await anna.database.read { try $0.value("SELECT COUNT(*) FROM reset_tokens") }
            #expect(codes == 2)
        }
    }
}
