import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// A server of three APIs with texts, files and pictures, which a test makes and finds again through their SDKs.
struct LivingServer {
    private static let picture = SampleImage.jpeg(width: 64, height: 64)

    let ports: [String: Int]
    private let environment: [String: String]

    init(_ environment: [String: String] = [:]) async throws {
        ports = [
            "messenger": try await reservePort(), "dunbar": try await reservePort(), "monica": try await reservePort(),
        ]
        self.environment = environment
    }

    /// The things that the users have made.
    struct Content {
        var messages: [Messenger.Message.ID: String] = [:]
        var files: [Messenger.File.ID: [UInt8]] = [:]
        var chat: Messenger.Chat.ID = 0
        var post: Dunbar.Post.ID = 0
        var user: Dunbar.User.ID = 0
        var picture: [UInt8] = []
        var cards = ""
    }

    // MARK: The process

    /// Starts the server, and returns once it is ready.
    ///
    /// - Parameters:
    ///   - data: Its data folder.
    ///   - database: A PostgreSQL database; nil for SQLite.
    func start(_ data: String, _ database: String?, more: [String] = []) async throws -> ConcordProcess {
        let process = try ConcordProcess(
            ["serve"] + ports.keys.sorted() + ["--data", data] + ports.flatMap { ["--port", "\($0)=\($1)"] }
                + place(database) + more, environment: environment)
        try await process.waitUntilReady()
        return process
    }

    func stop(_ process: ConcordProcess) async throws {
        process.signal(SIGTERM)
        #expect(await process.status() == 0)
    }

    private func place(_ database: String?) -> [String] { database.map { ["--database", $0] } ?? [] }

    /// Runs a command to its end.
    func concord(
        _ arguments: [String], _ more: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: environment.merging(more) { $1 })
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    /// Runs a command to its end, and checks that it succeeds.
    ///
    /// - Returns: What it wrote to standard output.
    @discardableResult
    func succeed(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let (status, output, errors) = try await concord(arguments)
        #expect(status == 0, "\(arguments): \(output)\(errors)", sourceLocation: sourceLocation)
        return output
    }

    /// Checks that a server that has ended had nothing to say about keys and files that do not belong together.
    func expectNoComplaint(_ process: ConcordProcess, sourceLocation: SourceLocation = #_sourceLocation) async {
        let log = await process.standardError()
        for words in ["generated anew", "differs from the one before", "refers to files, but", "have been paired"] {
            #expect(!log.contains(words), "\(log)", sourceLocation: sourceLocation)
        }
    }

    // MARK: The users

    func messenger() -> MessengerClient {
        MessengerClient(
            baseURL: URL(string: "http://127.0.0.1:\(ports["messenger"] ?? 0)")!, transport: .patient, retry: .never)
    }

    private func dunbar() -> DunbarClient {
        DunbarClient(
            baseURL: URL(string: "http://127.0.0.1:\(ports["dunbar"] ?? 0)/api")!, store: MemoryCookieStore(),
            transport: .patient, retry: .never)
    }

    /// Makes accounts and what belongs to them.
    func fill(_ data: String, _ database: String?, messages: Int = 30, files: Int = 6) async throws -> Content {
        var content = Content()
        let alice = messenger()
        try await alice.send(Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
        try await alice.signIn(username: "alice", password: "secret123")
        content.chat = try await alice.send(Messenger.CreateChat.group("One", members: [])).id
        for index in 0..<messages {
            let text = "Grüße № \(index) 👋 'quoted' \\ \"twice\"\nand more"
            content.messages[try await alice.send(Messenger.SendMessage(chat: content.chat, content: text)).id] = text
        }
        for index in 0..<files {
            let bytes = (0..<(index * 20_000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) } + [UInt8(index)]
            content.files[try await alice.upload(Upload(.bytes(bytes), filename: "\(index).bin")).id] = bytes
        }
        let bob = dunbar()
        content.user = try await bob.register(
            .init(username: "bob", email: "bob@example.com", password: "secret123", displayName: "Bob")
        ).id
        let portrait = Upload(.bytes(Self.picture), filename: "me.jpg", contentType: "image/jpeg")
        content.post = try await bob.post("A picture", media: [portrait]).id
        content.picture = try await picture(of: content, bob)
        let cards = "\(data)-cards.vcf"
        try "BEGIN:VCARD\nVERSION:4.0\nFN:Søren Ångström\nNOTE:met in Oslo\nEND:VCARD\n".write(
            toFile: cards, atomically: true, encoding: .utf8)
        try await succeed(["monica", "import", cards, "--account", "carol", "--data", data])
        content.cards = try await self.cards(data, database)
        #expect(content.cards.contains("Søren Ångström"))
        return content
    }

    private func cards(_ data: String, _ database: String?) async throws -> String {
        try await succeed(
            ["monica", "export", "--account", "carol", "--format", "vcard", "--data", data] + place(database))
    }

    /// Returns the bytes of the picture of the only post.
    private func picture(of content: Content, _ bob: DunbarClient) async throws -> [UInt8] {
        let posts = try await bob.send(Dunbar.ListUserPosts(user: content.user))
        #expect(posts.map(\.id) == [content.post])
        let url = try #require(posts.first?.media.first.flatMap { URL(string: $0) })
        let local = "http://127.0.0.1:\(ports["dunbar"] ?? 0)\(url.path)" + (url.query.map { "?\($0)" } ?? "")
        let answer = try await URLSessionTransport.patient.send(
            TransportRequest(method: .get, url: try #require(URL(string: local))), progress: nil)
        #expect(answer.status == .ok && answer.body.count > 100)
        return answer.body
    }

    /// Checks that the server has the content, after the users have signed in again.
    func expect(
        _ content: Content, _ data: String, _ database: String?, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let alice = messenger()
        try await alice.signIn(username: "alice", password: "secret123")
        var found: [Messenger.Message.ID: String] = [:]
        for try await message in alice.history(of: content.chat) { found[message.id] = message.content }
        #expect(found == content.messages, sourceLocation: sourceLocation)
        for (id, bytes) in content.files {
            #expect(try await alice.download(id) == bytes, "file \(id)", sourceLocation: sourceLocation)
        }
        let bob = dunbar()
        try await bob.signIn(username: "bob", password: "secret123")
        #expect(try await picture(of: content, bob) == content.picture, sourceLocation: sourceLocation)
        #expect(try await cards(data, database) == content.cards, sourceLocation: sourceLocation)
    }

    /// Sends another message, whose id is higher than those before.
    func goesOn(_ content: inout Content, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let alice = messenger()
        try await alice.signIn(username: "alice", password: "secret123")
        let id = try await alice.send(Messenger.SendMessage(chat: content.chat, content: "and on")).id
        let highest = content.messages.keys.map(\.rawValue).max() ?? 0
        #expect(id.rawValue > highest, sourceLocation: sourceLocation)
        content.messages[id] = "and on"
    }
}
