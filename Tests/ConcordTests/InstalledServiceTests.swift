import Foundation
import Testbed
import Testing

@testable import concord

/// Operators' commands on a machine with the installed service.
@Suite(.timeLimit(.minutes(30))) struct InstalledServiceTests {
    @Test func aFileOfVariablesIsReadAsSystemdReadsIt() throws {
        let variables = try EnvironmentFile.parse(
            """
            # A comment
              ; another one

            PLAIN=value
            SPACES =  a b c \u{20}
            DOUBLE="two words # here" \u{20}
            SINGLE='$HOME\\n "quoted"'
            ESCAPED=a\\ b\\"c
            INNER="a \\"b\\" \\\\ \\n"
            LONG=first \\
            second
            EMPTY=
            URL=postgres://a:b=c@host/d?x=y
            PLAIN=last
            """)
        #expect(
            variables == [
                "PLAIN": "last", "SPACES": "a b c", "DOUBLE": "two words # here", "SINGLE": "$HOME\\n \"quoted\"",
                "ESCAPED": "a b\"c", "INNER": "a \"b\" \\ \\n", "LONG": "first second", "EMPTY": "",
                "URL": "postgres://a:b=c@host/d?x=y",
            ])
        #expect(throws: EnvironmentFile.UnreadableLine(line: 2)) { try EnvironmentFile.parse("A=1\nexport B\n") }
        #expect(throws: EnvironmentFile.UnreadableLine(line: 1)) { try EnvironmentFile.parse("1A=1") }
    }

    /// Makes a machine with the service below a folder, in which a command runs that has no `./data`.
    private func withService(
        _ settings: String,
        _ body: (_ root: String, _ run: ([String]) async throws -> (Int32, String, String)) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            for path in ["/var/lib/concord", "/etc/concord", "/work"] {
                try FileManager.default.createDirectory(atPath: folder + path, withIntermediateDirectories: true)
            }
            try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/etc/concord/concord.env"))
            try await body(folder) { arguments in
                let process = try ConcordProcess(
                    arguments, environment: ["CONCORD_TEST_ROOT": folder], in: folder + "/work")
                return (await process.status(), await process.wholeOutput(), await process.standardError())
            }
        }
    }

    @Test func commandsFindTheServicesFolderAndItsSettings() async throws {
        try await withService("CONCORD_LOG_FORMAT=json\nCONCORD_SMTP_FILE=/run/credentials/concord.service/smtp\n") {
            root, run in
            let note =
                "Using the installed service: data in \(root)/var/lib/concord, settings of \(root)/etc/concord/concord.env\n"
            let ports = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"].flatMap { ["--port", "\($0)=0"] }
            let config = try await run(["config", "--json"] + ports)
            #expect(config.2 == note)
            #expect(
                config.1.contains(
                    #""name":"log-format","origin":"variable","source":"CONCORD_LOG_FORMAT","value":"json""#))
            #expect(
                config.1.contains("\"value\":\"\(root.replacing("/", with: "\\/"))\\/var\\/lib\\/concord\"")
                    || config.1.contains("\(root)/var/lib/concord"))
            let keys = try await run(["keys", "list"])
            #expect(keys.0 == 0 && keys.2 == note, "\(keys)")

            // What is given has precedence, and so has a folder ./data.
            let given = try await run(["keys", "list", "--data", root + "/elsewhere"])
            #expect(given.0 == 0 && given.2 == "")
            try FileManager.default.createDirectory(atPath: root + "/work/data", withIntermediateDirectories: true)
            #expect(try await run(["keys", "list"]).2 == "")

            // A file that the operator names.
            try Data("CONCORD_LOG_LEVEL=debug\n".utf8).write(to: URL(fileURLWithPath: root + "/own.env"))
            let own = try await run(["config", "--json", "--env-file", root + "/own.env"] + ports)
            #expect(
                own.1.contains(#""name":"log-level","origin":"variable","source":"CONCORD_LOG_LEVEL","value":"debug""#))
            let missing = try await run(["keys", "list", "--env-file", root + "/none.env"])
            #expect(missing.0 == 64 && missing.2.contains("There is no file \(root)/none.env"), "\(missing)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func whatRootRestoresBelongsToTheFoldersOwner() async throws {
        try await withService("") { root, run in
            let place = root + "/backups"
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: root + "/first", port: port)
            let backup = try await run(["backup", place, "--data", root + "/first"])
            #expect(backup.0 == 0, "\(backup)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(chown(root + "/var/lib/concord", 65_534, 65_534) == 0)
            let restore = try await run(["restore", place])
            #expect(restore.0 == 0, "\(restore)")
            let files = try FileManager.default.subpathsOfDirectory(atPath: root + "/var/lib/concord")
            #expect(files.contains("messenger.sqlite"))
            for file in files {
                let owner = try FileManager.default.attributesOfItem(atPath: "\(root)/var/lib/concord/\(file)")
                #expect(owner[.ownerAccountID] as? Int == 65_534, "\(file)")
            }
        }
    }
}

