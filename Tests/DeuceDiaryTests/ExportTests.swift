import ContractCheck
import ContractClient
import Database
import DeuceDiaryClient
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import ContractServer
@testable import DeuceDiaryCheck
@testable import DeuceDiaryService

/// An export is written in batches while it is read.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryExportTests {
    @Test("An export of any length has each record once, in order", arguments: Stack.all)
    func lengths(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let batch = DeuceDiaryService.exportBatch
            // The counts are none, a whole batch, and one more than a batch.
            for count in [0, 1, batch, batch + 1, 3 * batch + 7] {
                try await host.database.write { try Self.fill($0, john.id, jane.id, group, count) }
                let answer = try await john.get("/api/auth/user/export")
                try answer.succeeded()
                #expect(answer.headers[.contentType] == "application/json")
                let export = try await john.send(DeuceDiary.ExportUser())
                #expect(export.entries.map(\.id.rawValue) == (0..<count).reversed().map(Self.entry))
                #expect(export.reactions.map(\.emoji) == (0..<count).map(String.init))
                #expect(export.locations == [])
            }
        }
    }

    @Test(
        "What comes while an export is written breaks nothing, and what goes is left out",
        arguments: Stack.Engine.available)
    func meanwhile(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let count = 3 * DeuceDiaryService.exportBatch
            try await host.database.write { try Self.fill($0, john.id, jane.id, group, count) }
            let claims = try #require(host.issuer.read(john.token))
            let answer = try await host.service.exportUser(.init(), from: Caller(user: john.id, claims: claims))
            var bytes: [UInt8] = []
            var pieces = 0
            try await answer.body { piece in
                bytes += piece
                pieces += 1
                // This is the middle of the second batch.
                guard pieces == 150 else { return }
                try await john.log("late", in: group)
                for person in [john, jane] {
                    try await person.send(DeuceDiary.AddReaction(entry: .init(Self.entry(150)), emoji: "late"))
                }
                // These are the last record of the batch that was read, and all records of the last batch.
                for index in [100] + Array(0..<100) { try await john.client.delete(.init(Self.entry(index))) }
            }
            let export = try JSONDecoder().decode(DeuceDiary.UserExport.self, from: Data(bytes))
            #expect(export.entries.map(\.id.rawValue) == (100..<count).reversed().map(Self.entry))
            #expect(export.reactions.map(\.emoji) == (0..<count).map(String.init))
        }
    }

    @Test("Without an account there is no export")
    func deletedAccounts() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let john = try await host.world().person()
            try await host.database.write { db in
                for table in ["members", "groups", "users"] as [SQL] { try db.run("DELETE FROM \(table)") }
            }
            try await john.get("/api/auth/user/export").refused(401, "Unauthorized")
        }
    }

    /// Returns a UUID that ends with a number.
    private static func entry(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "6f1a2b3c-4d5e-4f60-8a1b-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Gives John this number of entries, and as many reactions to an entry of Jane's.
    private static func fill(
        _ db: Session, _ john: DeuceDiary.User.ID, _ jane: DeuceDiary.User.ID, _ group: DeuceDiary.Group.ID,
        _ count: Int
    ) throws {
        try db.run("DELETE FROM reactions")
        try db.run("DELETE FROM entries")
        func insert(_ id: String, of user: DeuceDiary.User.ID, at time: Int) throws {
            try db.run(
                """
                INSERT INTO entries (id, log_id, user_id, group_id, location, thoughts, logged_at, created_at)
                VALUES (\(id), \(id), \(user), \(group), 'x', '', 0, \(time))
                """)
        }
        let janes = entry(1 << 40)
        try insert(janes, of: jane, at: 0)
        for index in 0..<count {
            // Several entries have the same millisecond.
            try insert(entry(index), of: john, at: index / 3)
            try db.run(
                """
                INSERT INTO reactions (entry_id, user_id, emoji, created_at)
                VALUES (\(janes), \(john), \(String(index)), \(index / 3))
                """)
        }
    }
}
