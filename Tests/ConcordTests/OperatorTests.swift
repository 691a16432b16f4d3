import Backend
import ContractClient
import Database
import DunbarClient
import Foundation
import MonicaService
import MonicaTestHost
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Operators' commands work with and without a running server.
@Suite(.timeLimit(.minutes(30))) struct OperatorTests {
    private func concord(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: environment)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    private func serving(_ api: String, _ folder: String) async throws -> (server: ConcordProcess, port: Int) {
        let port = try await reservePort()
        let server = try ConcordProcess(["serve", api, "--data", folder, "--port", "\(api)=\(port)"])
        try await server.waitUntilReady()
        return (server, port)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The commands write to SQLite while the server has the files open.
    @Test func noCommandNeedsTheServerStopped() async throws {
        try await withTemporaryFolder { folder in
            let (server, port) = try await serving("dunbar", folder)
            #expect(try mode(folder + "/operator") == 0o600)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/api"))
            let alice = DunbarClient(baseURL: url, store: MemoryCookieStore(), transport: .patient, retry: .never)
            try await alice.register(
                .init(username: "alice", email: "alice@example.com", password: "secret123", displayName: "Alice"))
            let none = try await concord(["reports", "list", "--data", folder])
            #expect(none.output == "No reports\n", "\(none.errors)")
            let both = try await concord(
                ["dunbar", "promote", "ALICE", "bob", "--data", folder])
            #expect(both.output == "ALICE is an admin\n")
            #expect(both.errors == "Error: There is no user bob\n")
            #expect(both.status == 1)
            #expect(try await alice.currentUser()?.isAdmin == true)

            // For an API that is not served, the server opens the database, so that only one process has it open.
            let data = ["--data", folder]
            let nothing = try await concord(["monica", "token", "list"] + data)
            #expect(nothing.status == 1)
            #expect(nothing.errors.contains("has no Monica database"))
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for name in 0..<4 {
                    group.addTask {
                        try await concord(["monica", "token", "create", "--account", "a\(name)"] + data).output
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 4 && !tokens.contains(""))
            let listed = try await concord(["monica", "token", "list"] + data)
            #expect(listed.output.split(separator: "\n").count == 4)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(!FileManager.default.fileExists(atPath: folder + "/operator"))
            let log = await server.standardError()
            #expect(log.contains(#"operation="dunbar promote""#), "\(log)")
            #expect(!log.contains("socket failed"), "\(log)")
        }
    }

    /// A killed server leaves its socket behind. No process answers there, so the command opens the database itself.
    @Test func commandsOpenTheDatabaseWithoutAServer() async throws {
        try await withTemporaryFolder { folder in
            let (server, _) = try await serving("monica", folder)
            server.signal(SIGKILL)
            _ = await server.status()
            #expect(FileManager.default.fileExists(atPath: folder + "/operator"))
            let data = ["--data", folder]
            // Commands that run at the same time wait for each other.
            let outcomes = try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        try await concord(["monica", "token", "create", "--account", "alice"] + data).status
                    }
                }
                return try await group.reduce(into: [Int32]()) { $0.append($1) }
            }
            #expect(outcomes == [0, 0, 0])
            let (again, _) = try await serving("monica", folder)
            let listed = try await concord(["monica", "token", "list"] + data)
            #expect(listed.output.split(separator: "\n").count == 3)
            let revoked = try await concord(["monica", "token", "revoke", "7"] + data)
            #expect(revoked.status == 1)
            #expect(revoked.errors == "Error: There is no token 7: see concord monica token list\n")
            again.signal(SIGTERM)
            #expect(await again.status() == 0)
        }
    }

    /// A connection that arrives while the server closes its socket is closed, and nothing else happens to the server.
    @Test func connectionsThatComeWhileTheServerStopsDoNotEndIt() async throws {
        try await withTemporaryFolder { folder in
            let (server, _) = try await serving("monica", folder)
            let settings = ServerSettings(folder: folder, environment: [:])
            let isEnded = NIOLockedValueBox(false)
            let connecting = Task.detached {
                var connections = 0
                while !isEnded.withLockedValue({ $0 }) {
                    connections += settings.isServerRunning ? 1 : 0
                    if connections == 20 { server.signal(SIGTERM) }
                    await Task.yield()
                }
                return connections
            }
            let status = await server.status()
            isEnded.withLockedValue { $0 = true }
            #expect(await connecting.value >= 20)
            let log = await server.standardError()
            #expect(status == 0, "\(log.suffix(2000))")
        }
    }

    /// The address of a Unix socket has room for about a hundred bytes only.
    @Test func aLongPathGetsASocketToo() async throws {
        try await withTemporaryFolder { temporary in
            let folder = temporary + "/" + String(repeating: "long/", count: 30) + "data"
            let (server, _) = try await serving("monica", folder)
            let made = try await concord(["monica", "token", "create", "--account", "alice", "--data", folder])
            #expect(made.status == 0, "\(made.errors)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(await server.standardError().contains(#"operation="monica token create""#))
        }
    }

    @Test func aMissingFolderIsNotCreated() async throws {
        try await withTemporaryFolder { folder in
            let wrong = folder + "/wrong"
            for command in [
                ["monica", "export", "--account", "a"], ["monica", "token", "list"],
                ["monica", "token", "revoke", "1"],
                ["reports", "show", "dunbar", "1"], ["gtsd", "activate", "a"],
                ["reports", "show", "messenger", "1"],
            ] {
                let outcome = try await concord(command + ["--data", wrong])
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("\(wrong) has no "), "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: wrong))
            }
        }
    }

    @Test(arguments: [
        ["serve"], ["monica", "export", "--account", "a"], ["monica", "import", "-", "--account", "a"],
        ["monica", "token", "create", "--account", "a"], ["monica", "token", "list"], ["reports", "list"],
        ["gtsd", "activate", "a"], ["messenger", "sign-out-everybody"],
    ])
    func aFileThatIsNoDatabaseIsRefusedAlike(_ command: [String]) async throws {
        let outcome = try await concord(command + ["--database", "nonsense"])
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--database must be 'sqlite' or 'postgres://"))
        #expect(outcome.errors.contains("', not 'nonsense'"))
        let name = "Usage: concord " + command.prefix { $0 != "a" && !$0.hasPrefix("-") }.joined(separator: " ")
        #expect(outcome.errors.contains(name), "\(outcome.errors)")
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aServerOnPostgreSQLIsAskedToo() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let url = try #require(place.url)
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "monica", "--data", place.folder, "--port", "monica=\(port)", "--database", url])
            try await server.waitUntilReady()
            // The server knows its data folder and database. A command with other options is refused.
            let made = try await concord(["monica", "token", "create", "--account", "alice", "--data", place.folder])
            #expect(made.status == 0, "\(made.errors)")
            let other = try await concord(["monica", "token", "list", "--data", place.folder, "--database", "sqlite"])
            #expect(other.status == 1)
            #expect(other.errors.contains("keeps its data in PostgreSQL"))
            let direct = try await concord([
                "monica", "token", "list", "--data", place.folder + "/x", "--database", url,
            ])
            #expect(direct.output.contains("\talice\t"), "\(direct.errors)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// The server is killed during an import, or the command's connection ends. Nothing of the import stays.
    @Test(arguments: [true, false])
    func anImportThatIsCutOffLeavesNothing(_ killsServer: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (server, _) = try await serving("monica", folder)
            let data = ["--data", folder]
            let cards = (0..<1000).map {
                "BEGIN:VCARD\nFN:Number \($0)\nNOTE;CREATED=20200101T000000Z:x\nEND:VCARD\n"
            }
            let file = try CardFile(Array(cards.joined().utf8), skippingUnreadable: false)
            let console = EndlessInput(Array(try JSONEncoder().encode(file.cards)))
            let command = MonicaService.ImportCards(
                account: "alice", overwriting: false, count: 2 * file.cards.count, findings: file.findings)
            let importing = Task {
                try await OperatorClient(folder: folder, database: nil, environment: [:])
                    .perform(command, on: HostedMonica(), publicURL: "http://localhost", console: console)
            }
            // The server asks for more after it has stored the cards that it got.
            try await console.waitUntilAsked()
            let peek = try Database.sqlite(path: folder + "/monica.sqlite", schema: MonicaService.schema, readers: 1)
            #expect(try await peek.read { try $0.value("SELECT COUNT(*) FROM contacts", as: Int.self) } ?? 0 > 0)
            try await peek.close()
            let second = try await concord(["monica", "import", "/dev/null", "--account", "alice"] + data)
            #expect(second.errors.contains("Another import into 'alice' is in progress."))
            let token = try await concord(["monica", "token", "create", "--account", "bob"] + data)
            #expect(token.status == 0)
            var running = server
            if killsServer {
                server.signal(SIGKILL)
                _ = await server.status()
                console.end(.success(()))
                let error = await #expect(throws: OperatorError.self) { try await importing.value }
                #expect(error?.description == "The server stopped before it had answered")
                running = try await serving("monica", folder).server
            } else {
                console.end(.failure(EndlessInput.CutOff()))
                await #expect(throws: EndlessInput.CutOff.self) { try await importing.value }
            }
            // Another import is refused until the first one has been removed.
            let deadline = ContinuousClock.now + .seconds(900)
            while true {
                let other = try await concord(["monica", "import", "/dev/null", "--account", "alice"] + data)
                if other.status == 0 { break }
                try #require(ContinuousClock.now < deadline, "\(other.errors)")
                try await Task.sleep(for: .milliseconds(500))
            }
            running.signal(SIGTERM)
            #expect(await running.status() == 0)
            let database = try Database.sqlite(path: folder + "/monica.sqlite", schema: MonicaService.schema)
            let left = try await database.read { db in
                try ["contacts", "notes", "tags", "imports", "import_updates"].map { table in
                    try db.value("SELECT COUNT(*) FROM \(SQL(trusted: table))", as: Int.self)
                }
            }
            #expect(left == [0, 0, 0, 0, 0])
            try await database.close()
        }
    }
}

/// The terminal of a command whose input has one piece, and goes on until the test ends it.
private final class EndlessInput: OperatorConsole {
    struct CutOff: Error {}

    private struct State {
        var piece: [UInt8]?
        var isAsked = false
        var end: Result<Void, any Error>?
    }

    private let state: NIOLockedValueBox<State>

    init(_ piece: [UInt8]) { state = NIOLockedValueBox(State(piece: piece)) }

    func write(_ bytes: [UInt8]) {}
    func show(_ done: Int, of total: Int) {}

    func read() async throws -> [UInt8]? {
        let piece = state.withLockedValue { state in
            defer { (state.piece, state.isAsked) = (nil, state.piece == nil) }
            return state.piece
        }
        if let piece { return piece }
        while true {
            if let end = state.withLockedValue({ $0.end }) {
                try end.get()
                return nil
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until the server asks for another piece.
    func waitUntilAsked() async throws {
        while !state.withLockedValue({ $0.isAsked }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    func end(_ result: Result<Void, any Error>) { state.withLockedValue { $0.end = result } }
}
