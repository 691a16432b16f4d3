import Backend
import Contract
import ContractCheck
import Database
import MessengerCheck
import MessengerService
import Testbed
import Testing

/// Names that look alike are refused, and existing accounts with such names are kept.
@Suite(.timeLimit(.minutes(30))) struct NameTests {
    private func register(_ name: String, on world: MessengerWorld, displayName: String? = nil) async throws
        -> RawAnswer
    {
        var body: [String] = [
            "\"username\":\(quoted(name))", "\"email\":\"\(world.freshName())@example.com\"",
            "\"password\":\"12345678\"",
        ]
        if let displayName { body.append("\"display_name\":\(quoted(displayName))") }
        return try await world.raw.send(.post, "/auth/register", body: "{\(body.joined(separator: ","))}")
    }

    private func quoted(_ text: String) -> String {
        "\""
            + text.utf16.map {
                "\\u" + String(repeating: "0", count: 4 - String($0, radix: 16).count)
                    + String($0, radix: 16)
            }.joined() + "\""
    }

    @Test(arguments: Stack.Engine.available)
    func noTwoAccountsLookAlike(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            #expect(try await register("Straße-fi", on: world).status == 201)
            for twin in ["strasse-fi", "STRASSE-ﬁ", "Ｓtraße-fi", "straße-fi", "ſtraße-fi"] {
                let answer = try await register(twin, on: world)
                #expect(answer.status == 409, "\(twin)")
                #expect(answer.text == #"{"error":"Username or email already taken"}"#)
            }
            #expect(try await register("strase-fi", on: world).status == 201)
            // Many requests run at the same time, each with another spelling.
            let twins = ["jdoe", "JDOE", "ｊdoe", "jdｏe", "JDｏe", "ｊdｏe", "jdoｅ", "jｄoe"]
            let statuses = try await together(8) { try await register(twins[$0], on: world).status }
            #expect(statuses.filter { $0 == 201 }.count == 1)
            #expect(statuses.filter { $0 == 409 }.count == 7)
        }
    }

    @Test(arguments: [
        "jdoe\u{200B}", "\u{202E}jdoe", "j\u{200D}doe", "jdoe\u{FEFF}", "j\u{0007}doe", "j\ndoe", "j\u{2028}doe",
        "j\u{2029}doe", "jd\u{3164}oe", "jd\u{AD}oe", "jd\u{FFA0}oe", "👩‍👩‍👧 jdoe",
    ])
    func invisibleCharactersAreRefusedInUsernames(_ name: String) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let answer = try await register(name, on: host.world())
            #expect(answer.status == 400)
            #expect(answer.text == #"{"error":"Username contains invalid characters"}"#)
        }
    }

    @Test func aUsernameThatShowsNothingIsTooShort() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            for name in ["\u{2800}\u{2800}\u{2800}", "\u{200B}\u{FE0F}\u{34F}", "   "] {
                let answer = try await register(name, on: host.world())
                #expect(answer.text == #"{"error":"Username must be 3–32 characters"}"#)
            }
        }
    }

    @Test(arguments: [
        ("Anna\u{200B}", false), ("\u{202E}annA", false), ("An\nna", false), ("An\u{0007}na", false),
        ("\u{2800}", false), ("\u{3164}", false), ("An\u{2060}na", false), ("Anna\u{200D}", false),
        ("\u{200D}", false), ("A\u{200D} b", false), ("Anna \u{E0067}", false), ("a\u{2028}b", false),
        ("Anna 👩‍👩‍👧", true), ("❤️", true), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿 Anna", true), ("👩🏽‍🚀", true), ("🏳️‍🌈", true),
        ("می‌خواهم", true), ("ക്‍ഷ", true), ("Zoë 1️⃣", true), ("Åsa  Ø", true), (" Anna ", true),
    ])
    func joinersStayInDisplayNames(_ name: String, _ isFine: Bool) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world()
            let answer = try await register(world.freshName(), on: world, displayName: name)
            #expect(answer.status == (isFine ? 201 : 400))
            if !isFine { #expect(answer.text == #"{"error":"Display name contains invalid characters"}"#) }
            let person = try await world.person()
            let change = try await person.raw(.put, "/me", body: "{\"display_name\":\(quoted(name))}")
            #expect(change.status == (isFine ? 200 : 400))
            let isBlank = name.unicodeScalars.allSatisfy(\.isBlank)
            let text = isBlank ? "display_name must be 1 to 64 characters" : "display_name contains invalid characters"
            if !isFine { #expect(change.text == #"{"error":"\#(text)"}"#) }
        }
    }

    @Test(arguments: [
        ("a,b@example.com", false), ("\"q\"@example.com", false), ("<x@example.com>", false),
        ("a\\c@example.com", false), (".a@b.co", false), ("a.@b.co", false), ("a..b@c.de", false), ("a@b..co", false),
        ("a@.co", false), ("a@b.co.", false), ("a@-b.co", false), ("a b@c.de", false), ("a@b@c.de", false),
        ("a@", false), ("@a", false), ("a\u{200B}b@c.de", false), ("a\u{3164}b@c.de", false), ("a@b!c.de", false),
        ("a@[127.0.0.1]", false),
        ("a@localhost", true), ("a.b+c@d-e.example", true), ("o'neil!#$%&*/=?^_`{|}~-@example.com", true),
        ("jörg@müller.example", true), ("A@B.CO", true),
    ])
    func anAddressIsOneThatAnEmailReaches(_ address: String, _ isFine: Bool) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world()
            let answer = try await world.raw.send(
                .post, "/auth/register",
                body: #"{"username":"anna","email":\#(quoted(address)),"password":"12345678"}"#)
            #expect(answer.status == (isFine ? 201 : 400))
            if !isFine { #expect(answer.text == #"{"error":"Invalid email"}"#) }
        }
    }

    /// Existing accounts with names that look alike stay, and no further one can be created.
    @Test(arguments: Stack.Engine.available)
    func existingAccountsStay(_ engine: Stack.Engine) async throws {
        let step = try #require(
            MessengerService.schema.migrations.firstIndex { $0.name.hasPrefix("names that look alike") })
        let former = Schema("messenger", Array(MessengerService.schema.migrations.prefix(step)))
        try await withTestDatabase(on: engine) { place in
            let before = try place.open(former)
            let names = ["jdoe", "jdoe\u{200B}", "ｊdoe", "other", "\u{200B}"] + (0..<1500).map { "user \($0)" }
            try await before.write { db in
                for name in names {
                    try db.run(
                        """
                        INSERT INTO users (username, username_key, email, email_key, display_name, display_key, password,
                            created_at)
                        VALUES (\(name), \(name), \(name), \(name), '', '', '', 0)
                        """)
                }
                try db.run("UPDATE users SET deleted_at = 1, username = '' WHERE username = 'other'")
            }
            try await before.close()

            let after = try place.open(MessengerService.schema)
            let kept: [String?] = try await after.read { db in
                try db.all("SELECT folded_name FROM users ORDER BY id LIMIT 6") { try $0.get(0) }
            }
            #expect(kept == ["jdoe", "jdoe\u{1}2", "jdoe\u{1}3", nil, "", "user 0"])
            let isIncomplete = try await after.read {
                try $0.exists("SELECT 1 FROM users WHERE id > 4 AND folded_name IS NULL")
            }
            #expect(!isIncomplete)
            // This holds even after the first of them was deleted.
            try await after.write { try $0.run("DELETE FROM users WHERE id = 1") }
            let isFree = try await after.read { db in
                try ["JDoe", "other", "jdo", "jdoe1", "user 1499"].map { try FoldedNames.isFree($0, in: "users", db) }
            }
            #expect(isFree == [false, true, true, true, false])
            try await after.close()
        }
    }
}
