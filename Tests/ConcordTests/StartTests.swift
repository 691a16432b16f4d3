import ContractClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// A start with wrong or missing data is refused and removes no file.
@Suite(.s3Server, .timeLimit(.minutes(30))) struct StartTests {
    private static let credentials = [
        "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
    ]
    private let server = StartedServer()

    /// The database is missing, is empty, or is a new one elsewhere.
    @Test(arguments: ["missing", "empty"])
    func aStartWithoutItsDatabaseIsRefusedAndFilesStay(_ state: String) async throws {
        try await withTemporaryFolder { folder async throws in
            let ids = try await server.fill(folder)
            try server.age(folder)
            let (before, database) = (server.objects(folder), folder + "/messenger.sqlite")
            #expect(before.count == ids.count)
            try FileManager.default.moveItem(atPath: database, toPath: folder + "/kept")
            if state == "empty" { #expect(FileManager.default.createFile(atPath: database, contents: nil)) }
            for _ in 0..<2 {
                let words = try await server.refused(folder)
                #expect(words.contains("\(folder)/files/messenger belongs to another database"))
                #expect(words.contains("--adopt-store messenger"))
                #expect(server.objects(folder) == before)
            }
            // With the right database again, all files are served.
            try FileManager.default.removeItem(atPath: database)
            try FileManager.default.moveItem(atPath: folder + "/kept", toPath: database)
            try await server.serves(ids, folder)
            #expect(server.objects(folder) == before)
        }
    }

    /// Older versions left no ids.
    @Test func withoutIdsADatabaseThatNamesNothingIsRefusedToo() async throws {
        try await withTemporaryFolder { folder async throws in
            let ids = try await server.fill(folder)
            try server.age(folder)
            let before = server.objects(folder)
            let manager = FileManager.default
            try manager.removeItem(atPath: folder + "/files/messenger/store-id")
            try manager.moveItem(atPath: folder + "/messenger.sqlite", toPath: folder + "/kept")
            let words = try await server.refused(folder)
            #expect(words.contains("names none of the files in the folder \(folder)/files/messenger"))
            #expect(server.objects(folder) == before)
            // An operator can ask for a fresh database. The existing files then stay for at least an hour.
            let process = try await ConcordProcess.serving(
                data: folder, port: try await reservePort(), more: ["--adopt-store", "messenger"])
            try await server.stop(process)
            #expect(server.objects(folder) == before)
            #expect(ids.count == before.count)
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func anotherDatabaseIsRefusedAndFilesStay() async throws {
        try await withTestDatabase(on: .postgreSQL) { place async throws in
            let ids = try await server.fill(place.folder)
            try server.age(place.folder)
            let before = server.objects(place.folder)
            let words = try await server.refused(place.folder, ["CONCORD_DATABASE": try #require(place.url)])
            #expect(words.contains("belongs to another database: the PostgreSQL database of messenger is new"))
            #expect(server.objects(place.folder) == before)
            try await server.serves(ids, place.folder)
        }
    }

    @Test(.enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"))
    func anotherServerWithTheSameBucketIsRefusedAndFilesStay() async throws {
        let s3 = try #require(S3Server.current)
        try await withTemporaryFolder { folder async throws in
            let place = s3.place()
            let bucket = ["--objects", place]
            let ids = try await server.fill(folder + "/first", more: bucket, Self.credentials)
            let words = try await server.refused(folder + "/staging", more: bucket, Self.credentials)
            #expect(words.contains("/messenger belongs to another database"))
            #expect(words.contains("s3://bucket/") && !words.contains(s3.endpoint))
            try await server.serves(ids, folder + "/first", more: bucket, Self.credentials)
            // A server with another bucket is refused, too.
            let elsewhere = try await server.refused(
                folder + "/first", more: ["--objects", s3.place()], Self.credentials)
            #expect(elsewhere.contains("belongs to other files than those in the bucket"))
        }
    }

    /// The bucket is unreachable at the start: nothing is written to it, and the server stops writing once the bucket
    /// turns out to belong to another database.
    @Test(.enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"))
    func aBucketThatIsAwayAtTheStartIsCheckedLater() async throws {
        let s3 = try #require(S3Server.current)
        let upstream = try #require(URLComponents(string: s3.endpoint)?.port)
        try await withTemporaryFolder { folder async throws in
            let place = s3.place()
            _ = try await server.fill(folder + "/first", more: ["--objects", place], Self.credentials)
            try await FaultyProxy.running(to: upstream) { proxy in
                proxy.refuse(true)
                let later = place.replacingOccurrences(of: ":\(upstream)", with: ":\(proxy.port)")
                let process = try await ConcordProcess.serving(
                    data: folder + "/staging", port: try await reservePort(), more: ["--objects", later],
                    environment: Self.credentials)
                try await process.waitForLog { $0.contains("no file is accepted until") }
                proxy.refuse(false)
                #expect(await process.status() == 1)
                #expect(await process.standardError().contains("/messenger belongs to another database"))
            }
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aNodeWithOtherFilesOrOtherKeysIsRefused() async throws {
        try await withTestDatabase(on: .postgreSQL) { place async throws in
            let url = try #require(place.url)
            let key = Data(repeating: 42, count: 32).base64EncodedString()
            let same = [
                "CONCORD_DATABASE": url, "CONCORD_MESSENGER_TOKEN_KEY": key,
            ]
            let (one, two) = (place.folder + "/one", place.folder + "/two")
            let first = try await ConcordProcess.serving(data: one, port: try await reservePort(), environment: same)
            let files = try await server.refused(two, same)
            #expect(files.contains("Several nodes on one database need files that all of them reach: --objects s3://"))
            let keys = try await server.refused(two, ["CONCORD_DATABASE": url])
            #expect(keys.contains("another key messenger-tokens") && keys.contains("CONCORD_MESSENGER_TOKEN_KEY"))
            #expect(!keys.contains(key))
            try await server.stop(first)
            // An operator may change keys while all nodes are stopped.
            var other = same
            other["CONCORD_MESSENGER_TOKEN_KEY"] = Data(repeating: 43, count: 32).base64EncodedString()
            _ = try await server.refused(one, other)
            try await server.stop(
                ConcordProcess.serving(
                    data: one, port: try await reservePort(), more: ["--adopt-keys", "messenger"], environment: other))
            try await server.stop(ConcordProcess.serving(data: one, port: try await reservePort(), environment: other))
            _ = try await server.refused(one, same)
        }
    }

    @Test func aLostKeyFileIsReported() async throws {
        try await withTemporaryFolder { folder async throws in
            _ = try await server.fill(folder, files: 0)
            try FileManager.default.removeItem(atPath: folder + "/keys/messenger-tokens")
            let process = try await ConcordProcess.serving(data: folder, port: try await reservePort())
            try await server.stop(process)
            let log = await process.standardError()
            #expect(log.contains("warning") && log.contains("messenger-tokens"))
            #expect(log.contains("was missing and has been generated anew: all users are signed out"))
        }
    }

    /// The folder may have existed before, with any permissions.
    @Test func otherUsersOfTheMachineReadNothing() async throws {
        try await withTemporaryFolder { folder async throws in
            let manager = FileManager.default
            func modes() throws -> [String: Int] {
                let names = manager.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
                return Dictionary(
                    uniqueKeysWithValues: try names.map { name in
                        let attributes = try manager.attributesOfItem(atPath: "\(folder)/\(name)")
                        return (name, try #require(attributes[.posixPermissions] as? Int))
                    })
            }
            try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
            let ids = try await server.fill(folder, files: 1)
            #expect(try modes().filter { $0.value & 0o077 != 0 } == [:])

            // Older versions left these permissions.
            for (path, mode) in [
                "messenger.sqlite": 0o644, "files": 0o755, "files/messenger": 0o755, "keys": 0o755,
                "keys/messenger-tokens": 0o644,
            ] {
                try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/\(path)")
            }
            let process = try await ConcordProcess.serving(data: folder, port: try await reservePort())
            let whileServing = try modes()
            #expect(whileServing.keys.contains("messenger.sqlite-wal"))
            #expect(whileServing.filter { $0.value & 0o077 != 0 } == [:])
            try await server.stop(process)
            #expect(await process.standardError().contains("keys/messenger-tokens"))
            try await server.serves(ids, folder)
        }
    }

    /// Pages of a real server's database are overwritten. After a `kill -9` the start is refused; a running server
    /// reports the damage.
    @Test func aDamagedDatabaseIsReportedAndNotWrittenTo() async throws {
        try await withTemporaryFolder { folder async throws in
            _ = try await server.fill(folder, files: 0)
            let path = folder + "/messenger.sqlite"
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port)
            // The first page stays, because it is in memory anyway.
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            let size = try file.seekToEnd()
            try file.seek(toOffset: 4096)
            try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 4096))
            try file.close()
            let damaged = FileManager.default.contents(atPath: path)
            let refusal = await #expect(throws: APIError.self) {
                try await server.client(at: port).signIn(username: "alice", password: "secret123")
            }
            #expect(refusal?.status == .internalServerError)
            #expect(refusal?.retryAfter == nil)
            try await process.waitForLog { $0.contains("critical") && $0.contains("The database \(path) is damaged") }
            let ready = try await URLSessionTransport.patient.send(
                TransportRequest(method: .get, url: URL(string: "http://127.0.0.1:\(port)/ready")!), progress: nil)
            #expect(ready.status == .serviceUnavailable)
            let registration = await #expect(throws: APIError.self) {
                try await server.client(at: port).send(
                    Messenger.Register(username: "bob", email: "bob@example.com", password: "secret123"))
            }
            #expect(registration?.status == .internalServerError)
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            #expect(FileManager.default.contents(atPath: path) == damaged)
            let words = try await server.refused(folder)
            #expect(words.contains("The database \(path) is damaged"))
            #expect(words.contains("put a backup in its place"))
        }
    }
}
