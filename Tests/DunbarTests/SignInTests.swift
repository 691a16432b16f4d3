import Backend
import Contract
import ContractCheck
import ContractServer
import DunbarAPI
import DunbarService
import Logging
import Testbed
import Testing

/// Sign-in accepts the right names and passwords, and limits attempts and e-mails.
@Suite(.timeLimit(.minutes(30))) struct DunbarSignInTests {
    /// Returns the server as a client at an address sees it.
    private func raw(_ host: DunbarHost, from peer: String) -> RawClient {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = Router(
            host.service.routes(), options: .init(logger: logger) { Problem.unavailable($0, Dunbar.errorMessages) })
        return RawClient(baseURL: host.baseURL, transport: InProcessTransport(table, peer: peer))
    }

    private func register(
        _ name: String, email: String? = nil, displayName: String = "Jane", from raw: RawClient
    ) async throws -> RawAnswer {
        try await raw.send(
            .post, "/register",
            body: """
                {"username":"\(name)","email":"\(email ?? "\(name)@example.com")","password":"secret123",
                "displayName":"\(displayName)"}
                """)
    }

    @Test("A user is not locked out at the address of their registration", arguments: Stack.Engine.available)
    func familiar(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host async throws in
            let home = raw(host, from: "2001:db8::1")
            #expect(try await register("jane", from: home).status == 201)
            func logIn(_ raw: RawClient, _ password: String = "secret123") async throws -> Int {
                try await raw.send(.post, "/login", body: #"{"username":"jane","password":"\#(password)"}"#).status
            }
            for index in 0..<100 { #expect(try await logIn(raw(host, from: "203.0.113.\(index)"), "x") == 401) }
            #expect(try await logIn(raw(host, from: "203.0.113.200")) == 429)
            #expect(try await logIn(raw(host, from: "2001:db8::2")) == 200)
        }
    }

    @Test(
        "A mailbox gets five e-mails in an hour from all clients together, and answers do not show it",
        arguments: Stack.Engine.available)
    func emails(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host async throws in
            #expect(try await register("jane", from: raw(host, from: "198.51.100.1")).status == 201)
            try await host.service.sendDueEmails()
            let before = host.mailbox.emails.count
            var answers: Set<String> = []
            for index in 0..<30 {
                let asker = raw(host, from: index % 2 == 0 ? "203.0.113.\(index)" : "2001:db8:\(index)::1")
                for email in ["jane@example.com", " JANE@example.com", "nobody@example.com"] where index < 29 {
                    let answer = try await asker.send(.post, "/forgot-password", body: #"{"email":"\#(email)"}"#)
                    answers.insert("\(answer.status) \(answer.text)")
                }
                try await host.service.sendDueEmails()
            }
            #expect(answers.count == 1)
            #expect(host.mailbox.emails.count == before + 5)
            host.clock.advance(by: .seconds(3600))
            _ = try await raw(host, from: "203.0.113.1").send(
                .post, "/forgot-password", body: #"{"email":"jane@example.com"}"#)
            try await host.service.sendDueEmails()
            #expect(host.mailbox.emails.count == before + 6)
        }
    }

    @Test(arguments: [
        ("jdoe\u{200B}", "Username must not contain spaces"), ("\u{202E}jdoe", "Username must not contain spaces"),
        ("\u{200B}", "Username is required"), ("\u{2800}", "Username is required"),
        ("ｊdoe", "Username already exists"), ("JDoe", "Username already exists"), ("jdоe", nil),
    ])
    func namesThatLookAlike(_ name: String, _ refusal: String?) async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host async throws in
            let home = raw(host, from: "198.51.100.1")
            #expect(try await register("jdoe", from: home).status == 201)
            let answer = try await register(name, email: "other@example.com", from: home)
            #expect(answer.status == (refusal == nil ? 201 : 400))
            if let refusal { #expect(answer.text == #"{"message":"\#(refusal)"}"#) }
        }
    }

    @Test(arguments: [
        ("Jane\\u0007", "Name contains invalid characters"), ("Ja\\nne", "Name contains invalid characters"),
        ("\u{202E}enaJ", "Name contains invalid characters"), ("\u{2800}", "Name is required"),
        ("\u{200B}\u{FE0F}", "Name is required"), ("Jane 👩‍👩‍👧", nil), ("می‌خواهم", nil),
    ])
    func displayNamesAreVisible(_ name: String, _ refusal: String?) async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host async throws in
            let answer = try await register("jane", displayName: name, from: raw(host, from: "198.51.100.1"))
            #expect(answer.status == (refusal == nil ? 201 : 400))
            if let refusal { #expect(answer.text == #"{"message":"\#(refusal)"}"#) }
        }
    }

    @Test(arguments: [
        ("a,b@example.com", false), (#"\"q\"@example.com"#, false), ("<x@example.com>", false),
        (#"a\\c@example.com"#, false), ("a..b@example.com", false), ("jane@localhost", true),
    ])
    func anAddressIsOneThatAnEmailReaches(_ email: String, _ isFine: Bool) async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host async throws in
            let answer = try await register("jane", email: email, from: raw(host, from: "198.51.100.1"))
            #expect(answer.status == (isFine ? 201 : 400))
            if !isFine { #expect(answer.text == #"{"message":"Invalid email address"}"#) }
        }
    }
}
