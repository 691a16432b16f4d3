import ContractClient
import Database
import DeuceDiaryClient
import DunbarClient
import Foundation
import GTSDClient
import MessengerClient
import Testbed
import Testing

/// `concord people`, as an operator gives it, with and without a running server.
@Suite(.timeLimit(.minutes(30))) struct PeopleCommandTests {
    private func concord(
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: ["SUDO_USER": "anna"])
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    private struct Found: Decodable {
        let api: String
        let id: String
        let name: String?
        let email: String?
        let verified: Bool?
        let suspension: Suspension?

        struct Suspension: Decodable {
            let reason: String
            let until: String?
        }
    }

    private func decoded<T: Decodable>(_ lines: String, as _: T.Type = T.self) throws -> [T] {
        try lines.split(separator: "\n").map { try JSONDecoder().decode(T.self, from: Data($0.utf8)) }
    }

    /// Fills all five APIs with a person whose name is Anna, and another one.
    private func fill(_ url: (String) throws -> URL, _ folder: String, _ data: [String]) async throws {
        let password = "Secret-123"
        let messenger = MessengerClient(baseURL: try url("messenger"), transport: .patient, retry: .never)
        for (name, shown) in [("anna_m", "Anna Smith"), ("bob_m", "Bob Jones")] {
            try await messenger.send(
                Messenger.Register(
                    username: name, email: "\(name)@example.com", password: password, displayName: shown))
        }
        try await messenger.signIn(username: "anna_m", password: password, deviceName: "Anna phone")
        let wrong = MessengerClient(baseURL: try url("messenger"), transport: .patient, retry: .never)
        for _ in 0..<2 {
            await #expect(throws: Messenger.APIError.self) {
                try await wrong.signIn(username: "anna_m", password: "wrong-one")
            }
        }
        try await messenger.send(Messenger.CreateReport(user: .init(2), reason: "spam"))
        for (name, email) in [("Élodie Anna", "elodie@example.com"), ("Bob", "bob@example.com")] {
            let gtsd = GTSDClient(baseURL: try url("gtsd"), transport: .patient, retry: .never)
            try await gtsd.signUp(email: email, password: password, name: name)
        }
        for name in ["anna_d", "bob_d"] {
            let dunbar = DunbarClient(
                baseURL: try url("dunbar"), store: MemoryCookieStore(), transport: .patient, retry: .never)
            try await dunbar.register(
                .init(username: name, email: "\(name)@Example.com", password: password, displayName: "Some \(name)"))
        }
        for user in ["user_anna", "user_bob"] {
            let token = try await ConcordProcess.diaryToken(
                user, folder, "--email", "\(user)@example.com", "--first-name", "Ann", "--last-name", "Lee")
            let diary = DeuceDiaryClient(
                baseURL: try url("deuce-diary"), transport: .patient, retry: .never, token: { token })
            try await diary.send(DeuceDiary.GetUser())
        }
        for account in ["Anna", "bob"] {
            let made = try await concord(["monica", "token", "create", "--account", account, "--name", "phone"] + data)
            #expect(made.status == 0, "\(made.errors)")
        }
    }

    /// Exports the first person of an API, whose ZIP file Python reads.
    private func exportPerson(of api: String, _ folder: String, _ data: [String]) async throws {
        let id = api == "deuce-diary" ? "user_anna" : "1"
        let path = "\(folder)/\(api).zip"
        let command =
            [ConcordProcess.executable("concord").path, "people", "export", api, id, "--reason", "asked"] + data
        let (status, output) = try await StockTools.run(
            "/bin/sh", ["-c", #"exec "$@" > "$0""#, path] + command)
        #expect(status == 0, "\(output)")
        guard StockTools.python != nil else { return }
        let entries = try await StockTools.entries(ofZIP: path)
        #expect(entries.contains { $0.text?.contains("nna") == true }, "\(api)")
        #expect(!entries.contains { $0.name == "missing-files.json" }, "\(api)")
    }

    @Test(arguments: Stack.Engine.available)
    func peopleOfAllAPIsAreFoundShownAndSuspended(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let data = ["--data", place.folder + "/data"] + (place.url.map { ["--database", $0] } ?? [])
            let apis = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
            var ports: [String: Int] = [:]
            for api in apis { ports[api] = try await reservePort() }
            let server = try ConcordProcess(["serve"] + apis + ports.flatMap { ["--port", "\($0)=\($1)"] } + data)
            try await server.waitUntilReady()
            try await fill(
                { api in
                    let path = ["dunbar": "/api", "monica": "/api"][api] ?? ""
                    return try #require(URL(string: "http://127.0.0.1:\(ports[api] ?? 0)\(path)"))
                }, place.folder + "/data", data)

            func find(_ arguments: String...) async throws -> [Found] {
                let found = try await concord(["people", "find"] + arguments + ["--json"] + data)
                #expect(found.status == 0, "\(found.errors)")
                return try decoded(found.output)
            }
            let annas = try await find("ANNA")
            #expect(
                annas.map { "\($0.api) \($0.name ?? "")" } == [
                    "messenger anna_m", "monica Anna", "dunbar anna_d",
                ])
            #expect(try await find("user_a").map(\.id) == ["user_anna"])
            #expect(try await find("lee").map(\.api) == ["deuce-diary", "deuce-diary"])
            #expect(try await find("ÉLOD").map(\.name) == ["Élodie Anna"])
            #expect(try await find("élodie a").map(\.api) == ["gtsd"])
            #expect(try await find("smith").map(\.name) == ["anna_m"])
            #expect(try await find("anna_d@example.com").map(\.name) == ["anna_d"])
            #expect(try await find("2", "--api", "gtsd").map(\.email) == ["bob@example.com"])
            #expect(try await find("bob", "--api", "dunbar", "--api", "gtsd").map(\.api) == ["gtsd", "dunbar"])
            let none = try await concord(["people", "find", "zoe"] + data)
            #expect(none.output == "Nobody was found\n", "\(none.errors)")
            let many = try await concord(["people", "find", "user_", "--limit", "1"] + data)
            #expect(
                many.output.hasSuffix("There are more in Deuce Diary: write more of the name, or give --limit\n"),
                "\(many.output)")

            let shown = try await concord(["people", "show", "messenger", "1"] + data)
            #expect(shown.status == 0, "\(shown.errors)")
            for part in [
                "messenger 1 \"anna_m\"\n", "address: \"anna_m@example.com\"\n",
                "sessions: 1\n    \"Anna phone\", since ",
                "failed sign-ins within the hour: 2\n", "files: 0 bytes\n", "reports: 1 by, 0 about\n",
            ] { #expect(shown.output.contains(part), "\(part) is not in \(shown.output)") }

            for api in apis { try await exportPerson(of: api, place.folder, data) }

            // A wrong line means that nothing is done.
            let file = place.folder + "/ids.txt"
            try "# fakes\n1\n\n 9 \n".write(toFile: file, atomically: true, encoding: .utf8)
            let suspend = ["people", "suspend", "messenger", "--from", file, "--reason", "fake"]
            let mistake = try await concord(suspend + data)
            #expect(mistake.status == 1)
            #expect(
                mistake.errors == "Error: Line 4: There is no person 9 in Messenger. Nothing was done\n",
                "\(mistake.errors)")
            #expect(try await find("anna_m").first?.suspension == nil)
            try "1\r\n2\r\n".write(toFile: file, atomically: true, encoding: .utf8)
            let both = try await concord(suspend + ["--until", "7d"] + data)
            #expect(both.status == 0, "\(both.errors)")
            #expect(both.output.split(separator: "\n").count == 2)
            #expect(both.output.hasPrefix("messenger 1 \"anna_m\" is suspended until 20"))
            #expect(try await find("anna_m").first?.suspension?.reason == "fake")

            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            // The same without a server.
            for api in apis { try await exportPerson(of: api, place.folder, data) }
            #expect(try await find("anna_m").first?.suspension?.until != nil)
            let restored = try await concord(["people", "restore", "messenger", "1", "2"] + data)
            #expect(restored.output == "messenger 1 \"anna_m\" is restored\nmessenger 2 \"bob_m\" is restored\n")
            for api in apis {
                let id = api == "deuce-diary" ? "user_bob" : "2"
                let deleted = try await concord(["people", "delete", api, id, "--reason", "asked", "--json"] + data)
                #expect(deleted.status == 0, "\(api): \(deleted.errors)")
                let again = try await concord(["people", "delete", api, id, "--reason", "asked"] + data)
                #expect(again.status == 1 && again.errors.contains("There is no person \(id)"), "\(again.errors)")
            }
            #expect(try await find("bob").isEmpty)
            let audit = try await concord(["audit", "messenger"] + data)
            #expect(audit.output.contains("\t\"operator anna\"\tpeople suspend\t\"user 1: fake\"\n"), "\(audit.output)")
            let acts = try await concord(["people", "show", "messenger", "1"] + data)
            #expect(acts.output.contains("\"operator anna\" people restore \"user 1\"\n"), "\(acts.output)")
        }
    }

    @Test(arguments: [
        (["people", "find", " "], "The text to look for is empty"),
        (["people", "find", "a", "--limit", "0"], "--limit must be 1 to 1000"),
        (["people", "find", "a", "--api", "nothing"], "There is no API 'nothing'"),
        (["people", "show", "nothing", "1"], "There is no API 'nothing'"),
        (["people", "sign-out", "gtsd", "1"], "--reason"),
        (["people", "suspend", "gtsd", "1", "--reason", " "], "--reason is empty"),
        (["people", "suspend", "gtsd", "--reason", "x"], "Give either ids or --from with a file of ids"),
        (["people", "suspend", "gtsd", "1", "--from", "x", "--reason", "x"], "Give either ids or --from"),
        (["people", "suspend", "gtsd", "1", "--reason", "x", "--until", "soon"], "--until must be like 2026-12-01"),
        (["people", "export", "gtsd", "1"], "--reason"),
        (["people", "delete", "gtsd", "--from", "/nonexistent", "--reason", "x"], "/nonexistent cannot be read"),
    ])
    func wrongUsesAreExplained(_ arguments: [String], _ words: String) async throws {
        let outcome = try await concord(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(outcome.errors.contains("Usage: concord people \(arguments[1])"), "\(outcome.errors)")
    }

    @Test func aMissingDatabaseIsNamed() async throws {
        try await withTemporaryFolder { folder in
            let none = try await concord(["people", "find", "a", "--data", folder])
            #expect(none.status == 0 && none.output == "Nobody was found\n", "\(none.errors)")
            for command in [
                ["find", "a", "--api", "gtsd"], ["show", "gtsd", "1"], ["restore", "gtsd", "1"],
                ["suspend", "gtsd", "1", "--reason", "x"],
            ] {
                let one = try await concord(["people"] + command + ["--data", folder])
                #expect(one.status == 1 && one.errors.contains("has no GTSD database"), "\(one.errors)")
            }
        }
    }

    @Test func theHelpSaysWhatEachCommandDoes() async throws {
        for (command, words) in [
            ("find", "Found are those whose username, name or address begins with the text"),
            ("show", "Show what is known of a person"), ("sign-out", "Within a second"),
            ("suspend", "What they wrote stays"),
            ("reset-code", "good for 15 minutes, and once"), ("restore", "Lift the suspension"),
            ("export", "It is the archive that people download in the app"), ("delete", "cannot be undone"),
        ] {
            let help = try await concord(["people", command, "--help"])
            #expect(help.status == 0)
            let text = help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains(words), "\(help.output)")
        }
    }
}
