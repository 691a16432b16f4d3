import ContractClient
import DunbarClient
import Foundation
import MessengerClient
import NIOCore
import NIOPosix
import Testbed
import Testing

/// `concord reports`, as an operator gives it, with and without a running server.
@Suite(.timeLimit(.minutes(30))) struct ReportCommandTests {
    private func concord(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: ["SUDO_USER": "anna"])
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    /// Returns the lines without their times, which differ in each run.
    private func lines(_ output: String) -> [String] {
        output.split(separator: "\n").map { String($0).replacing(#/\d{4}-\d\d-\d\dT[\d:.]+Z/#, with: "TIME") }
    }

    private struct Listed: Decodable {
        let api: String
        let id: Int64
        let state: String
        let kind: String
        let reason: String
        let person: Person?

        struct Person: Decodable { let name: String? }
    }

    @Test(arguments: Stack.Engine.available)
    func oneQueueHasTheReportsOfAllAPIs(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let data = ["--data", place.folder + "/data"] + (place.url.map { ["--database", $0] } ?? [])
            let (first, second) = (try await reservePort(), try await reservePort())
            let server = try ConcordProcess(
                [
                    "serve", "messenger", "dunbar", "--port", "messenger=\(first)", "--port", "dunbar=\(second)",
                    "--reports-to", "operator@example.com",
                ] + data)
            try await server.waitUntilReady()
            let none = try await concord(["reports", "list"] + data)
            #expect(none.output == "No reports\n", "\(none.errors)")
            #expect(try await concord(["reports", "list", "--json"] + data).output == "")

            let url = try #require(URL(string: "http://127.0.0.1:\(first)"))
            func client(_ name: String) async throws -> MessengerClient {
                let client = MessengerClient(baseURL: url, transport: .patient, retry: .never)
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
                try await client.signIn(username: name, password: "secret123")
                return client
            }
            let (alice, bob) = (try await client("alice"), try await client("bob"))
            let his = try #require(try await bob.user)
            let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
            let file = try await bob.upload(Upload(.bytes([0, 255, 10]), filename: "a\u{202E}b")).id
            let rude = try await bob.send(
                Messenger.SendMessage(chat: chat, content: "rude\u{1B}[2J\u{202E}\n", file: file)
            ).id
            try await alice.send(Messenger.CreateReport(message: rude, reason: "rude", details: "a/b"))
            let dunbarURL = try #require(URL(string: "http://127.0.0.1:\(second)/api"))
            var people: [DunbarClient] = []
            for name in ["carl", "dora"] {
                let dunbar = DunbarClient(
                    baseURL: dunbarURL, store: MemoryCookieStore(), transport: .patient, retry: .never)
                try await dunbar.register(
                    .init(username: name, email: "\(name)@example.com", password: "secret123", displayName: name))
                people.append(dunbar)
            }
            let carl = try #require(try await people[0].currentUser())
            try await people[1].send(Dunbar.ReportUser(user: carl.id, reason: .hateful))
            try await alice.send(Messenger.CreateReport(user: his, reason: "spam"))

            let list = ["reports", "list"] + data
            let open = try await concord(list)
            #expect(
                lines(open.output) == [
                    "messenger\t1\topen\tTIME\tmessage \(rude)\t\(his) \"bob\"\t\"rude\"",
                    "dunbar\t1\topen\tTIME\tperson \(carl.id)\t\(carl.id) \"carl\"\t\"Hateful\"",
                    "messenger\t2\topen\tTIME\tperson \(his)\t\(his) \"bob\"\t\"spam\"",
                ], "\(open.output)\(open.errors)")
            let limited = try await concord(list + ["--limit", "1"])
            #expect(lines(limited.output).last == "There are more: give --limit")
            let show = ["reports", "show", "messenger", "1"] + data
            let her = try #require(try await alice.user)
            let shown = try await concord(show)
            #expect(
                lines(shown.output) == [
                    "messenger report 1, open, of TIME", "message: \(rude) in chat \(chat) of \(his) \"bob\"",
                    #"reason: "rude""#, #"details: "a/b""#, "reported by: \(her) \"alice\"",
                    #"then: "rude\u{1B}[2J\u{202E}\n""#, "now: the same",
                    #"file 1: "ab", "application/octet-stream", 3 bytes"#,
                ], "\(shown.output)\(shown.errors)")
            let path = place.folder + "/saved"
            #expect(try await concord(show + ["--file", path]).status == 0)
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == [0, 255, 10])
            let again = try await concord(show + ["--file", path])
            #expect(again.errors == "Error: \(path) cannot be written: File exists\n")
            let absent = try await concord(show + ["--file", path + "2", "--number", "2"])
            #expect(absent.errors == "Error: Report 1 has 1 file\n")
            #expect(!FileManager.default.fileExists(atPath: path + "2"))

            // The e-mail about all of them is there within a minute, and quotes none.
            let letters = try await lookForLetters(in: place.folder + "/data/mail/operator")
            #expect(letters.count == 1)
            #expect(letters[0].contains("To: <operator@example.com>") && letters[0].contains("concord reports list"))
            #expect(!letters[0].contains("rude") && !letters[0].contains("bob"), "\(letters[0])")

            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            // The same without a server.
            #expect(try await concord(list).output == open.output)
            try await decide(data, list)
            // The file outlasts the message.
            #expect(try await concord(show + ["--file", path + "3"]).status == 0)
        }
    }

    /// The server is stopped while the mail server does not answer. It stops at once, and tells of the reports when it runs again.
    @Test func aStopGivesReportsBack() async throws {
        let (connections, continuation) = AsyncStream<Void>.makeStream()
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                continuation.yield()
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let arguments = [
                "serve", "messenger", "--port", "messenger=\(port)", "--data", folder, "--reports-to",
                "operator@example.com",
            ]
            let mail = "smtp://127.0.0.1:\(silent.localAddress?.port ?? 0)?tls=none"
            let first = try ConcordProcess(arguments + ["--smtp", mail, "--mail-from", "us@example.com"])
            try await first.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            var clients: [MessengerClient] = []
            for name in ["alice", "bob"] {
                let client = MessengerClient(baseURL: url, transport: .patient, retry: .never)
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
                try await client.signIn(username: name, password: "secret123")
                clients.append(client)
            }
            let bob = try #require(try await clients[1].user)
            try await clients[0].send(Messenger.CreateReport(user: bob, reason: "spam"))
            for await _ in connections { break }
            first.signal(SIGTERM)
            #expect(await first.status() == 0)
            let log = await first.standardError()
            #expect(!log.contains("operator was not told") && !log.contains("before all work"), "\(log)")

            let second = try ConcordProcess(arguments)
            try await second.waitUntilReady()
            let letters = try await lookForLetters(in: folder + "/mail/operator")
            #expect(letters.count == 1 && letters[0].contains("Messenger: 1 new, 1 open"), "\(letters)")
            second.signal(SIGTERM)
            #expect(await second.status() == 0)
        }
        try await silent.close()
    }

    /// Notes, acts and dismisses, without a server.
    private func decide(_ data: [String], _ list: [String]) async throws {
        let noted = try await concord(["reports", "note", "messenger", "1", "asked bob"] + data)
        #expect(noted.output == "The note is on messenger report 1\n", "\(noted.errors)")
        let acted = try await concord(
            ["reports", "act", "messenger", "1", "--remove", "--suspend", "--until", "7d", "--reason", "rude"]
                + data)
        #expect(acted.output == "messenger report 1 is closed: remove, suspend\n", "\(acted.errors)")
        let dismissed = try await concord(["reports", "dismiss", "dunbar", "1"] + data)
        #expect(dismissed.output == "dunbar report 1 is dismissed\n", "\(dismissed.errors)")
        let late = try await concord(["reports", "dismiss", "messenger", "1"] + data)
        #expect(late.status == 1)
        #expect(lines(late.errors) == ["Error: Report 1 was closed by operator anna at TIME: acted"])
        let all = try await concord(list + ["--state", "all", "--json"])
        let listed = try all.output.split(separator: "\n").map {
            try JSONDecoder().decode(Listed.self, from: Data($0.utf8))
        }
        #expect(
            listed.map { "\($0.api) \($0.id) \($0.state)" } == [
                "messenger 1 acted", "dunbar 1 dismissed", "messenger 2 open",
            ])
        #expect(listed.map { $0.person?.name } == ["bob", "carl", "bob"])
        let audit = try await concord(["audit"] + data)
        for part in ["reports note", "reports act", "reports dismiss", "reports file"] {
            #expect(audit.output.contains("\"operator anna\"\t\(part)\t"), "\(audit.output)")
        }
    }

    /// Polls for the letters in a folder: a test is not notified of another process's files.
    private func lookForLetters(in folder: String) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(900)
        while true {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let letters = names.filter { !$0.hasPrefix(".") }.compactMap {
                try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
            }
            if !letters.isEmpty { return letters }
            try #require(ContinuousClock.now < deadline, "it never came")
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test func mistakesAreReportedWithAReason() async throws {
        for (arguments, words) in [
            (["show", "messenger", "first"], "Usage: concord reports show "),
            (["act", "messenger", "1", "--reason", "x"], "Give --remove, --suspend or --warn"),
            (["act", "messenger", "1", "--warn", "--reason", " "], "--reason is empty"),
            (["act", "messenger", "1", "--warn", "--until", "7d", "--reason", "x"], "give --suspend, too"),
            (["act", "messenger", "1", "--suspend", "--until", "soon", "--reason", "x"], "--until must be like"),
            (["note", "messenger", "1", " "], "The note is empty"),
            (["list", "--state", "shut"], "--state"), (["list", "--limit", "0"], "--limit must be 1 to 1000"),
            (["list", "--api", "telephone"], "There is no API 'telephone'"),
        ] {
            let wrong = try await concord(["reports"] + arguments)
            #expect(wrong.status == 64, "\(arguments)")
            #expect(wrong.errors.contains(words), "\(arguments): \(wrong.errors)")
        }
        let nowhere = try await concord(["reports", "show", "messenger", "1", "--data", "/nonexistent"])
        #expect(nowhere.status == 1)
        #expect(nowhere.errors.contains("has no Messenger database"))
        let address = try ConcordProcess(["serve", "--data", "/nonexistent", "--reports-to", "anna"])
        #expect(await address.status() == 64)
        #expect(await address.standardError().contains("--reports-to must be an e-mail address"))
    }
}
