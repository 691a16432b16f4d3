import Database
import DeuceDiaryService
import DunbarService
import GTSDService
import MessengerService
import MonicaService
import Testbed
import Testing

/// The tables of every API keep these rules.
@Suite(.timeLimit(.minutes(30))) struct SchemaTests {
    /// The schemas, each with an index of text.
    private static let schemas = [
        (MessengerService.schema, "users_username_key_key"), (DeuceDiaryService.schema, "users_username_key_key"),
        (MonicaService.schema, "accounts_name_key"), (GTSDService.schema, "users_email_key"),
        (DunbarService.schema, "users_username_key_key"),
    ]

    /// An index that depends on a locale becomes wrong with the next upgrade of the operating system's locales.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), arguments: schemas)
    func noIndexDependsOnTheServersLocale(_ schema: Schema, _ index: String) async throws {
        try await withTestDatabase(on: .postgreSQL, migrated: schema) { place in
            let database = try place.open(schema)
            let (all, byLocale) = try await database.read { db in
                func indexes(_ condition: SQL) throws -> [String] {
                    try db.all(
                        """
                        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                        WHERE c.relnamespace = current_schema()::regnamespace AND \(condition)
                        """
                    ) { try $0.get(0) }
                }
                return try (
                    indexes("true"),
                    indexes(#"NOT i.indcollation::oid[] <@ ARRAY[0, 'pg_catalog."C"'::regcollation::oid]"#)
                )
            }
            #expect(all.contains(index))
            #expect(byLocale == [])
            try await database.close()
        }
    }

    /// The steps that existing databases have taken. A line is added with each release and none is ever changed,
    /// because a step that has run cannot be undone.
    private static let taken: [String: [String]] = [
        "messenger": [
            "d65e790add957959f732fcc9adb86cf95bb7a699d5b783475d4ad2d8ccefb40b",
            "485d8a5dc6ffe1ede7f5c47de64635d72818ceb9a06d15b9d5358b63e0ba99c1",
            "f2970eceb8c9298ce5702a7eab0c492ece14fef7c63b930ed619388589c19893",
            "d27a14e03ec1a1e786a9824076de3ad23728a237886e867deab62c570dd864ae",
            "42379d3a2b192aa283588dcfb59caba769f54167027a062230a85f70b8beb6ae",
            "b9ef6d18d5c4a3af6ea12016744b2c8eb89751944179757ddc439557559ca039",
        ],
        "deuce-diary": [
            "3f58632f0ead33add7c9fdc07be7dc8c007589a99ef6a89da400c21d6d3f7bd9",
            "3cec536b7d7e969553a3503da7c6eba6e562d4901863f42e6d49c4f02015b039",
            "4d4052b9fc87b67eb34ffc03ce10cf7937b8fb91384b05e9a4b9d1e054862b60",
            "92fae34319ad2e0f97ef1efba58fc40ff73dba92913d06562c85a2ed96c503cc",
        ],
        "monica": [
            "ab7577438faeac7ba86c8ea0fd4f53f3d9b6395fd6da9dc761e1d7d40683a4fc",
            "2fad08b71f4c6f2e2c4711fa3276a92edef86b89f26a3d150b1e8c8248fc6fcd",
            "21f46fad93a22e159d44ba7e7be2315797ae3564ee643ddef127e7a2677bd9f5",
        ],
        "gtsd": [
            "5715bb627ae110e460d15954ce876ccb01cb1300407f06508b61ca072939baec",
            "cff0a82c1f51baf3250c141512b6e3d5663ebb0eafc5bdecc5036ddf7fa5e4c9",
            "75106848b6be9345b8f9f37768aa254602a91c5ebd94f42e9c9fa2c271a7549f",
        ],
        "dunbar": [
            "830b3c91437c2db092de2d596c2c5f25c95aa9fc00e786c2e06bcf1b43dab642",
            "4b6f73b5d9973a7a36ab5ac07277e7e334b112d43a41db4f89f681f6561aacd0",
            "7be119f439509dcf6fb96e0182e1748ea25bd475ed943a0f4c35d5bbbdcee2a9",
            "93dc119040cc2abc325f3994707796913c3bfa3c17b5efcca26e4d463a764db8",
        ],
    ]

    @Test(arguments: schemas.map(\.0))
    func stepsThatWereTakenNeverChange(_ schema: Schema) throws {
        let taken = try #require(Self.taken[schema.name])
        #expect(schema.migrations.prefix(taken.count).map(\.digest) == taken)
    }

    /// Opening the database again changes nothing.
    @Test(arguments: Stack.Engine.available, schemas.map(\.0))
    func aDatabaseIsBroughtUpToDateOnce(_ engine: Stack.Engine, _ schema: Schema) async throws {
        try await withTestDatabase(on: engine) { place in
            for _ in 0..<3 {
                let database = try place.open(schema)
                let steps = try await database.read { db in
                    try db.all("SELECT name FROM schema_migrations ORDER BY version") { try $0.get(0, as: String.self) }
                }
                #expect(steps == schema.migrations.map(\.name))
                let digests = try await database.read { db in
                    try db.all("SELECT digest FROM schema_migrations ORDER BY version") {
                        try $0.get(0, as: String.self)
                    }
                }
                #expect(digests == schema.migrations.map(\.digest))
                try await database.close()
            }
        }
    }

    private func steps(_ statements: [String], named name: String = "things") -> Schema {
        Schema("things", [.init("things", ["CREATE TABLE things (id {ID})"]), .init(name, statements)])
    }

    /// A step that was changed after a database took it is refused with an explanation. A change of the layout of its
    /// SQL is allowed.
    @Test(arguments: Stack.Engine.available)
    func aStepThatWasChangedIsRefused(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            try await place.open(steps(["CREATE TABLE more (a TEXT, b TEXT)"])).close()
            try await place.open(steps(["CREATE TABLE more\n    (a TEXT,\n     b TEXT)"])).close()
            let error = #expect(throws: SchemaMismatch.self) {
                _ = try place.open(steps(["CREATE TABLE more (a TEXT, b TEXT, c TEXT)"]))
            }
            #expect(error?.description.contains("schema step 2 (things) in another form") == true)
        }
    }

    /// Databases of versions without digests receive them at their first start.
    @Test(arguments: Stack.Engine.available)
    func aDatabaseWithoutDigestsGetsThem(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let schema = steps(["CREATE TABLE more (a TEXT)"], named: "more")
            let database = try place.open(schema)
            try await database.write { db in
                try db.run("ALTER TABLE schema_migrations DROP COLUMN digest")
                try db.run("DROP TABLE installation")
            }
            try await database.close()
            try await place.open(schema).close()
            #expect(throws: SchemaMismatch.self) {
                _ = try place.open(steps(["CREATE TABLE more (b TEXT)"], named: "more"))
            }
        }
    }
}
