import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// A backup is made while users write as fast as they can, the server is killed, and another one is made of the backup.
/// Everything that was acknowledged before the backup began is there. The test takes seconds; `make torture` takes minutes.
@Suite(.serialized, .timeLimit(.minutes(30))) struct BackupDrillTests {
    private static let limit = ["CONCORD_UPLOAD_LIMIT_MESSENGER": "1000000", "CONCORD_LOG_LEVEL": "error"]

    /// The users, and a record of everything that the server has acknowledged.
    private final class Load: Sendable {
        struct State {
            var isOver = false
            var attempted: Set<String> = []
            var messages: [String: Messenger.Message.ID] = [:]
            var files: [Messenger.File.ID: [UInt8]] = [:]
            var deleted: Set<Messenger.File.ID> = []
        }

        let state = NIOLockedValueBox(State())
        private let client: MessengerClient
        private let chat: Messenger.Chat.ID

        init(_ client: MessengerClient, _ chat: Messenger.Chat.ID) {
            self.client = client
            self.chat = chat
        }

        private var isOver: Bool { state.withLockedValue { $0.isOver } }

        /// Writes until the load ends. What fails, because the server was killed, is not repeated.
        func write(_ writer: Int) async {
            for index in 0... {
                if isOver { return }
                let text = "writer \(writer) message \(index)"
                state.withLockedValue { _ = $0.attempted.insert(text) }
                guard let sent = try? await client.send(Messenger.SendMessage(chat: chat, content: text)) else {
                    try? await Task.sleep(for: .milliseconds(20))
                    continue
                }
                state.withLockedValue { $0.messages[text] = sent.id }
            }
        }

        /// Uploads files until the load ends, and deletes every third of them.
        func upload(_ writer: Int) async {
            var last: Messenger.File.ID?
            for index in 0... {
                if isOver { return }
                let bytes = (0..<(index % 50 * 1000 + 8)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index &+ writer) }
                let upload = Upload(.bytes(bytes), filename: "\(writer)-\(index).bin")
                guard let file = try? await client.upload(upload) else {
                    try? await Task.sleep(for: .milliseconds(20))
                    continue
                }
                state.withLockedValue { $0.files[file.id] = bytes }
                if index % 3 == 2, let old = last {
                    state.withLockedValue { _ = $0.deleted.insert(old) }
                    _ = try? await client.send(Messenger.DeleteFile(id: old))
                }
                last = file.id
            }
        }

        /// Waits until this much is acknowledged.
        func acknowledged(messages: Int, files: Int) async throws {
            let end = ContinuousClock.now + .seconds(900)
            while state.withLockedValue({ $0.messages.count < messages || $0.files.count < files }) {
                try #require(ContinuousClock.now < end, "the load stands still")
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    private func signedIn(to port: Int, registering: Bool) async throws -> MessengerClient {
        let client = MessengerClient(
            baseURL: URL(string: "http://127.0.0.1:\(port)")!, transport: .patient, retry: .never)
        if registering {
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
        }
        try await client.signIn(username: "alice", password: "secret123")
        return client
    }

    @Test(arguments: Stack.Engine.available)
    func whatWasAcknowledgedBeforeTheBackupIsInIt(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            try await place.withSecond { try await drill(place.folder, place.url, $0) }
        }
    }

    private func drill(_ folder: String, _ url: String?, _ other: String?) async throws {
        let (data, backups, restored) = (folder + "/data", folder + "/backups", folder + "/restored")
        let port = try await reservePort()
        let database = { (url: String?) in url.map { ["--database", $0] } ?? [] }
        let server = try await ConcordProcess.serving(
            data: data, port: port, more: database(url), environment: Self.limit)
        let client = try await signedIn(to: port, registering: true)
        let chat = try await client.send(Messenger.CreateChat.group("One", members: [])).id
        let load = Load(client, chat)
        let scale = Drill.isLong ? 20 : 1
        var (before, during) = (Load.State(), 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 { group.addTask { await load.write(writer) } }
            for writer in 0..<2 { group.addTask { await load.upload(writer) } }
            defer { load.state.withLockedValue { $0.isOver = true } }
            try await load.acknowledged(messages: 200 * scale, files: 30 * scale)
            before = load.state.withLockedValue { $0 }
            let made = try await LivingServer().concord(["backup", backups, "--data", data])
            during = load.state.withLockedValue { $0.messages.count } - before.messages.count
            #expect(made.status == 0, "\(made)")
            server.signal(SIGKILL)
            _ = await server.status()
            load.state.withLockedValue { $0.isOver = true }
            try await group.waitForAll()
        }
        // Others write while the backup is made.
        #expect(during > 0)
        let living = try await LivingServer()
        try await living.succeed(["backup", "verify", backups])
        try await living.succeed(["restore", backups, "--data", restored] + database(other))

        let second = try await ConcordProcess.serving(
            data: restored, port: port, more: database(other), environment: Self.limit)
        let reader = try await signedIn(to: port, registering: false)
        var found: [String: [Messenger.Message.ID]] = [:]
        for try await message in reader.history(of: chat, pageSize: 100) {
            found[message.content, default: []].append(message.id)
        }
        let lost = before.messages.filter { found[$0.key]?.contains($0.value) != true }
        #expect(lost.isEmpty, "\(lost)")
        let attempted = load.state.withLockedValue { $0.attempted }
        #expect(found.allSatisfy { attempted.contains($0.key) && $0.value.count == 1 })
        // A file that was deleted while the backup was made may be in it or not; one whose row is in it opens.
        let after = load.state.withLockedValue { $0 }
        var opened = 0
        for (id, bytes) in after.files {
            do {
                #expect(try await reader.download(id) == bytes, "file \(id)")
                opened += 1
            } catch let error as APIError where error.status == .notFound {
                #expect(before.files[id] == nil || after.deleted.contains(id), "file \(id) is lost")
            }
        }
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: backups + "/backups").first)
        let manifest = try String(contentsOfFile: "\(backups)/backups/\(name)/manifest.json", encoding: .utf8)
        #expect(manifest.firstMatch(of: #/"missing" : \[\s*\]/#) != nil)
        second.signal(SIGTERM)
        #expect(await second.status() == 0)
        print(
            """
            drill: a backup under load (\(url == nil ? "sqlite" : "postgreSQL")): \(before.messages.count) messages and \
            \(before.files.count) files before it, \(lost.count) lost; \(during) messages during it; \(opened) files open
            """)
    }
}
