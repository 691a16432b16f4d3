import ContractCheck
import ContractClient
import Database
import Foundation
import MonicaCheck
import MonicaClient
import MonicaService
import MonicaTestHost
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `concord monica token`, `import` and `export` work while a server runs.
@Suite(.timeLimit(.minutes(30))) struct MonicaCommandTests {
    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    private func get(_ url: String, token: String) async throws -> (status: Int, body: String) {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    @Test(arguments: Stack.Engine.available)
    func tokensAndContactsComeAndGoWhileAServerRuns(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let more = ["--data", place.folder] + (place.url.map { ["--database", $0] } ?? [])
            let port = try await reservePort()
            let server = try ConcordProcess(["serve", "monica", "--port", "monica=\(port)"] + more)
            try await server.wait { $0.contains("ready\n") }
            #expect(server.standardOutput.contains("http://127.0.0.1:\(port)/api"))
            let base = "http://127.0.0.1:\(port)/api"

            let made = try await run(["monica", "token", "create", "--account", "alice"] + more)
            #expect(made.status == 0, "\(made.errors)")
            let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let empty = try await get(base + "/contacts", token: token)
            #expect(empty.status == 200)

            let set = ["monica", "account", "set", "--account", "alice"]
            let fresh = try await run(set + more)
            #expect(fresh.output == "e-mail address: none\nreminded at: 9:00, UTC\n", "\(fresh.errors)")
            let settings = ["--email", "alice@example.com", "--zone", "Europe/Paris", "--reminders-at", "8"]
            let changed = try await run(set + settings + more)
            #expect(changed.output == "e-mail address: alice@example.com\nreminded at: 8:00, Europe/Paris\n")
            let me = try await get(base + "/me", token: token)
            #expect(me.body.contains(#""timezone":"Europe/Paris""#))
            for (option, status) in [
                (["--zone", "Mars"], 1), (["--reminders-at", "24"], 64), (["--email", "x"], 64),
            ] {
                #expect(try await run(set + option + more).status == Int32(status), "\(option)")
            }
            #expect(try await run(["monica", "account", "set", "--account", "bob"] + more).status == 1)

            let file = place.folder + "/cards.vcf"
            let card = "BEGIN:VCARD\nVERSION:4.0\nFN:John Doe\nTEL;TYPE=home:1\nPHOTO:x\nEND:VCARD\n"
            let group = "BEGIN:VCARD\nKIND:group\nFN:Friends\nEND:VCARD\n"
            try Data((card + group + "BEGIN:VCARD\nEND:VCARD\n").utf8).write(to: URL(fileURLWithPath: file))
            let imported = try await run(["monica", "import", file, "--account", "alice"] + more)
            #expect(
                imported.output == """
                    1 contact imported
                    1 card left out: groups, not people
                    1 card without a name left out, at line 11
                    Not imported, because contacts cannot store them (number of cards):
                      PHOTO: 1
                      TEL (type): 1

                    """, "\(imported.errors)")
            let repeated = try await run(["monica", "import", file, "--account", "alice"] + more)
            #expect(
                repeated.output.hasPrefix(
                    """
                    0 contacts imported
                    1 card without a UID skipped: imported before

                    """), "\(repeated.errors)")
            let found = try await get(base + "/contacts?query=john", token: token)
            #expect(found.body.contains(#""complete_name":"John Doe""#))

            let json = try await run(["monica", "export", "--account", "alice"] + more)
            #expect(json.output.contains(#""complete_name":"John Doe""#))
            // The URL is the server's own, as over HTTP.
            #expect(json.output.contains(#""url":"http://localhost:\#(port)/api/contacts/1""#))
            let cards = try await run(["monica", "export", "--account", "alice", "--format", "vcard"] + more)
            #expect(cards.output.contains("FN:John Doe\r\n"))
            let nobody = try await run(["monica", "export", "--account", "bob"] + more)
            #expect(nobody.status == 1)
            #expect(nobody.errors == "Error: There is no account 'bob'\n")

            try Data("BEGIN:VCARD\nFN:Jane\n".utf8).write(to: URL(fileURLWithPath: file))
            let refused = try await run(["monica", "import", file, "--account", "alice"] + more)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("line 1: BEGIN:VCARD without END:VCARD"))
            #expect(!refused.errors.contains("Usage"))

            let listed = try await run(["monica", "token", "list", "--account", "alice"] + more)
            #expect(!listed.output.contains(token))
            let tokens = try await run(["monica", "token", "list", "--json"] + more).output
            #expect(
                tokens.replacing(#/_at":"[^"]+"/#, with: "_at\":0")
                    == #"{"account":"alice","created_at":0,"last_used_at":0,"name":"command line","number":1}"# + "\n")
            let number = try #require(listed.output.split(separator: "\t").first.map(String.init))
            let revoked = try await run(["monica", "token", "revoke", number] + more)
            #expect(revoked.status == 0, "\(revoked.errors)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)

            // After a restart, the imported data exists and the revoked token does not.
            let again = try ConcordProcess(["serve", "monica", "--port", "monica=\(port)"] + more)
            try await again.wait { $0.contains("ready\n") }
            let answer = try await get(base + "/me", token: token)
            #expect(answer.status == 401)
            again.signal(SIGTERM)
            #expect(await again.status() == 0)
        }
    }

    @Test func anExportIsImportedOnce() async throws {
        try await withTestDatabase(on: .sqlite) { place in
            let more = ["--data", place.folder]
            let file = place.folder + "/cards.vcf"
            try Data("BEGIN:VCARD\nFN:John Doe\nTEL:1\nEND:VCARD\n".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try await run(["monica", "import", file, "--account", "alice"] + more).status == 0)
            let json = try await run(["monica", "export", "--account", "alice"] + more)
            try Data(json.output.utf8).write(to: URL(fileURLWithPath: file))
            let copied = try await run(["monica", "import", file, "--account", "copy"] + more)
            #expect(copied.output.hasPrefix("1 contact imported\n1 contact field imported\n"), "\(copied.errors)")
            let again = try await run(["monica", "import", file, "--account", "copy"] + more)
            #expect(again.output.hasPrefix("0 contacts imported, 1 there already\n"), "\(again.errors)")
            let overwriting = try await run(["monica", "import", file, "--account", "copy", "--overwrite"] + more)
            #expect(overwriting.status == 1 && overwriting.errors.contains("are for vCards alone"))
            try Data("{\"version\":1,\n\"contacts\":[}".utf8).write(to: URL(fileURLWithPath: file))
            let broken = try await run(["monica", "import", file, "--account", "copy"] + more)
            #expect(broken.status == 1 && broken.errors.contains("line 2: this is no JSON"), "\(broken.errors)")
        }
    }

    /// The photos of an export are stored by the server that runs, and wait for one where none does.
    @Test func photosAreImportedByTheServer() async throws {
        try await withTemporaryFolder { folder in
            let more = ["--account", "alice", "--data", folder]
            let (contact, photo) = (UUID().uuidString, UUID().uuidString)
            let picture = Data(SampleImage.jpeg(width: 16, height: 8)).base64EncodedString()
            let export = """
                {"app_version": "4.0.0", "account": {"data": [
                {"type": "contact", "values": [{"uuid": "\(contact)", "properties": {"first_name": "John"},
                "data": [{"type": "photo", "values": ["\(photo)"]}]}]},
                {"type": "photo", "values": [{"uuid": "\(photo)", "properties": {"original_filename": "a.jpg",
                "dataUrl": "data:image\\/jpeg;base64,\(picture)"}}]}]}}
                """
            let file = folder + "/monica.json"
            try Data(export.utf8).write(to: URL(fileURLWithPath: file))
            let first = try await run(["monica", "import", file] + more)
            #expect(first.output.contains("1 photo or document was not imported"), "\(first)")
            let port = try await reservePort()
            let server = try ConcordProcess(["serve", "monica", "--data", folder, "--port", "monica=\(port)"])
            try await server.waitUntilReady()
            let second = try await run(["monica", "import", file] + more)
            #expect(second.output == "0 contacts imported, 1 there already\n1 photo imported\n", "\(second)")
            let token = try await run(["monica", "token", "create"] + more)
            let client = MonicaAPIClient(
                configuration: APIConfiguration(
                    baseURL: try #require(URL(string: "http://127.0.0.1:\(port)/api")),
                    token: token.output.trimmingCharacters(in: .whitespacesAndNewlines), retryCount: 0),
                transport: .patient)
            let stored = try #require(try await client.send(Monica.List<Monica.Photo>()).data.first)
            #expect(stored.uuid == photo.lowercased() && stored.originalFilename == "a.jpg")
            let answer = try await URLSessionTransport.patient.send(
                TransportRequest(method: .get, url: try #require(URL(string: stored.link))), progress: nil)
            #expect(answer.status == .ok && answer.body.starts(with: [0xFF, 0xD8, 0xFF]))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// The program draws with its own helper, and the picture's URL needs no token.
    @Test func initialsAreDrawn() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try ConcordProcess(["serve", "monica", "--data", folder, "--port", "monica=\(port)"])
            try await server.waitUntilReady()
            let token = try await run(
                ["monica", "token", "create", "--account", "anna", "--dialect", "monica4", "--data", folder])
            let client = MonicaAPIClient(
                configuration: APIConfiguration(
                    baseURL: try #require(URL(string: "http://127.0.0.1:\(port)/api")),
                    token: token.output.trimmingCharacters(in: .whitespacesAndNewlines), retryCount: 0),
                transport: .patient)
            let contact = try await client.create(Monica.ContactDraft(firstName: "Ödön", lastName: "李"))
            let url = try #require(contact.information.avatar.url.flatMap { URL(string: $0) })
            #expect(url.absoluteString.hasPrefix("http://127.0.0.1:\(port)/initials/"))
            for _ in 0..<2 {
                let answer = try await URLSessionTransport.patient.send(
                    TransportRequest(method: .get, url: url), progress: nil)
                #expect(answer.status == .ok && answer.headers[.contentType] == "image/jpeg")
                #expect(answer.body.starts(with: [0xFF, 0xD8, 0xFF]) && answer.body.count > 1500)
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func aCheckPassesAndLeavesNothing() async throws {
        try await withMonica(on: Stack(.sqlite, .live), clock: TestClock(step: 20)) { host in
            let tokens = [try await host.token("alice"), try await host.token("bob")]
            let count = MonicaScenarios.all.count
            // Those that delete an account, or ask for its archive, need one that is not the operator's.
            let both = try await passingCheck(
                ["monica", host.baseURL.absoluteString] + tokens.flatMap { ["--token", $0] }, scenarios: count,
                skipping: 2)
            let check = ["check", "monica", host.baseURL.absoluteString, "--timeout", "900"]
            #expect(!both.output.contains("Left on the server"))
            let left = try await host.database.read { db in
                try [
                    "contacts", "tags", "activities", "notes", "tasks", "gifts", "calls", "reminders", "debts",
                    "pets", "journal", "relationships", "conversations", "messages", "life_events", "merges", "photos",
                    "documents", "gift_photos",
                ].map { table in
                    try db.value("SELECT COUNT(*) FROM \(SQL(trusted: table))", as: Int.self)
                }
            }
            #expect(left.allSatisfy { $0 == 0 }, "\(left)")
            // Scenarios that need two accounts are skipped with one, even if several of its tokens are given.
            let one = try await run(check + ["--token", tokens[0], "--token", try await host.token("alice")])
            #expect(one.status == 0, "\(one.output)\(one.errors)")
            #expect(one.output.contains("\(count) scenarios: \(count - 4) passed, 0 failed, 4 skipped, in "))
            let used = try await host.service.listTokens(account: "alice").map(\.lastUsedAt)
            #expect(used.allSatisfy { $0 != nil })
            // Only reading scenarios run against a server of the published document.
            let published = try await run(check + ["--token", tokens[0], "--level", "contract"])
            #expect(published.status == 0, "\(published.output)\(published.errors)")
            #expect(published.output.contains(" 5 passed, 0 failed, "))
            // So do those of Monica 4, with a token of its dialect.
            let token = try await host.token("alice", dialect: .monica4)
            let dialect = try await run(check + ["--token", token, "--level", "monica4"])
            #expect(dialect.status == 0, "\(dialect.output)\(dialect.errors)")
            let all = Monica4Scenarios.all.count
            #expect(dialect.output.contains("\(all) scenarios: \(all) passed, 0 failed, 0 skipped, in "))
            #expect(!dialect.output.contains("Left on the server"), "\(dialect.output)")
            let none = try await run(check)
            #expect(none.status == 64)
            #expect(none.errors.contains("monica has no sign-in: give a token with --token"))
        }
    }
}
