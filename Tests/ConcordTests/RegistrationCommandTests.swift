import Contract
import ContractClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// `concord registration` and `concord bar`, as an operator gives them, with and without a running server.
@Suite(.timeLimit(.minutes(30))) struct RegistrationCommandTests {
    private func concord(
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: ["SUDO_USER": "anna"])
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    private struct Code: Decodable {
        let api: String
        let id: Int
        let code: String
        let uses: Int
    }

    /// Commands that are refused, and the sentence of each.
    private static let mistakes: [([String], String)] = [
        (
            ["bar", "add", "domain", "spam.example", "--reason", "x"],
            "Error: Nothing was done: all of it was barred already"
        ),
        (
            ["bar", "add", "network", "10.0.0.0/33", "--reason", "x"],
            "Error: '10.0.0.0/33' is neither an IP address nor a network: write 10.0.0.1, 10.0.0.0/8, ::1 or 2001:db8::/32"
        ),
        (
            ["bar", "add", "network", "0.0.0.0/0", "--reason", "x"],
            "Error: 0.0.0.0/0 is every address: close the registration, or stop the server"
        ),
        (["bar", "add", "address", "anna", "--reason", "x"], "Error: 'anna' is not an e-mail address"),
        (
            ["bar", "add", "address", "a@b.c", "A@b.c", "--reason", "x"],
            "Error: a@b.c is there twice. Nothing was done"
        ),
        (["bar", "remove", "address", "a@b.c"], "Error: Nothing was done: none of it is barred"),
        (["bar", "add", "address", "a@b.c", "--reason", " "], "Error: --reason is empty"),
        (
            ["registration", "closed", "--api", "monica"],
            "Error: Monica has no registration: the operator makes its accounts"
        ),
        (
            ["registration", "invite", "--api", "deuce-diary"],
            "Error: Deuce Diary has no invitation codes, because its users sign in elsewhere: it can be open or closed"
        ),
        (
            ["registration", "code", "--api", "deuce-diary"],
            "Error: Deuce Diary has no invitation codes, because its users sign in elsewhere"
        ),
        (
            ["registration", "closed", "--api", "gtsd"],
            "Error: DATA has no GTSD database"
        ),
        (["registration", "code", "--api", "messenger", "--uses", "0"], "Error: --uses must be 1 to 100000"),
        (
            ["registration", "code", "--api", "messenger", "--expires", "400d"],
            "Error: --expires is more than 366 days ahead"
        ),
        (
            ["registration", "revoke", "9", "--api", "messenger"],
            "Error: There is no code 9 in Messenger. Nothing was done"
        ),
    ]

    @Test(arguments: Stack.Engine.available)
    func anOperatorOpensAndClosesTheDoor(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let data = ["--data", place.folder + "/data"] + (place.url.map { ["--database", $0] } ?? [])
            let (port, diary, monica) = (try await reservePort(), try await reservePort(), try await reservePort())
            let server = try ConcordProcess(
                [
                    "serve", "messenger", "deuce-diary", "monica", "--port", "messenger=\(port)", "--port",
                    "deuce-diary=\(diary)", "--port", "monica=\(monica)", "--about-name", "Club", "--about-name",
                    "messenger=Chat", "--about-version", "7", "--require-terms",
                ] + data)
            try await server.waitUntilReady()
            let client = MessengerClient(
                baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), transport: .patient, retry: .never)
            @Sendable func register(_ name: String, _ code: String? = nil, email: String? = nil) async throws -> String?
            {
                do {
                    try await client.send(
                        Messenger.Register(
                            username: name, email: email ?? "\(name)@example.com", password: "Secret-123",
                            acceptedTerms: "7", invitationCode: code))
                    return nil
                } catch let error as Messenger.APIError { return error.message }
            }
            func done(_ arguments: String...) async throws -> String {
                let result = try await concord(arguments + data)
                #expect(result.status == 0, "\(result.errors)")
                return result.output
            }
            func refused(_ arguments: String...) async throws -> String {
                let result = try await concord(arguments + data)
                #expect(result.status != 0, "\(result.output)")
                return String(result.errors.prefix { $0 != "\n" })
            }
            #expect(try await client.send(GetAbout<Messenger>()) == About(name: "Chat", version: "7"))

            #expect(
                try await done("registration", "show") == "messenger\topen\ndeuce-diary\topen\n")
            #expect(
                try await done("registration", "invite")
                    == "messenger\tinvite\ndeuce-diary\tunchanged: it has no invitation codes\n")
            #expect(try await register("anna") == "Registration needs an invitation code")
            let code = try await done("registration", "code", "--api", "messenger", "--uses", "2")
                .trimmingCharacters(in: .newlines)
            #expect(code.wholeMatch(of: /[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}/) != nil, "\(code)")
            #expect(try await register("anna", code) == nil)
            #expect(try await done("registration", "list").hasPrefix("messenger\t1\tused 1 of 2\tmade 20"))
            #expect(try await done("registration", "revoke", "1", "--api", "messenger") == "messenger\t1\tis revoked\n")
            #expect(try await register("ben", code) == "Invitation code is not valid")
            #expect(try await done("registration", "list") == "No codes\n")
            let made = try await done(
                "registration", "code", "--api", "messenger", "--expires", "7d", "--json")
            let other = try JSONDecoder().decode(Code.self, from: Data(made.utf8))
            #expect(try await register("ben", other.code) == nil)
            #expect(try await done("registration", "closed", "--api", "messenger") == "messenger\tclosed\n")
            #expect(try await register("carl", code) == "Registration is closed")
            #expect(try await done("registration", "open") == "messenger\topen\ndeuce-diary\topen\n")

            #expect(
                try await done(
                    "bar", "add", "domain", "Spam.example", "b.example", "--reason", "spam", "--api", "messenger")
                    == "messenger\tdomain\t\"spam.example\"\tis barred\nmessenger\tdomain\t\"b.example\"\tis barred\n")
            #expect(
                try await done("bar", "add", "domain", "spam.example", "--reason", "spam")
                    == "messenger\tdomain\t\"spam.example\"\twas barred already\ndeuce-diary\tdomain\t\"spam.example\"\tis barred\n"
            )
            #expect(try await register("carl", email: "c@x.spam.example") == "Email address is not allowed here")
            #expect(
                try await done("bar", "list", "--api", "deuce-diary").hasPrefix(
                    "deuce-diary\tdomain\t\"spam.example\"\tsince 20"))

            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            // The same without a server.
            #expect(
                try await done("bar", "remove", "domain", "b.example", "--reason", "mistake")
                    == "messenger\tdomain\t\"b.example\"\tis no longer barred\n")
            #expect(try await done("registration", "show", "--json").hasPrefix(#"{"api":"messenger","state":"open"}"#))
            for (arguments, sentence) in Self.mistakes {
                let result = try await concord(arguments + data)
                #expect(result.status != 0)
                #expect(
                    String(result.errors.prefix { $0 != "\n" })
                        == sentence.replacing("DATA", with: place.folder + "/data"))
            }
            #expect(
                try await refused("registration", "open", "--api", "email").hasPrefix(
                    "Error: There is no API 'email'. Known: "))
            try await checkAudit(try await done("audit"), without: code)
        }
    }

    /// Checks that the audit has every act, and no code.
    private func checkAudit(_ output: String, without code: String) async throws {
        let acts = output.split(separator: "\n").map { line in
            line.split(separator: "\t").dropFirst().joined(separator: " ")
        }
        for act in [
            #"messenger "operator anna" registration set "invite""#,
            #"messenger "operator anna" registration code "code 1, uses: 2""#,
            #"messenger "operator anna" registration revoke "code 1""#,
            #"deuce-diary "operator anna" registration set "open""#,
            #"messenger "operator anna" bar add "domain spam.example: spam""#,
            #"messenger "operator anna" bar remove "domain b.example: mistake""#,
        ] { #expect(acts.contains(act), "\(act) is not in \(acts)") }
        #expect(!acts.contains { $0.contains(code) })
    }

    @Test func settingsThatCannotBeAreRefused() async throws {
        let folder = NSTemporaryDirectory() + UUID().uuidString
        for (arguments, sentence) in [
            (["--require-terms"], "--require-terms needs --about-version, the version of the terms that are accepted"),
            (["--about-terms", "example.com"], "--about-terms for messenger is not a URL: example.com"),
            (
                ["--about-version", "dunbar=" + String(repeating: "x", count: 101)],
                "--about-version for dunbar is longer than 100 characters: " + String(repeating: "x", count: 101)
            ),
            (["--words", folder + "/none"], "--words: \(folder)/none cannot be read as a text of at most 4 MiB"),
        ] {
            let process = try ConcordProcess(["serve", "--data", folder] + arguments)
            #expect(await process.status() == 64)
            let errors = await process.standardError()
            #expect(errors.hasPrefix("Error: \(sentence)\n"), "\(errors)")
        }
    }
}