/// A start and `concord config` name the ports and variables that are wrong.
@Suite(.timeLimit(.minutes(30))) struct PortAndVariableTests {
    @Test func allTakenPortsAreNamedBeforeAnythingIsMade() async throws {
        try await withTemporaryFolder { folder in
            let ports = [try await reservePort(), try await reservePort()]
            let flags = ["--port", "messenger=\(ports[0])", "--port", "gtsd=\(ports[1])"]
            let first = try ConcordProcess(["serve", "messenger", "gtsd", "--data", folder + "/first"] + flags)
            try await first.waitUntilReady()
            let second = try ConcordProcess(["serve", "messenger", "gtsd", "--data", folder + "/second"] + flags)
            #expect(await second.status() == 1)
            let errors = await second.standardError()
            #expect(errors.contains("Port \(ports[0]) ") && errors.contains("Port \(ports[1]) "), "\(errors)")
            #expect(!errors.contains("CancellationError"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/second"))
            first.signal(SIGTERM)
            #expect(await first.status() == 0)
        }
    }

    @Test func theOperatorsDefaultPortGivesWayAndAnOffsetMovesAll() async throws {
        try await withTemporaryFolder { folder in
            // The first server has the port that would be the second one's by default.
            let taken = try await reservePort()
            let first = try await ConcordProcess.serving(data: folder + "/first", port: taken)
            let offset = taken - 8090
            let second = try ConcordProcess(
                [
                    "serve", "messenger", "--data", folder + "/second", "--port", "messenger=0", "--port-offset",
                    "\(offset)",
                ],
                environment: ["CONCORD_PORT_OPERATOR": ""])
            try await second.waitUntilReady()
            try await second.waitForLog {
                $0.contains("the operator's default port is taken") && $0.contains("port=\(taken)")
            }
            #expect(!second.standardOutput.contains(":\(taken)\n"))
            for server in [first, second] {
                server.signal(SIGTERM)
                #expect(await server.status() == 0)
            }
            let config = try ConcordProcess(
                ["config", "--port-offset", "1000", "--data", folder + "/none"],
                environment: ["CONCORD_PORT_OPERATOR": ""])
            let settings = await config.wholeOutput()
            for port in ["9080", "9081", "9082", "9083", "6000", "9090"] { #expect(settings.contains(port)) }
        }
    }

    @Test func aMisspeltVariableIsNamedWithItsNearestOne() async throws {
        try await withTemporaryFolder { folder in
            let variables = [
                "CONCORD_PUBLIC_URL_MESENGER": "https://m.example.com", "CONCORD_SMPT": "x",
                "CONCORD_WHOLLY_DIFFERENT": "1",
            ]
            let config = try ConcordProcess(
                ["config", "messenger", "--port", "messenger=0", "--data", folder], environment: variables)
            let output = await config.wholeOutput()
            for line in [
                "CONCORD_PUBLIC_URL_MESENGER is not a setting: did you mean CONCORD_PUBLIC_URL_MESSENGER?",
                "CONCORD_SMPT is not a setting: did you mean CONCORD_SMTP?",
                "CONCORD_WHOLLY_DIFFERENT is not a setting\n",
            ] { #expect(output.contains(line), "\(output)") }
            let server = try await ConcordProcess.serving(data: folder, port: 0, environment: variables)
            try await server.waitForLog { $0.contains("did you mean CONCORD_SMTP?") }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)

            let wrong = try ConcordProcess(
                ["serve", "--data", folder], environment: ["CONCORD_PORT_MESSENGER": "abc"])
            #expect(await wrong.status() == 64)
            #expect(
                await wrong.standardError().contains(
                    "abc is not a port for messenger: 0 to 65535 (CONCORD_PORT_MESSENGER)"))
        }
    }

    @Test func aStartWithoutTheDatabaseThatWasMovedIsRefused() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(fileURLWithPath: folder + "/messenger.sqlite-moved-20261127t101500"))
            try Data("postgres://concord@db/chat on 2026-11-27".utf8).write(
                to: URL(fileURLWithPath: folder + "/messenger.sqlite-moved-to"))
            let message =
                "The database of messenger was moved to postgres://concord@db/chat on 2026-11-27: give --database"
            let server = try ConcordProcess(["serve", "messenger", "--data", folder, "--port", "messenger=0"])
            #expect(await server.status() == 1)
            #expect(await server.standardError().contains(message))
            #expect(!FileManager.default.fileExists(atPath: folder + "/messenger.sqlite"))
            let config = try ConcordProcess(["config", "messenger", "--data", folder, "--port", "messenger=0"])
            #expect(await config.wholeOutput().contains(message))
            // An API that was not moved starts.
            let other = try ConcordProcess(["serve", "gtsd", "--data", folder, "--port", "gtsd=0"])
            try await other.waitUntilReady()
            other.signal(SIGTERM)
            #expect(await other.status() == 0)
        }
    }
}
