import Contract
import ContractCheck
import ContractClient
import Database
import DeuceDiaryClient
import DeuceDiaryTestHost
import DunbarClient
import DunbarTestHost
import Foundation
import GTSDClient
import GTSDTestHost
import MessengerClient
import MessengerTestHost
import MonicaClient
import MonicaTestHost
import NIOCore
import ObjectStore
import Testbed
import Testing

@testable import Backend
@testable import DeuceDiaryService
@testable import DunbarService
@testable import GTSDService
@testable import MessengerService
@testable import MonicaService

extension MonicaService {
    fileprivate typealias Table = MonicaPeople.Table
}

/// The archive of a person has what they wrote and uploaded, for them and for operators, and nothing of it stays longer than it should.
@Suite(
    .timeLimit(.minutes(30)),
    .enabled(if: StockTools.python != nil, "`make test` installs Python and sets CONCORD_PYTHON"))
struct ArchiveTests {
    private func entries(of path: String) async throws -> [String: String] {
        let entries = try await StockTools.entries(ofZIP: path)
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.text ?? "") })
    }

    private func rows(_ name: String, _ entries: [String: String]) throws -> [JSONValue] {
        let text = try #require(entries["\(name).json"], "\(entries.keys.sorted())")
        guard case .list(let rows) = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
            Issue.record("\(name).json is no list")
            return []
        }
        return rows
    }

    private func downloaded(
        _ download: (URL) async throws -> DownloadedFile
    ) async throws -> [String: String] {
        try await withTemporaryFolder { folder in
            let path = folder + "/archive.zip"
            let file = try await download(URL(fileURLWithPath: path))
            #expect(file.filename?.hasSuffix(".zip") == true)
            return try await entries(of: path)
        }
    }

    /// A policy that asks for an archive's state again at once. The time that Dunbar's server has to wake up stays as it is.
    private static let hasty = Retry(sleep: { duration in
        try await Task.sleep(for: duration < .seconds(20) ? .milliseconds(20) : duration)
    })

    // MARK: What is in them

    @Test(arguments: Stack.all)
    func messenger(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            func person(_ name: String) async throws -> (client: MessengerClient, id: Messenger.User.ID) {
                let client = MessengerClient(
                    baseURL: host.baseURL, transport: host.transport, retry: Self.hasty)
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "Secret-123"))
                return (client, try await client.signIn(username: name, password: "Secret-123"))
            }
            let (alice, bob) = (try await person("alice"), try await person("bob"))
            let chat = try await alice.client.send(Messenger.CreateChat(type: .direct, members: [bob.id])).id
            let group = try await bob.client.send(
                Messenger.CreateChat(type: .group, name: "Ä \"group\"", members: [alice.id])
            ).id
            let upload = try await alice.client.upload(
                Upload(.bytes(Array("contents".utf8)), filename: "a:b/ä.txt", contentType: "text/plain"))
            for number in 0..<3 {
                try await alice.client.send(Messenger.SendMessage(chat: chat, content: "mine \(number)"))
                try await bob.client.send(Messenger.SendMessage(chat: chat, content: "theirs \(number)"))
            }
            try await alice.client.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: upload.id))
            try await alice.client.send(Messenger.SendMessage(chat: group, content: "left behind"))
            try await alice.client.send(Messenger.LeaveChat(chat: group))
            try await alice.client.send(Messenger.BlockUser(bob.id))

            let entries = try await downloaded { try await alice.client.downloadArchive(to: $0) }
            let account = try rows("account", entries)
            #expect(account.map { $0["username"]?.string } == ["alice"])
            #expect(account.first?["created_at"]?.string?.hasSuffix("Z") == true)
            #expect(
                try rows("messages", entries).map { $0["content"]?.string } == [
                    "mine 0", "mine 1", "mine 2", "", "left behind",
                ])
            #expect(try rows("chats", entries).map { $0["chat_id"]?.integer } == [chat.rawValue])
            #expect(try rows("blocks", entries).map { $0["username"]?.string } == ["bob"])
            #expect(try rows("sessions", entries).count == 1)
            #expect(entries["files/\(upload.id)-ä.txt"] == "contents", "\(entries.keys.sorted())")
            let text = entries.values.joined()
            for secret in ["theirs", "$argon", "scrypt", "bob@example.com"] { #expect(!text.contains(secret)) }
        }
    }

    @Test(arguments: Stack.all)
    func dunbar(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            func person(_ name: String) async throws -> (client: DunbarClient, id: Dunbar.User.ID) {
                let client = DunbarClient(
                    baseURL: host.baseURL, store: MemoryCookieStore(), transport: host.transport, retry: Self.hasty)
                let account = try await client.register(
                    .init(username: name, email: "\(name)@example.com", password: "Secret-123", displayName: name))
                return (client, account.id)
            }
            let (anna, ben) = (try await person("anna"), try await person("ben"))
            let picture = Upload(
                .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg", contentType: "image/jpeg")
            let post = try await anna.client.post("Hello ä", media: [picture])
            _ = try await anna.client.follow(ben.id)
            try await anna.client.send(Dunbar.AddComment(post: post.id, content: "my comment"))

            let entries = try await downloaded { try await anna.client.downloadArchive(to: $0) }
            #expect(try rows("account", entries).map { $0["email"]?.string } == ["anna@example.com"])
            #expect(try rows("posts", entries).map { $0["content"]?.string } == ["Hello ä"])
            #expect(try rows("comments", entries).map { $0["content"]?.string } == ["my comment"])
            #expect(try rows("following", entries).map { $0["username"]?.string } == ["ben"])
            #expect(try rows("followers", entries).isEmpty)
            let media = try #require(try rows("posts", entries).first?["media"]?.string)
            #expect(entries["media/\(media)"]?.hasSuffix("processed") == true, "\(entries.keys)")
            #expect(!entries.values.joined().contains("ben@example.com"))
        }
    }

    @Test(arguments: Stack.all)
    func gtsd(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let client = GTSDClient(baseURL: host.baseURL, transport: host.transport, retry: Self.hasty)
            try await client.signUp(email: "anna@example.com", password: "Secret-123", name: "Anna")
            let tasks = try await client.send(GTSD.ListTasks()).data.tasks
            try await client.send(GTSD.SubmitEvidence.text("done ä", for: try #require(tasks.first).id))
            let entries = try await downloaded { try await client.downloadArchive(to: $0) }
            #expect(try rows("account", entries).map { $0["name"]?.string } == ["Anna"])
            #expect(try rows("tasks", entries).count == tasks.count)
            #expect(try rows("evidence", entries).count == 1)
            #expect(entries["evidence.json"]?.contains("done ä") == true)
            #expect(try rows("days", entries).allSatisfy { $0["day"]?.string != nil })
        }
    }

    @Test(arguments: Stack.all)
    func deuceDiary(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let token = try host.issuer.issue("user_anna", email: "anna@example.com", firstName: "Anna", lastName: "S")
            let client = DeuceDiaryClient(
                baseURL: host.baseURL, transport: host.transport, retry: Self.hasty, token: { token })
            try await client.send(DeuceDiary.GetUser())
            let group = try #require(try await client.send(DeuceDiary.ListGroups()).first)
            try await client.log(.init(groups: [group.id], location: "Home", thoughts: "my thoughts"))
            _ = try await client.uploadProfilePicture(
                Upload(.bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg", contentType: "image/jpeg"))
            let entries = try await downloaded { try await client.downloadArchive(to: $0) }
            #expect(entries.keys.sorted() == ["blocks.json", "export.json", "picture.jpg", "reports.json"])
            let export = try JSONDecoder().decode(
                DeuceDiary.UserExport.self, from: Data(try #require(entries["export.json"]).utf8))
            #expect(export.entries.map(\.thoughts) == ["my thoughts"])
        }
    }

    @Test(arguments: Stack.all)
    func monica(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let client = MonicaAPIClient(
                configuration: APIConfiguration(baseURL: host.baseURL, token: try await host.token("anna")),
                transport: host.transport)
            let genders = try await client.send(Monica.ListGenders()).data
            _ = try await client.create(
                Monica.ContactDraft(firstName: "Jöhn", lastName: "Doe", genderID: try #require(genders.first).id))
            let john = try #require(try await client.listContacts(page: 1, limit: 1, query: nil).data.first).id
            let jpeg = SampleImage.jpeg(width: 8, height: 8)
            let photo = try await client.store(photo: Upload(.bytes(jpeg), filename: "me.jpg"), of: john)
            let plan = Upload(.bytes(Array("my plan".utf8)), filename: "plan.txt")
            let document = try await client.store(document: plan, of: john)
            let entries = try await downloaded { try await client.downloadArchive(to: $0) }
            let files = ["documents/\(document.id)-plan.txt", "photos/\(photo.id)-me.jpg"]
            #expect(entries.keys.sorted() == ["contacts.vcf", files[0], "export.json", files[1]])
            #expect(entries[files[0]] == "my plan")
            #expect(entries["contacts.vcf"]?.contains("Jöhn") == true)
            #expect(entries["export.json"]?.contains("Jöhn") == true)
        }
    }

    // MARK: Nothing is forgotten

    /// The tables without a document in archives, by API, and why.
    private static let others: [String: [String: String]] = [
        "messenger": [
            "chats": "in chats.json, by membership", "deleted_messages": "only the numbers of deleted messages",
            "outbox": "notifications that wait", "email_outbox": "e-mails that wait", "reports": "see reports.json",
        ],
        "dunbar": [
            "media": "the files themselves", "former_rows": "only numbers, for reading on in lists",
            "reports": "see reports.json", "rejections": "who rejected whom is told to neither",
            "unsigned_files": "names of files",
            "outbox": "e-mails that wait",
        ],
        "gtsd": [
            "uploads": "uploads that have not come", "discarded_objects": "names of deleted files",
            "refresh_tokens": "digests of tokens", "outbox": "e-mails that wait",
        ],
    ]
    /// The tables of every API without a document, and why.
    private static let common: [String: String] = [
        "archives": "the archive itself", "audit": "what operators have done", "reset_tokens": "digests of tokens",
        "email_tokens": "digests of tokens", "email_changes": "an address that was not confirmed",
    ]

    @Test("Every table and column is in the archive, or is left out for a reason", arguments: Stack.Engine.available)
    func law(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            try await check(host.service.archives.contents.rows, "messenger", in: host.database, engine)
        }
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            try await check(host.service.archives.contents.rows, "dunbar", in: host.database, engine)
        }
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            try await check(host.service.archives.contents.rows, "gtsd", in: host.database, engine)
        }
    }

    private func check(
        _ documents: [ArchivedRows], _ api: String, in database: Database, _ engine: Stack.Engine
    ) async throws {
        let columns = try await TableDump.columns(of: database, engine: engine)
        for document in documents {
            let all = Set(try #require(columns[document.table], "\(document.table)"))
            let named =
                document.columns.map { $0.key.split(separator: ".").map(String.init) }
                .filter { $0.count == 1 || $0.first == document.table }.compactMap(\.last)
                + document.left + [document.owner]
            #expect(Set(named) == all, "\(api): \(document.name)")
        }
        let described = Set(documents.map(\.table))
        for (table, names) in columns where !described.contains(table) {
            guard Self.common[table] == nil, Self.others[api]?[table] == nil else { continue }
            let owners = names.filter { $0.hasSuffix("user_id") || $0 == "owner_id" || $0.hasSuffix("er_id") }
            #expect(owners.isEmpty, "\(api): what \(table) has of a person is in no archive")
        }
    }

    // MARK: How they are made

    /// A store that refuses archives.
    private struct FullStore: ObjectStore {
        struct Full: Error {}
        static func holding(_ store: any ObjectStore) -> any ObjectStore { FullStore(base: store) }
        let base: any ObjectStore

        func spool() async throws -> SpooledFile { throw Full() }
        func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws { throw Full() }
        func delete(_ key: ObjectKey) async throws { try await base.delete(key) }
        func attributes(of key: ObjectKey) async throws -> ObjectAttributes? { try await base.attributes(of: key) }
        func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]? {
            try await base.content(of: key, in: range)
        }
        func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent? {
            try await base.open(key, in: range)
        }
        func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage {
            try await base.keys(olderThan: cutoff, after: cursor)
        }
        func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String {
            try base.downloadURL(for: key, as: download, expiresIn: seconds)
        }
        func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String {
            try base.uploadURL(for: key, upTo: size, expiresIn: seconds)
        }
        func identity() async throws -> String? { try await base.identity() }
        func identify(as id: String) async throws -> Bool { try await base.identify(as: id) }
        func discard(_ key: ObjectKey) async throws { try await base.discard(key) }
        func emptyTrash(before cutoff: Int64) async throws -> Int { try await base.emptyTrash(before: cutoff) }
        func keepingDeleted<T>(_ body: () async throws -> T) async throws -> T { try await base.keepingDeleted(body) }
        func openKept(_ key: ObjectKey) async throws -> StoredObject? { try await base.openKept(key) }
        func check() async throws { try await base.check() }
        func reach() async throws { try await base.reach() }
    }

    /// A server without background work, with an account that has asked for an archive.
    private func withRequest(
        on engine: Stack.Engine, objects: (any ObjectStore) -> any ObjectStore = { $0 },
        _ body: (MonicaHost, Archives<MonicaService.Table>, AccountID) async throws -> Void
    ) async throws {
        var setup = TestSetup()
        (setup.listens, setup.makesArchives) = (false, false)
        try await withNodes(of: HostedMonica(limits: .outOfTheWay), on: Stack(engine, .inProcess), setup) { nodes in
            let host = nodes[0]
            _ = try await host.token("anna")
            let account = try #require(try await host.database.read { try MonicaService.Table.find("anna", in: $0) })
            let archives = Archives<MonicaService.Table>(
                of: host.service.archives.contents, database: host.database, objects: objects(host.objects),
                time: host.clock.source)
            let record = try await archives.request(by: account, at: host.clock.source.milliseconds())
            #expect(record.state == .preparing)
            try await body(host, archives, account)
        }
    }

    private func storedArchives(_ host: MonicaHost) async throws -> [String] {
        try await host.objects.allKeys().filter { $0.hasPrefix("archives/") }
    }

    @Test("An archive that cannot be made is tried again, then given up", arguments: Stack.Engine.available)
    func failing(_ engine: Stack.Engine) async throws {
        try await withRequest(on: engine, objects: FullStore.holding) { host, archives, account in
            for attempt in 1...5 {
                #expect(
                    try await archives.current(of: account, at: host.clock.source.milliseconds())?.state == .preparing)
                try await archives.makeDue()
                let attempts: Int? = try await host.database.read { try $0.value("SELECT attempts FROM archives") }
                #expect(attempts == attempt)
                host.clock.advance(by: .seconds(3600))
            }
            #expect(try await archives.current(of: account, at: host.clock.source.milliseconds())?.state == .failed)
            // It may be asked for again, and another node may have room for it.
            let again = try await archives.request(by: account, at: host.clock.source.milliseconds())
            #expect(again.state == .preparing)
            try await host.service.archives.makeDue()
            let made = try await archives.current(of: account, at: host.clock.source.milliseconds())
            #expect(made?.state == .ready)
        }
    }

    @Test("Of two nodes that work at once one makes an archive", arguments: Stack.Engine.available)
    func once(_ engine: Stack.Engine) async throws {
        try await withRequest(on: engine) { host, archives, account in
            async let other: Void = host.service.archives.makeDue()
            try await archives.makeDue()
            try await other
            #expect(try await storedArchives(host).count == 1)
        }
    }

    @Test("A node that dies leaves its archive to another after a minute", arguments: Stack.Engine.available)
    func dying(_ engine: Stack.Engine) async throws {
        try await withRequest(on: engine) { host, archives, account in
            // This is what a node leaves that was killed at work.
            let end = host.clock.source.milliseconds() + 60_000
            try await host.database.write { db in
                try db.run("UPDATE archives SET due_at = \(end), attempts = 1")
            }
            try await archives.makeDue()
            #expect(try await storedArchives(host).isEmpty)
            host.clock.advance(by: .seconds(61))
            try await archives.makeDue()
            #expect(try await storedArchives(host).count == 1)
        }
    }

    @Test("An archive is replaced after an hour and removed after two days", arguments: Stack.Engine.available)
    func ageing(_ engine: Stack.Engine) async throws {
        try await withRequest(on: engine) { host, archives, account in
            func now() -> Int64 { host.clock.source.milliseconds() }
            try await archives.makeDue()
            let first = try await storedArchives(host)
            host.clock.advance(by: .seconds(3500))
            #expect(try await archives.request(by: account, at: now()).state == .ready)
            host.clock.advance(by: .seconds(200))
            #expect(try await archives.request(by: account, at: now()).state == .preparing)
            #expect(try await storedArchives(host).isEmpty)
            try await archives.makeDue()
            let second = try await storedArchives(host)
            #expect(second.count == 1)
            #expect(second != first)
            host.clock.advance(by: .seconds(47 * 3600))
            try await archives.sweep()
            #expect(try await archives.current(of: account, at: now())?.state == .ready)
            host.clock.advance(by: .seconds(2 * 3600))
            #expect(try await archives.current(of: account, at: now()) == nil)
            try await archives.sweep()
            #expect(try await storedArchives(host).isEmpty)
            #expect(try await host.database.read { try $0.exists("SELECT 1 FROM archives") } == false)
        }
    }

    @Test("A deleted account takes its archive along, one that is being made too", arguments: Stack.Engine.available)
    func deletion(_ engine: Stack.Engine) async throws {
        try await withRequest(on: engine) { host, archives, account in
            let gate = AsyncStream<Void>.makeStream()
            let slow = Archives<MonicaService.Table>(
                of: ArchiveContents<AccountID>(documents: { _ in
                    [
                        ArchiveDocument("slow.json") { _ in
                            // The account is deleted while its archive is being made.
                            try await host.database.write { db in try archives.forget(account, in: db) }
                            gate.continuation.yield()
                        }
                    ]
                }), database: host.database, objects: host.objects, time: host.clock.source)
            try await slow.makeDue()
            for await _ in gate.stream { break }
            #expect(try await storedArchives(host).isEmpty)
            _ = try await archives.request(by: account, at: host.clock.source.milliseconds())
            try await archives.makeDue()
            #expect(try await storedArchives(host).count == 1)
            try await host.database.write { db in try archives.forget(account, in: db) }
            try await expectSoon("the file stays") { try await storedArchives(host).isEmpty }
        }
    }

    @Test("A file that the store has lost is named, and the rest is there", arguments: Stack.Engine.available)
    func lostFiles(_ engine: Stack.Engine) async throws {
        try await withRequest(on: engine) { host, archives, account in
            let contents = ArchiveContents<AccountID>(
                documents: { _ in [ArchiveDocument("a.json") { try await $0(Array("{}".utf8)) }] },
                files: { _, last in last == nil ? [ArchivedFile(id: "1", name: "b:?.txt ", key: "lost")] : [] })
            let lost = Archives<MonicaService.Table>(
                of: contents, database: host.database, objects: host.objects, time: host.clock.source)
            try await withTemporaryFolder { folder in
                let path = folder + "/a.zip"
                try Data().write(to: URL(fileURLWithPath: path))
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
                try await lost.write(account) { try file.write(contentsOf: Data($0.readableBytesView)) }
                #expect(
                    try await entries(of: path) == ["a.json": "{}", "missing-files.json": #"["b__.txt"]"#])
            }
        }
    }
}
