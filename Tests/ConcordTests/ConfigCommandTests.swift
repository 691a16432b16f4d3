import Database
import Foundation
import Testbed
import Testing

/// `concord config` prints the settings that are in force, and what is wrong with them.
@Suite(.timeLimit(.minutes(30))) struct ConfigCommandTests {
    private struct Report: Decodable {
        struct Setting: Decodable, Equatable {
            var name: String
            var value: String
            var origin: String
            var source: String?
            var file: String?
        }
        var settings: [Setting]
        var problems: [String]
        var warnings: [String]
        var running: [Setting]?

        func setting(_ name: String) -> Setting? { settings.first { $0.name == name } }
    }

    private func config(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, report: Report, output: String) {
        let process = try ConcordProcess(["config", "--json"] + arguments, environment: environment)
        let output = await process.wholeOutput()
        let status = await process.status()
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        #expect(status == (report.problems.isEmpty ? 0 : 1), "\(output)")
        return (status, report, output)
    }

    /// Ports that other processes of the machine do not have.
    private func ports() async throws -> [String] {
        var flags: [String] = []
        for name in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] {
            flags += ["--port", "\(name)=\(try await reservePort())"]
        }
        return flags
    }

    @Test func eachSettingNamesThePlaceItCameFrom() async throws {
        try await withTemporaryFolder { folder in
            try Data("smtp://anna:hush@mail.example.com\n".utf8).write(to: URL(fileURLWithPath: folder + "/smtp"))
            let key = Data(repeating: 42, count: 32).base64EncodedString()
            let (_, report, output) = try await config(
                ["--data", folder + "/data", "--log-level", "debug"] + (try await ports()),
                [
                    "CONCORD_SMTP_FILE": folder + "/smtp", "CONCORD_LOG_LEVEL": "error", "CONCORD_LOG_FORMAT": "json",
                    "CONCORD_UPLOAD_LIMIT_GTSD": "7", "CONCORD_MESSENGER_TOKEN_KEY": key,
                ])
            #expect(report.problems == [])
            #expect(
                report.setting("log-level")
                    == .init(name: "log-level", value: "debug", origin: "flag", source: "--log-level"))
            #expect(
                report.setting("log-format")
                    == .init(name: "log-format", value: "json", origin: "variable", source: "CONCORD_LOG_FORMAT"))
            #expect(report.setting("host") == .init(name: "host", value: "127.0.0.1", origin: "default"))
            #expect(
                report.setting("smtp")
                    == .init(
                        name: "smtp", value: "smtp://anna:hidden@mail.example.com", origin: "file",
                        source: "CONCORD_SMTP_FILE", file: folder + "/smtp"))
            #expect(report.setting("upload-limit gtsd")?.value == "7")
            #expect(report.setting("upload-limit messenger")?.value == "1000")
            #expect(report.setting("port dunbar")?.source == "--port")
            #expect(report.setting("messenger-token-key")?.value == "(hidden)")
            #expect(report.setting("gtsd-token-key")?.value == "generated at the first start")
            #expect(!output.contains("hush") && !output.contains(key), "\(output)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/data"))

            let text = try ConcordProcess(["config", "--data", folder + "/data"] + (try await ports()))
            let lines = await text.wholeOutput().split(separator: "\n")
            #expect(lines.contains { $0.wholeMatch(of: #/host +127\.0\.0\.1 +default/#) != nil }, "\(lines)")
            #expect(lines.last == "No problem found.")
            #expect(await text.status() == 0)
        }
    }

    /// Each setting stands in the documents by its flag or by its variable: else no operator finds it.
    @Test func eachSettingIsDocumented() async throws {
        let pages = try ["operations", "backups"].map {
            try String(contentsOfFile: "\(StockTools.package)/docs/\($0).md", encoding: .utf8)
        }.joined()
        let (_, report, _) = try await withTemporaryFolder { folder in
            try await config(["--data", folder + "/data"] + (try await ports()))
        }
        #expect(report.settings.count > 50)
        // A former key is documented with its key. Values of the system, such as its time zones, are no settings.
        for setting in report.settings where setting.origin != "system" {
            var name = String(setting.name.prefix { $0 != " " })
            if name.hasSuffix("-key-former") { name.removeLast("-former".count) }
            let variable = "CONCORD_" + name.uppercased().replacing("-", with: "_")
            // The name ends there: a longer name that begins with it is another setting's.
            let isDocumented = ["--\(name)", variable].contains { word in
                [" ", "=", "`", "\n"].contains { pages.contains("`\(word)\($0)") }
            }
            #expect(isDocumented, "\(setting.name)")
        }
    }

    /// The version of the time zone data is listed, and old ones are named, here and in the log of a start.
    @Test func timeZoneDataAreNamed() async throws {
        try await withTemporaryFolder { folder in
            let zones = folder + "/zones"
            try MadeZoneFile(offsets: [0]).write(as: "UTC", in: zones)
            try Data("2020a\n".utf8).write(to: URL(fileURLWithPath: zones + "/version"))
            let (port, environment) = (try await reservePort(), ["TZDIR": zones])
            let flags = ["gtsd", "--data", folder + "/data", "--port", "gtsd=\(port)"]
            let (status, report, _) = try await config(flags, environment)
            #expect(status == 0)
            #expect(report.setting("tzdata") == .init(name: "tzdata", value: "2020a", origin: "system", file: zones))
            let warning = "The time zone data in \(zones) (2020a) are older than a year"
            #expect(report.warnings.count == 1 && report.warnings.first?.hasPrefix(warning) == true)
            let text = try await ConcordProcess(["config"] + flags, environment: environment).wholeOutput()
            #expect(text.contains("Warnings:\n- \(warning)") && text.hasSuffix("\nNo problem found.\n"), "\(text)")
            // Of the APIs, only GTSD counts in days of its users.
            let other = try await config(["monica", "--data", folder + "/data"] + (try await ports()), environment)
            #expect(other.report.warnings == [])

            let server = try ConcordProcess(["serve"] + flags, environment: environment)
            try await server.waitUntilReady()
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(await server.standardError().contains(warning))
        }
    }

    /// The settings of the server that runs are shown where they differ, because they are in force.
    @Test func aRunningServerIsAsked() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let secret = URL(fileURLWithPath: folder + "/smtp")
            try Data("smtp://anna:hush@mail.example.com\n".utf8).write(to: secret)
            let server = try await ConcordProcess.serving(
                data: folder, port: port, more: ["--log-level", "warning"],
                environment: ["CONCORD_SMTP_FILE": secret.path])
            // The server keeps what it has read.
            try Data("smtp://other.example.com\n".utf8).write(to: secret)
            let flags = ["messenger", "--data", folder, "--port", "messenger=\(port)"]
            let (status, report, output) = try await config(flags)
            #expect(status == 0 && report.problems == [])
            let running = try #require(report.running)
            #expect(
                running.first { $0.name == "log-level" }
                    == .init(name: "log-level", value: "warning", origin: "flag", source: "--log-level"))
            #expect(report.setting("log-level")?.value == "info")
            #expect(running.first { $0.name == "smtp" }?.value == "smtp://anna:hidden@mail.example.com")
            #expect(!output.contains("hush"))
            let text = try await ConcordProcess(["config"] + flags).wholeOutput()
            #expect(
                text.contains(
                    """
                    A server uses this data folder. Until it is restarted, it has:
                      log-level  warning  --log-level
                    """), "\(text)")
            #expect(!text.contains("messenger-token-key  generated"), "\(text)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            let (_, after, _) = try await config(flags)
            #expect(after.running == nil)
        }
    }

    /// Each mistake is found, together with the others.
    @Test func whatIsWrongIsSaid() async throws {
        try await withTemporaryFolder { folder in
            let taken = try await reservePort()
            let other = try await ConcordProcess.serving(data: folder + "/other", port: taken)
            try FileManager.default.createDirectory(
                atPath: folder + "/data/keys", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Data("short\n".utf8).write(to: URL(fileURLWithPath: folder + "/data/keys/gtsd-tokens"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder + "/data/keys/gtsd-tokens")
            let (status, report, output) = try await config(
                ["--data", folder + "/data", "--host", "0.0.0.0", "--development"] + (try await ports())
                    + ["--port", "messenger=\(taken)", "--tls-cert", folder + "/no.pem"]
                    + ["--tls-key", folder + "/no.pem"],
                [
                    "CONCORD_SMTP_FILE": folder + "/none", "CONCORD_THUMBNAIL": folder + "/none",
                    "CONCORD_MAX_CONNECTIONS": "many",
                ])
            #expect(status == 1)
            for words in [
                "no public URL is set for messenger, deuce-diary, monica, gtsd, dunbar: links in answers begin with",
                "--development shows the causes of errors to every client on 0.0.0.0",
                "CONCORD_SMTP_FILE is \(folder)/none: there is no such file",
                "Uploads of pictures will be answered with 503: ", "CONCORD_THUMBNAIL names no program",
                "CONCORD_MAX_CONNECTIONS has an invalid value: many", "Port \(taken) on 0.0.0.0 is taken",
                "The certificate \(folder)/no.pem with the key \(folder)/no.pem cannot be used",
                "\(folder)/data/keys/gtsd-tokens", "E-mails are written to files in \(folder)/data/mail",
            ] {
                #expect(report.problems.contains { $0.contains(words) }, "\(words)\n\(output)")
            }
            other.signal(SIGTERM)
            #expect(await other.status() == 0)
        }
    }

    @Test(arguments: [
        (["--host", "0.0.0.0"], "speaks HTTP on 0.0.0.0, so passwords and tokens can be read"),
        (["--public-url", "messenger=https://m.example.com"], "that proxy is not trusted"),
        (["--port", "messenger=1111", "--port", "monica=1111"], "messenger and monica have the same port 1111"),
        (["--objects", "s3://bucket"], "AWS_ACCESS_KEY_ID"),
        (["--data", "/dev/null/data"], "/dev/null is not a folder"),
        (["--database", "postgres://user:hush@127.0.0.1:1/none"], "PostgreSQL does not answer: "),
        (["--public-url", "messenger=example.com"], "example.com is not a public URL for messenger"),
        (["--bus", "postgres"], "there is no PostgreSQL to listen on"), (["telephone"], "There is no API 'telephone'"),
    ])
    func aMistakeIsFound(_ arguments: [String], _ words: String) async throws {
        try await withTemporaryFolder { folder in
            let flags = try await ports() + ["--data", folder + "/data"] + arguments
            let (status, report, output) = try await config(flags)
            #expect(status == 1)
            #expect(report.problems.contains { $0.contains(words) }, "\(output)")
            #expect(!output.contains("hush"), "\(output)")
        }
    }

    /// The ports of a server that uses the data folder are its own.
    @Test func aRunningServerIsNoProblem() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let (status, report, _) = try await config(
                ["messenger", "--data", folder, "--port", "messenger=\(port)"])
            #expect(report.problems == [])
            #expect(status == 0)
            #expect(report.setting("messenger-token-key")?.value == "file \(folder)/keys/messenger-tokens")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// A database that this program cannot use, or whose times lie ahead of the clock, is a problem. Nothing is created by
    /// looking at it.
    @Test(arguments: [
        (
            "INSERT INTO schema_migrations (version, name) SELECT MAX(version) + 1, 'later' FROM schema_migrations",
            "It was used by a newer version of Concord"
        ),
        ("UPDATE schema_migrations SET name = 'other' WHERE version = 1", "it is another program's"),
        ("UPDATE schema_migrations SET digest = '00' WHERE version = 1", "in another form than this program has it"),
        (
            "INSERT INTO audit (time, actor, action, subject) VALUES (9000000000000, 'x', 'x', 'x')",
            "The Messenger database has times up to 2255-03-14T16:00:00Z, which lie ahead of the clock"
        ),
    ])
    func theDatabaseIsLookedAt(_ change: String, _ words: String) async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let flags = ["messenger", "--data", folder, "--port", "messenger=\(port)"]
            let server = try await ConcordProcess.serving(data: folder, port: port)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(try await config(flags).report.problems == [])
            try Database.administer(path: folder + "/messenger.sqlite", change)
            let files = try Set(FileManager.default.contentsOfDirectory(atPath: folder))
            let (status, report, output) = try await config(flags)
            #expect(status == 1)
            #expect(report.problems.count == 1 && report.problems[0].contains(words), "\(output)")
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == files)
        }
    }
}
