import NIOPosix
import Testbed
import Testing

@testable import Database

/// The settings of a server, a database and a role do not change how values are stored and read.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct PostgreSQLSettingsTests {
    private let schema = Schema(
        "odd",
        [
            .init(
                "items",
                [
                    """
                    CREATE TABLE items (
                        id BIGINT NOT NULL PRIMARY KEY, bytes {BYTES}, text TEXT, number DOUBLE PRECISION)
                    """
                ])
        ])

    private struct Item: Equatable {
        var bytes: [UInt8]
        var text: String
        var number: Double
    }

    private static let items = [
        Item(bytes: Array(0...255), text: "Zoë, 日本語, 👋🏽 'quoted' \\ \"twice\"", number: 0.1),
        Item(bytes: [], text: "", number: -1 / 3), Item(bytes: Array("\\x00".utf8), text: "\\x41", number: 1e300),
        Item(bytes: [0, 92, 92, 39, 10], text: "\u{1}\n\t\u{FEFF}", number: .leastNonzeroMagnitude),
    ]

    /// Runs a test with a database of odd settings, without and with a pooler.
    private func withDatabase(
        isPooled: Bool, _ body: @Sendable (Database) async throws -> Void
    ) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await OddSettings.with(place, isPooled: isPooled) { place in
                let (url, schema) = (try #require(place.url), schema)
                func run(_ pooler: String?) async throws {
                    let database = try await NIOThreadPool.singleton.runIfActive {
                        try Database.postgreSQL(url: url, pooler: pooler, schema: schema, connections: 2)
                    }
                    try await body(database)
                    try await database.close()
                }
                guard isPooled else { return try await run(nil) }
                try await TestPooler.serving(for: try #require(place.port)) { pooler in
                    try await run(place.at(port: pooler.port).url)
                }
            }
        }
    }

    private static let poolings = TestServers.pgBouncer == nil ? [false] : [false, true]

    @Test(arguments: poolings)
    func valuesAreReadAsTheyWereWritten(_ isPooled: Bool) async throws {
        try await withDatabase(isPooled: isPooled) { database in
            for (id, item) in Self.items.enumerated() {
                try await database.write { db in
                    try db.run("INSERT INTO items VALUES (\(id), \(item.bytes), \(item.text), \(item.number))")
                }
                let all = Query.all("SELECT bytes, text, number FROM items WHERE id = \(id)") { row in
                    Item(bytes: try row.get(0), text: try row.get(1), number: try row.get(2))
                }
                // A statement alone, and one within a transaction.
                #expect(try await database.read { try $0.finish(all) } == [item])
                let found = try await database.write { db in
                    try db.one("SELECT bytes, text, number FROM items WHERE id = \(id)") { row in
                        Item(bytes: try row.get(0), text: try row.get(1), number: try row.get(2))
                    }
                }
                #expect(found == item)
                // The server has the same characters, not others that look alike on the way back.
                let length = item.text.unicodeScalars.count
                let isSame = try await database.read { db in
                    try db.exists("SELECT 1 FROM items WHERE id = \(id) AND length(text) = \(length)")
                }
                #expect(isSame)
            }
        }
    }

    @Test(arguments: poolings)
    func statementsMeanTheSame(_ isPooled: Bool) async throws {
        let expected = [
            "search_path": "odd", "client_encoding": "UTF8", "bytea_output": "hex", "extra_float_digits": "1",
            "datestyle": "ISO, YMD", "intervalstyle": "postgres", "timezone": "UTC",
            "standard_conforming_strings": "on", "transform_null_equals": "off", "quote_all_identifiers": "off",
            "row_security": "on", "exit_on_error": "off", "statement_timeout": "30s", "lock_timeout": "10s",
            "idle_in_transaction_session_timeout": "1min", "synchronous_commit": "on",
            "transaction_isolation": "read committed", "transaction_read_only": "off",
        ]
        try await withDatabase(isPooled: isPooled) { database in
            let found = try await database.write { db in
                try expected.keys.map { name in
                    (name, try db.value("SELECT current_setting(\(name))", as: String.self) ?? "")
                }
            }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected)
            let texts: [String] = try await database.read { db in
                let length: Int64? = try db.value(#"SELECT length('a\b')"#)
                let time: String? = try db.value(
                    "SELECT CAST(TIMESTAMP WITH TIME ZONE '2026-03-04 05:06:07+00' AS TEXT)")
                let span: String? = try db.value("SELECT CAST(INTERVAL '1 day 2 hours' AS TEXT)")
                let isNull = try db.exists("SELECT 1 WHERE CAST(\(1) AS BIGINT) = NULL")
                return ["\(length ?? 0)", time ?? "", span ?? "", "\(isNull)"]
            }
            #expect(texts == ["3", "2026-03-04 05:06:07+00", "1 day 02:00:00", "false"])
        }
    }

    @Test func aDatabaseOfAnotherEncodingIsRefused() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            for encoding in ["LATIN1", "SQL_ASCII"] {
                let options = "ENCODING '\(encoding)' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"
                try await place.withSecond(options) { url in
                    let url = try #require(url)
                    #expect {
                        _ = try Database.postgreSQL(url: url, schema: schema)
                    } throws: { error in
                        "\(error)".contains("The PostgreSQL database has the encoding \(encoding), and only UTF8")
                    }
                    #expect(throws: UnsuitableEncoding.self) { try Database.reach(url: url, isPooler: false) }
                }
            }
        }
    }

    /// A value that is of another type than the code expects is an error, not the end of the process.
    @Test func whatCannotBeDecodedIsAnError() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let database = try place.open(schema)
            for number in ["9223372036854775808", "-9223372036854775809", "1e30::numeric", "0.5", "'x'", "''", "'-'"] {
                await #expect(throws: UnreadableColumn.self, "\(number)") {
                    try await database.read { try $0.value(SQL(trusted: "SELECT \(number)"), as: Int64.self) }
                }
            }
            for number: Int64 in [.max, .min, 0] {
                let sql = SQL(trusted: "SELECT CAST('\(number)' AS NUMERIC)")
                #expect(try await database.read { try $0.value(sql, as: Int64.self) } == number)
            }
            for text in [#"'\x0'"#, #"'\xzz'"#, #"'\'"#, #"'\40'"#, #"'\400'"#, #"'\089'"#] {
                await #expect(throws: UnreadableColumn.self, "\(text)") {
                    try await database.read { try $0.value(SQL(trusted: "SELECT \(text)"), as: [UInt8].self) }
                }
            }
            for text in [#"'\X00'"#, "'x'"] {
                await #expect(throws: UnreadableColumn.self, "\(text)") {
                    try await database.read { try $0.value(SQL(trusted: "SELECT \(text)"), as: Double.self) }
                }
            }
            try await database.close()
        }
    }

    @Test(
        arguments: [
            ("\\x", []), ("\\x00ff5C", [0, 255, 92]), ("", []), ("abc", [97, 98, 99]), ("\\\\", [92]),
            ("\\000\\377a\\134", [0, 255, 97, 92]), ("\\\\x41", [92, 120, 52, 49]), ("é", [0xC3, 0xA9]),
            ("\\x0", nil), ("\\xzz", nil), ("\\", nil), ("\\4", nil), ("\\40", nil), ("\\400", nil), ("\\08x", nil),
            ("\\a", nil),
        ] as [(String, [UInt8]?)])
    func bothFormsOfBytesAreRead(_ text: String, _ bytes: [UInt8]?) {
        let decoded = Array(text.utf8).withUnsafeBufferPointer { ByteText.decode($0) }
        #expect(decoded == bytes)
    }
}
