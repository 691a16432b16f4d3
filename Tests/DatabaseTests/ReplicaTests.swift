import Foundation
import NIOPosix
import Testbed
import Testing

@testable import Database

/// Reads go to a standby while commits wait for it, and else to the primary.
@Suite(
    .serialized, .enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct ReplicaTests {
    private let schema = Schema("counters", [.init("counters", ["CREATE TABLE counters (n BIGINT)"])])

    private func open(_ url: String, replica: String) async throws -> Database {
        let schema = schema
        return try await NIOThreadPool.singleton.runIfActive {
            try .postgreSQL(url: url, replica: replica, schema: schema, connections: 2, waiting: .patient)
        }
    }

    /// Waits until reads go to the replica.
    private func becomesUsed(by database: Database) async throws { try await wait(for: database) { $0 == nil } }

    /// Waits until reads go to the primary for a reason with these words.
    private func becomesUnused(by database: Database, for words: String) async throws {
        try await wait(for: database) { $0?.contains(words) == true }
    }

    private func wait(for database: Database, until isReached: (_ problem: String?) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while true {
            var problem: String?
            do { try database.checkReplica() } catch { problem = "\(error)" }
            if isReached(problem) { return }
            try #require(ContinuousClock.now < end, "\(problem ?? "reads go to the replica")")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func isOnStandby(_ database: Database) async throws -> Bool? {
        try await database.read(from: .replica) { try $0.value("SELECT CAST(pg_is_in_recovery() AS INTEGER)") }
    }

    /// Returns the largest number, and whether the standby has answered.
    private func newestNumber(_ database: Database) async throws -> (Int, isStandby: Bool) {
        let found = try await database.read(from: .replica) { db in
            try db.one("SELECT max(n), CAST(pg_is_in_recovery() AS INTEGER) FROM counters") { row in
                (try row.get(0, as: Int.self), try row.get(1, as: Bool.self))
            }
        }
        return try #require(found)
    }

    /// A standby that is late makes commits wait. It does not make readers see what is old.
    @Test func whatOneNodeAcknowledgesTheOthersReadAtOnce() async throws {
        try await ReplicatedPostgreSQL.serving(["recovery_min_apply_delay=100ms"]) { server in
            let one = try await open(server.primary.url, replica: server.standby.url)
            let other = try await open(server.primary.url, replica: server.standby.url)
            try await becomesUsed(by: other)
            var (number, readsOfStandby) = (0, 0)
            while readsOfStandby < 20 {
                number += 1
                try await one.write { [number] in try $0.run("INSERT INTO counters VALUES (\(number))") }
                let (newest, isStandby) = try await newestNumber(other)
                #expect(newest == number)
                // On a busy machine the checks may be late, and the primary is asked.
                if isStandby { readsOfStandby += 1 }
                #expect(try await other.read { try $0.value("SELECT CAST(pg_is_in_recovery() AS INTEGER)") } == false)
            }
            try await one.close()
            try await other.close()
        }
    }

    @Test func itIsNotAskedWhileCommitsDoNotWaitForIt() async throws {
        try await ReplicatedPostgreSQL.serving { server in
            let database = try await open(server.primary.url, replica: server.standby.url)
            for (name, value, words) in [
                ("synchronous_commit", "on", "synchronous_commit is on, not remote_apply"),
                ("synchronous_standby_names", "", "not among the first of synchronous_standby_names"),
                ("synchronous_standby_names", "ANY 1 (standby)", "not among the first of synchronous_standby_names"),
                ("synchronous_standby_names", "another", "not among the first of synchronous_standby_names"),
            ] {
                try await becomesUsed(by: database)
                try await server.set(name, to: value)
                try await becomesUnused(by: database, for: words)
                #expect(try await isOnStandby(database) == false)
                try await server.set(name, to: nil)
            }
            try await becomesUsed(by: database)
            #expect(database.load.isReplicaUsed == true)
            try await database.close()
        }
    }

    /// Commits did not wait for it while it was late, so it must catch up before it is asked.
    @Test func aStandbyThatComesBackIsAskedOnceItHasCaughtUp() async throws {
        try await ReplicatedPostgreSQL.serving(["recovery_min_apply_delay=900ms"]) { server in
            let database = try await open(server.primary.url, replica: server.standby.url)
            for number in 1...3 {
                try await server.set("synchronous_standby_names", to: "")
                try await becomesUnused(by: database, for: "not among the first of synchronous_standby_names")
                try await database.write { try $0.run("INSERT INTO counters VALUES (\(number))") }
                try await server.set("synchronous_standby_names", to: nil)
                var isStandby = false
                while !isStandby {
                    let newest: Int
                    (newest, isStandby) = try await newestNumber(database)
                    #expect(newest == number)
                }
            }
            try await database.close()
        }
    }

    @Test func aRoleMustSeeThatCommitsWait() async throws {
        try await ReplicatedPostgreSQL.serving { server in
            try await server.primary.run("CREATE ROLE anna LOGIN; GRANT CREATE ON DATABASE postgres TO anna")
            func url(_ server: TestPostgreSQL) -> String {
                server.url.replacingOccurrences(of: "postgres@", with: "anna@")
            }
            let database = try await open(url(server.primary), replica: url(server.standby))
            try await becomesUnused(by: database, for: "GRANT pg_monitor")
            try await server.primary.run("GRANT pg_monitor TO anna")
            try await becomesUsed(by: database)
            try await database.close()
        }
    }

    @Test func whatIsNoStandbyIsNotAsked() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let url = try #require(place.url)
            let database = try await open(url, replica: url)
            try await becomesUnused(by: database, for: "the replica: it is not a standby")
            #expect(try await isOnStandby(database) == false)
            try await database.close()
            // A server that is not there keeps no node from its start.
            let other = try await open(url, replica: "postgres://127.0.0.1:1/x")
            try await becomesUnused(by: other, for: "127.0.0.1")
            #expect(try await isOnStandby(other) == false)
            try await other.close()
        }
    }

    /// Its readers go on at the primary, and come back.
    @Test func aStandbyMayDieAndComeBack() async throws {
        try await ReplicatedPostgreSQL.serving { server in
            let database = try await open(server.primary.url, replica: server.standby.url)
            try await database.write { try $0.run("INSERT INTO counters VALUES (1)") }
            for _ in 0..<2 {
                try await becomesUsed(by: database)
                await server.standby.stop()
                for _ in 0..<20 {
                    let values: [Int] = try await database.read(from: .replica) { db in
                        try db.all("SELECT n FROM counters") { try $0.get(0) }
                    }
                    #expect(values == [1])
                }
                #expect(try await isOnStandby(database) == false)
                #expect(throws: DatabaseFailure.self) { try database.checkReplica() }
                try await server.standby.start()
            }
            try await becomesUsed(by: database)
            try await database.close()
        }
    }

    /// An error of the closure is the caller's, and no reason to ask the primary.
    @Test func whatTheClosureThrowsIsThrown() async throws {
        struct Missing: Error {}
        try await ReplicatedPostgreSQL.serving { server in
            let database = try await open(server.primary.url, replica: server.standby.url)
            try await becomesUsed(by: database)
            await #expect(throws: Missing.self) {
                try await database.read(from: .replica) { _ in throw Missing() }
            }
            // A statement that fails anywhere fails in the words of the primary.
            await #expect(throws: DatabaseFailure.self) {
                try await database.read(from: .replica) { try $0.exists("SELECT 1 FROM missing") }
            }
            try await becomesUsed(by: database)
            try await database.close()
        }
    }
}
