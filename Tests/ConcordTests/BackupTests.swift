import ContractCheck
import ContractClient
import Foundation
import MessengerClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// `concord backup` copies a running server, and `concord restore` makes another one of it.
@Suite(.s3Server, .timeLimit(.minutes(30))) struct BackupTests {
    private static let s3 = [
        "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
    ]

    /// Runs a test with a database, and another one for what is restored.
    private func withPlaces(
        on engine: Stack.Engine, _ body: (_ folder: String, _ url: String?, _ other: String?) async throws -> Void
    ) async throws {
        try await withTestDatabase(on: engine) { place in
            try await place.withSecond { try await body(place.folder, place.url, $0) }
        }
    }

    private func names(_ server: LivingServer, _ backups: String) async throws -> [String] {
        try await server.succeed(["backup", "list", backups]).split(separator: "\n").map {
            String($0.prefix { $0 != " " })
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aRunningServerIsRestoredElsewhere(_ engine: Stack.Engine) async throws {
        try await withPlaces(on: engine) { folder, url, other in
            let (data, backups) = (folder + "/data", folder + "/backups")
            let server = try await LivingServer()
            let running = try await server.start(data, url)
            var content = try await server.fill(data, url)
            let made = try await server.succeed(["backup", backups, "--data", data])
            #expect(made.contains("messenger: "), "\(made)")
            #expect(made.contains("; 6 files, "), "\(made)")
            #expect(made.contains("3 databases and 7 files"), "\(made)")

            // What happens later is not in it.
            let alice = server.messenger()
            try await alice.signIn(username: "alice", password: "secret123")
            try await alice.send(Messenger.SendMessage(chat: content.chat, content: "later"))
            let gone = try #require(content.files.keys.first)
            try await alice.send(Messenger.DeleteFile(id: gone))
            // Files that the first backup has are not copied again.
            let again = try await server.succeed(["backup", backups, "--data", data])
            #expect(again.contains("; 5 files, ") && again.contains(", 0 of them new"), "\(again)")
            let names = try await names(server, backups)
            #expect(names.count == 2 && names == names.sorted())
            #expect(try await server.succeed(["backup", "verify", backups]).contains("undamaged"))
            #expect(try await server.succeed(["backup", "verify", backups, names[0]]).contains(names[0]))
            try await server.stop(running)
            let key = "\(backups)/backups/\(names[0])/keys/messenger-tokens"
            let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
            #expect(mode == 0o600)

            let restored = folder + "/restored"
            let to = ["--data", restored] + (other.map { ["--database", $0] } ?? [])
            let output = try await server.succeed(["restore", backups, "--name", names[0]] + to)
            #expect(output.contains("\(names[0]) is restored in \(restored)"), "\(output)")
            let second = try await server.start(restored, other)
            try await server.expect(content, restored, other)
            try await server.goesOn(&content)
            try await server.stop(second)
            await server.expectNoComplaint(second)

            // Nothing is written where there is something.
            let full = try await server.concord(["restore", backups] + to)
            #expect(full.status == 1 && full.errors.contains("is not empty"), "\(full)")
            if let other {
                let taken = try await server.concord(
                    ["restore", backups, "--data", folder + "/third", "--database", other])
                #expect(taken.status == 1 && taken.errors.contains("with tables already"), "\(taken)")
                let wrong = try await server.concord(["restore", backups, "--data", folder + "/third"])
                #expect(wrong.status == 1 && wrong.errors.contains("give one with --database"), "\(wrong)")
            }
        }
    }

    /// The server is stopped, so the command makes the backup itself.
    @Test(arguments: Stack.Engine.available)
    func damageIsFoundAndRefused(_ engine: Stack.Engine) async throws {
        try await withPlaces(on: engine) { folder, url, other in
            let (data, backups, restored) = (folder + "/data", folder + "/backups", folder + "/restored")
            let server = try await LivingServer()
            let running = try await server.start(data, url)
            _ = try await server.fill(data, url, messages: 3, files: 2)
            try await server.stop(running)
            let at = { (folder: String, url: String?) in
                ["--data", folder] + (url.map { ["--database", $0] } ?? [])
            }
            try await server.succeed(["backup", backups] + at(data, url))
            let name = try #require(try await names(server, backups).first)
            let folders = ["backups/\(name)", "objects"]
            let paths = folders.flatMap { folder in
                (FileManager.default.enumerator(atPath: "\(backups)/\(folder)")?.compactMap { $0 as? String } ?? [])
                    .map { "\(backups)/\(folder)/\($0)" }
            }.filter { path in
                let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
                return type == .typeRegular
            }
            // Three databases, their keys, three files, the manifest and its digest.
            #expect(paths.count > 8, "\(paths)")
            for path in paths {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                var damaged = bytes
                damaged[damaged.count / 2] ^= 1
                try damaged.write(to: URL(fileURLWithPath: path))
                let verified = try await server.concord(["backup", "verify", backups])
                #expect(verified.status == 1 && (verified.output + verified.errors).contains("damaged"), "\(path)")
                let refused = try await server.concord(["restore", backups] + at(restored, other))
                #expect(refused.status == 1 && refused.errors.contains("damaged"), "\(path): \(refused)")
                let left = (try? FileManager.default.contentsOfDirectory(atPath: restored)) ?? []
                #expect(Set(left).subtracting(["lock"]).isEmpty, "\(path): \(left)")
                try bytes.write(to: URL(fileURLWithPath: path))
            }
            let object = try #require(paths.first { $0.contains("/objects/") })
            try FileManager.default.moveItem(atPath: object, toPath: object + "-away")
            let missing = try await server.concord(["backup", "verify", backups])
            #expect(missing.status == 1 && missing.output.contains("is missing"), "\(missing)")
            try FileManager.default.moveItem(atPath: object + "-away", toPath: object)
            try await server.succeed(["backup", "verify", backups])
            try await server.succeed(["restore", backups] + at(restored, other))
        }
    }

    /// A backup that is overdue at the start is made soon after it. Old ones go, with the files that they alone had.
    @Test func theServerMakesBackupsByItself() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder + "/data", folder + "/backups")
            let server = try await LivingServer()
            let running = try await server.start(data, nil)
            let content = try await server.fill(data, nil, messages: 3, files: 3)
            try await server.succeed(["backup", backups, "--data", data])
            let alice = server.messenger()
            try await alice.signIn(username: "alice", password: "secret123")
            let gone = try #require(content.files.keys.first)
            try await alice.send(Messenger.DeleteFile(id: gone))
            try await server.stop(running)
            let name = try #require(try await names(server, backups).first)
            let old = "2020-01-01T000000Z"
            try FileManager.default.moveItem(
                atPath: "\(backups)/backups/\(name)", toPath: "\(backups)/backups/\(old)")

            let objects = {
                (FileManager.default.enumerator(atPath: backups + "/objects")?.compactMap { $0 as? String } ?? [])
                    .filter { $0.contains("/") }.count
            }
            #expect(objects() == 4)
            let schedule = ["--backup-to", backups, "--backup-schedule", "1h", "--backup-keep", "1"]
            let second = try await server.start(data, nil, more: schedule)
            try await second.waitForLog { $0.contains("backup") && $0.contains("files=3") }
            let kept = try await names(server, backups)
            #expect(kept.count == 1 && kept[0] > old, "\(kept)")
            #expect(objects() == 3)
            try await server.succeed(["backup", "verify", backups])
            try await server.stop(second)

            // A failure is an error in the log, and a note of /ready.
            try FileManager.default.moveItem(
                atPath: "\(backups)/backups/\(kept[0])", toPath: "\(backups)/backups/\(old)")
            try FileManager.default.removeItem(atPath: backups + "/lock")
            try FileManager.default.createDirectory(atPath: backups + "/lock", withIntermediateDirectories: false)
            let third = try await server.start(data, nil, more: schedule)
            try await third.waitForLog { $0.contains("backup failed") }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.ports["messenger"] ?? 0)/ready"))
            let ready = try await URLSessionTransport.patient.send(
                TransportRequest(method: .get, url: url), progress: nil)
            #expect(ready.status == .ok)
            #expect(String(decoding: ready.body, as: UTF8.self).contains("the last backup failed"))
            try await server.stop(third)
        }
    }

    @Test(.enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"))
    func aBucketHoldsBackupsAndIsRestored() async throws {
        let bucket = try #require(S3Server.current)
        try await withTemporaryFolder { folder in
            let (data, restored) = (folder + "/data", folder + "/restored")
            let (backups, files, others) = (bucket.place(), bucket.place(), bucket.place())
            let server = try await LivingServer(Self.s3)
            let running = try await server.start(data, nil, more: ["--objects", files])
            let content = try await server.fill(data, nil, messages: 3, files: 3)
            try await server.succeed(["backup", backups, "--data", data])
            let again = try await server.succeed(["backup", backups, "--data", data, "--keep", "1"])
            #expect(again.contains(", 0 of them new"), "\(again)")
            #expect(try await names(server, backups).count == 1)
            try await server.succeed(["backup", "verify", backups])
            try await server.stop(running)
            let full = try await server.concord(["restore", backups, "--data", restored, "--objects", files])
            #expect(full.status == 1 && full.errors.contains("is not empty"), "\(full)")
            try await server.succeed(["restore", backups, "--data", restored, "--objects", others])
            let second = try await server.start(restored, nil, more: ["--objects", others])
            try await server.expect(content, restored, nil)
            try await server.stop(second)
            // It may as well be restored into a folder.
            try await server.succeed(["restore", backups, "--data", restored + "2"])
            let third = try await server.start(restored + "2", nil)
            try await server.expect(content, restored + "2", nil)
            try await server.stop(third)
        }
    }

    /// A server that stops in the middle of a backup of the operator's page cancels it, and lets go of its databases after
    /// that. The backup is not in the list, and the next one is whole.
    @Test(
        .enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"),
        arguments: Stack.Engine.available)
    func aStoppedServerEndsTheBackupThatItMakes(_ engine: Stack.Engine) async throws {
        let bucket = try #require(S3Server.current)
        let port = try #require(URL(string: bucket.endpoint)?.port)
        try await FaultyProxy.running(to: port) { proxy in
            try await withTestDatabase(on: engine) { place in
                let backups = bucket.place().replacing(bucket.endpoint, with: "http://127.0.0.1:\(proxy.port)")
                let more = ["--backup-to", backups] + (place.url.map { ["--database", $0] } ?? [])
                func start() async throws -> (PageServer, RawClient) {
                    let page = try await PageServer.started(place.folder + "/data", more: more, environment: Self.s3)
                    return (page, page.raw.signed([.cookie: try await page.cookie()]))
                }
                let (page, anna) = try await start()
                _ = try await page.people()
                // The bucket takes what is small, and never says that it has a file of the database.
                let isStuck = NIOLockedValueBox(false)
                proxy.setRule { direction, bytes in
                    guard direction == .toServer, bytes.readableBytes > 16_000 || isStuck.withLockedValue({ $0 }) else {
                        return .forward
                    }
                    isStuck.withLockedValue { $0 = true }
                    return .delay(.hours(1))
                }
                #expect(try await anna(.post, "/api/backups", [:]).status == 202)
                while !isStuck.withLockedValue({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
                #expect(try await anna(.get, "/api/overview").succeeded(200)["backup"]?["running"] == true)
                try await page.stop()
                let errors = await page.process.standardError()
                #expect(!errors.contains("Fatal error"), "\(errors)")

                proxy.setRule { _, _ in .forward }
                let (again, bob) = try await start()
                let before = try await bob(.get, "/api/overview").succeeded(200)
                #expect(before["backup"]?["newest_at"] == nil, "\(before)")
                #expect(try await bob(.post, "/api/backups", [:]).status == 202)
                while true {
                    let backup = try await bob(.get, "/api/overview").succeeded(200)["backup"]
                    try #require(backup?["problem"]?.string == nil, "\(backup as Any)")
                    if backup?["newest_at"]?.string != nil { break }
                    try await Task.sleep(for: .milliseconds(50))
                }
                try await again.stop()
            }
        }
    }

    @Test func whatCannotWorkIsRefusedInWords() async throws {
        try await withTemporaryFolder { folder in
            let server = try await LivingServer()
            func refused(_ arguments: String..., status: Int32 = 1, words: String) async throws {
                let outcome = try await server.concord(arguments)
                #expect(outcome.status == status && outcome.errors.contains(words), "\(arguments): \(outcome)")
            }
            try await refused(
                "backup", folder + "/b", "--data", folder + "/none", words: "is it the server's data folder")
            #expect(!FileManager.default.fileExists(atPath: folder + "/none"))
            try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: false)
            try await refused("backup", folder + "/b", "--data", folder + "/data", words: "has no database")
            try await refused("backup", folder + "/b", "--keep", "0", status: 64, words: "--keep must be 1 or more")
            try await refused("backup", "verify", folder + "/b", words: "has no backups")
            try await refused("backup", "verify", folder + "/c", words: "There is no folder")
            try await refused("restore", folder + "/b", "--data", folder + "/new", words: "has no backups")
            try await refused(
                "serve", "--backup-to", folder, "--backup-schedule", "daily@25:00", status: 64,
                words: "--backup-schedule must be like daily@03:00 or 6h")
            #expect(try await server.succeed(["backup", "list", folder + "/b"]) == "No backups\n")
        }
    }
}
