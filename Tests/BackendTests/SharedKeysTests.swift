import Backend
import Database
import Testbed
import Testing

/// All nodes on a database need the same keys.
@Suite(.timeLimit(.minutes(30))) struct SharedKeysTests {
    private static let schema = Schema("things", [.init("users", ["CREATE TABLE users (id {ID})"])])

    private func keys(_ fingerprint: String, isNew: Bool = false) -> SharedKeys {
        SharedKeys(
            api: "things",
            keys: [
                .init(
                    name: "things-tokens", variable: "CONCORD_THINGS_KEY", fingerprint: fingerprint, isNew: isNew,
                    loss: "all users are signed out")
            ])
    }

    private func withDatabase(_ engine: Stack.Engine, _ body: (Database) async throws -> Void) async throws {
        try await withTestDatabase(on: engine) { place async throws in
            let database = try place.open(Self.schema)
            try await body(database)
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func theSameKeyNeedsNoWarning(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database async throws in
            for _ in 0..<2 {
                #expect(try await keys("a").reconcile(in: database, usedBy: "users") == [])
            }
        }
    }

    /// The key file was lost although the database has accounts, also one that an older version created without
    /// fingerprints.
    @Test(arguments: Stack.Engine.available)
    func aNewKeyIsReportedWhenThereAreAccounts(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database async throws in
            #expect(try await keys("a", isNew: true).reconcile(in: database, usedBy: "users") == [])
        }
        try await withDatabase(engine) { database async throws in
            try await database.write { try $0.run("INSERT INTO users (id) VALUES (\(1))") }
            let warnings = try await keys("a", isNew: true).reconcile(in: database, usedBy: "users")
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("generated anew: all users are signed out") == true)
            #expect(try await keys("a").reconcile(in: database, usedBy: "users") == [])
        }
    }

    @Test func anotherKeyOfASingleNodeIsReportedOnce() async throws {
        try await withDatabase(.sqlite) { database async throws in
            _ = try await keys("a").reconcile(in: database, usedBy: "users")
            let warnings = try await keys("b").reconcile(in: database, usedBy: "users")
            #expect(warnings.first?.contains("differs from the one before: all users are signed out") == true)
            #expect(try await keys("b").reconcile(in: database, usedBy: "users") == [])
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func anotherKeyOfANodeIsRefusedUntilItIsAdopted() async throws {
        try await withDatabase(.postgreSQL) { database async throws in
            _ = try await keys("a").reconcile(in: database, usedBy: "users")
            let error = await #expect(throws: KeyMismatch.self) {
                try await keys("b", isNew: true).reconcile(in: database, usedBy: "users")
            }
            for words in ["things-tokens", "CONCORD_THINGS_KEY", "--adopt-keys things", "all users are signed out"] {
                #expect(error?.description.contains(words) == true)
            }
            #expect(try await keys("a").reconcile(in: database, usedBy: "users") == [])
            #expect(try await keys("b").reconcile(in: database, usedBy: "users", adopts: true).count == 1)
            #expect(try await keys("b").reconcile(in: database, usedBy: "users") == [])
            await #expect(throws: KeyMismatch.self) { try await keys("a").reconcile(in: database, usedBy: "users") }
        }
    }
}

/// Nodes change a key in two steps, so that each accepts what the others sign.
@Suite(.timeLimit(.minutes(30))) struct KeyExchangeTests {
    private func reconcile(_ key: String, former: String?, in database: Database) async throws -> [String] {
        let key = SharedKeys.Key(
            name: "things-tokens", variable: "CONCORD_THINGS_KEY", fingerprint: key, former: former, isNew: false,
            loss: "all users are signed out")
        return try await SharedKeys(api: "things", keys: [key]).reconcile(in: database, usedBy: "users")
    }

    private func withDatabase(_ engine: Stack.Engine, _ body: (Database) async throws -> Void) async throws {
        try await withTestDatabase(on: engine) { place async throws in
            let database = try place.open(
                Schema("things", [.init("users", ["CREATE TABLE users (id {ID})"])]))
            try await body(database)
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func theStepsNeedNoWarning(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database async throws in
            #expect(try await reconcile("old", former: nil, in: database) == [])
            #expect(try await reconcile("old", former: "new", in: database) == [])
            #expect(try await reconcile("new", former: "old", in: database) == [])
            // A node that has not been exchanged yet starts again.
            #expect(try await reconcile("old", former: "new", in: database) == [])
            #expect(try await reconcile("new", former: "old", in: database) == [])
            #expect(try await reconcile("new", former: nil, in: database) == [])
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aKeyThatTheOthersDoNotAcceptIsRefused() async throws {
        try await withDatabase(.postgreSQL) { database async throws in
            _ = try await reconcile("old", former: nil, in: database)
            let early = await #expect(throws: KeyMismatch.self) {
                try await reconcile("new", former: "old", in: database)
            }
            #expect(early?.description.contains("CONCORD_THINGS_KEY_FORMER") == true)
            _ = try await reconcile("old", former: "new", in: database)
            _ = try await reconcile("new", former: "old", in: database)
            // It would refuse the tokens of the others.
            await #expect(throws: KeyMismatch.self) { try await reconcile("old", former: nil, in: database) }
        }
    }

    /// A server on SQLite has one node, so a rotation loses nothing.
    @Test func aSingleNodeIsExchangedAtOnce() async throws {
        try await withDatabase(.sqlite) { database async throws in
            _ = try await reconcile("old", former: nil, in: database)
            #expect(try await reconcile("new", former: "old", in: database) == [])
            #expect(try await reconcile("other", former: "old", in: database).count == 1)
        }
    }
}
