import Backend
import Database
import Foundation
import MessengerService
import MonicaService
import MonicaTestHost
import Testbed
import Testing

/// `concord move` takes a server's data from one place to another.
@Suite(.s3Server, .timeLimit(.minutes(30))) struct MoveTests {
    private static let hosted: [any HostedAPI] = [HostedMessenger(), HostedMonica()]

    /// Returns everything in the SQLite databases of a data folder, or of the copies with a name's ending.
    private func dump(_ data: String, _ ending: (String) -> Bool = { $0.isEmpty }) async throws -> [String: [String]] {
        var dumps: [String: [String]] = [:]
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        for api in Self.hosted {
            let base = "\(api.name).sqlite"
            guard let name = names.first(where: { $0.hasPrefix(base) && ending(String($0.dropFirst(base.count))) })
            else { continue }
            let database = try Database.sqlite(path: "\(data)/\(name)", schema: api.schema)
            dumps[api.name] = try await TableDump(database, engine: .sqlite).cells.filter {
                !$0.hasPrefix("schema_migrations") && !$0.hasPrefix("audit")
            }.sorted()
            try await database.close()
        }
        return dumps
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aServerMovesToPostgreSQLAndBack() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let (data, url) = (place.folder + "/data", try #require(place.url))
            let server = try await LivingServer()
            let first = try await server.start(data, nil)
            var content = try await server.fill(data, nil)
            let busy = try await server.concord(["move", "--to", url, "--data", data])
            #expect(busy.status == 1 && busy.errors.contains("is in use by another concord"), "\(busy)")
            try await server.stop(first)

            // There and back: every table is as it was.
            let there = try await server.succeed(["move", "--to", url, "--data", data])
            #expect(there.contains("messenger: messages: 30 rows, the same digest on both sides"), "\(there)")
            let back = try await server.succeed(["move", "--to", "sqlite", "--database", url, "--data", data])
            #expect(back.contains("messenger: messages: 30 rows, the same digest on both sides"), "\(back)")
            let (before, after) = (try await dump(data) { $0.hasPrefix("-moved-") }, try await dump(data))
            #expect(before.count == 2 && before == after)

            try await server.succeed(["move", "--to", url, "--data", data])
            let second = try await server.start(data, url)
            try await server.expect(content, data, url)
            try await server.goesOn(&content)
            let used = try await server.concord(["move", "--to", "sqlite", "--database", url, "--data", place.folder])
            #expect(used.status == 1 && used.errors.contains("A server uses the PostgreSQL database"), "\(used)")
            try await server.stop(second)
            await server.expectNoComplaint(second)

            // One API alone.
            try await server.succeed(["move", "messenger", "--to", "sqlite", "--database", url, "--data", data])
            try await server.succeed(["move", "dunbar", "monica", "--to", "sqlite", "--database", url, "--data", data])
            let third = try await server.start(data, nil)
            try await server.expect(content, data, nil)
            try await server.goesOn(&content)
            try await server.stop(third)
            let gone = try await server.concord([
                "move", "messenger", "--to", "sqlite", "--database", url, "--data", data,
            ])
            #expect(gone.status == 1 && gone.errors.contains("has no Messenger database to move"), "\(gone)")
        }
    }

    @Test(.enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"))
    func filesMoveToABucketAndBack() async throws {
        let bucket = try #require(S3Server.current)
        try await withTemporaryFolder { folder in
            let (data, objects) = (folder + "/data", bucket.place())
            let server = try await LivingServer([
                "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
            ])
            let first = try await server.start(data, nil)
            let content = try await server.fill(data, nil)
            try await server.stop(first)
            let there = try await server.succeed(["move", "--objects-to", objects, "--data", data])
            #expect(there.contains("messenger: 6 files") && there.contains("6 of them copied now"), "\(there)")
            // What an interrupted move has copied is not copied again.
            let again = try await server.succeed(["move", "--objects-to", objects, "--data", data])
            #expect(again.contains("messenger: 6 files") && again.contains(" 0 of them copied now"), "\(again)")
            try FileManager.default.removeItem(atPath: data + "/files")
            let second = try await server.start(data, nil, more: ["--objects", objects])
            try await server.expect(content, data, nil)
            try await server.stop(second)
            await server.expectNoComplaint(second)

            try await server.succeed(["move", "--objects-to", "local", "--objects", objects, "--data", data])
            let third = try await server.start(data, nil)
            try await server.expect(content, data, nil)
            try await server.stop(third)

            // A bucket with another server's files is refused.
            let other = folder + "/other"
            let fourth = try await server.start(other, nil)
            _ = try await server.fill(other, nil, messages: 1, files: 1)
            try await server.stop(fourth)
            let refused = try await server.concord(["move", "--objects-to", objects, "--data", other])
            #expect(refused.status == 1 && refused.errors.contains("has files of another server"), "\(refused)")
        }
    }

    @Test func whatCannotWorkIsRefusedInWords() async throws {
        try await withTemporaryFolder { folder in
            let server = try await LivingServer()
            for (arguments, status, words) in [
                (["move", "--data", folder], 64, "Give --to or --objects-to"),
                (["move", "--to", "mysql", "--data", folder], 64, "--to must be 'sqlite' or 'postgres://…'"),
                (["move", "--to", "sqlite", "--data", folder], 1, "the place from which the data would be moved"),
                (["move", "--objects-to", "s3://bucket", "--data", folder + "/none"], 1, "There is no folder"),
                (["move", "--objects-to", "s3://bucket", "--data", folder], 1, "has no database to move"),
                (["move", "nothing", "--to", "sqlite"], 64, "There is no API 'nothing'"),
            ] as [([String], Int32, String)] {
                let outcome = try await server.concord(arguments)
                #expect(outcome.status == status && outcome.errors.contains(words), "\(arguments): \(outcome)")
            }
        }
    }
}
