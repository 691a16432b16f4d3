import Database
import Testbed
import Testing

/// The newest rows of many lists are found together.
@Suite(.timeLimit(.minutes(30))) struct ListsTests {
    private static let schema = Schema(
        "lists",
        [
            .init(
                "rows",
                [
                    "CREATE TABLE rows (id {ID}, list BIGINT NOT NULL, at BIGINT NOT NULL)",
                    "CREATE INDEX rows_in_order ON rows (list, at, id)",
                    "CREATE TABLE chosen (list BIGINT NOT NULL)",
                ])
        ])
    private static let table = ListTable<Int, Int>("rows", list: "list", time: "at")

    /// The result equals that of a simple query, for lists of any length, an empty one, and rows with equal times.
    @Test(arguments: Stack.Engine.available)
    func equalsASortOfAllRows(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            let rows = SeededRows.make(600)
            try await database.write { db in
                for (list, at) in rows { try db.run("INSERT INTO rows (list, at) VALUES (\(list), \(at))") }
                for list in [1, 2, 3, 5, 8, 99] { try db.run("INSERT INTO chosen (list) VALUES (\(list))") }
            }
            for limit in [1, 10, 100, 1000] {
                for before in [nil, (50, 300), (10, 0), (0, 0)] as [(Int, Int)?] {
                    let place: SQL? = before.map {
                        "(SELECT CAST(\($0.0) AS BIGINT), CAST(\($0.1) AS BIGINT))"
                    }
                    let (found, wanted) = try await database.read { db in
                        let newest = try db.newest(
                            limit, of: Self.table, in: "SELECT list FROM chosen", before: place)
                        let found = try db.all(
                            "SELECT r.at, r.id FROM \(newest) n JOIN rows r ON r.id = n.id ORDER BY r.at DESC, r.id DESC"
                        ) {
                            [try $0.get(0, as: Int.self), try $0.get(1, as: Int.self)]
                        }
                        let older: SQL = place.map { "AND (at, id) < \($0)" } ?? ""
                        let wanted = try db.all(
                            """
                            SELECT at, id FROM rows WHERE list IN (SELECT list FROM chosen) \(older)
                            ORDER BY at DESC, id DESC LIMIT \(limit)
                            """
                        ) { [try $0.get(0, as: Int.self), try $0.get(1, as: Int.self)] }
                        return (found, wanted)
                    }
                    #expect(found == wanted, "\(limit) \(before as Any)")
                }
            }
            for (lists, before) in [
                ("SELECT list FROM chosen WHERE list > 99", nil),
                (
                    "SELECT list FROM chosen", "(SELECT at, id FROM rows WHERE id = 0)"
                ),
            ] as [(SQL, SQL?)] {
                let isThere = try await database.read { db in
                    try db.exists("SELECT 1 FROM \(db.newest(5, of: Self.table, in: lists, before: before)) n")
                }
                #expect(!isThere)
            }
            try await database.close()
        }
    }

    private enum SeededRows {
        /// Returns lists 0 to 9 with times 0 to 99, the same each time. One list has most of the rows, and one most of the
        /// newest.
        static func make(_ count: Int) -> [(Int, Int)] {
            var state: UInt64 = 42
            func next(_ bound: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % bound
            }
            return (0..<count).map { index in
                switch index % 4 {
                case 0: (5, next(100))
                case 1: (8, 90 + next(10))
                default: (next(10), next(100))
                }
            }
        }
    }

    /// The rows that a query names are found by their ids; the query may name none, or one that is not there.
    @Test(arguments: Stack.Engine.available)
    func rowsAreFoundByIds(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            try await database.write { db in
                for list in 1...40 { try db.run("INSERT INTO rows (list, at) VALUES (\(list), \(list * 2))") }
                for id in [3, 7, 21, 99] { try db.run("INSERT INTO chosen (list) VALUES (\(id))") }
            }
            for (most, wanted) in [(50, [[3, 6], [7, 14], [21, 42]]), (7, [[3, 6], [7, 14]]), (2, [])] {
                let found = try await database.read { db in
                    let ids: SQL = "SELECT list AS key FROM chosen WHERE list <= \(db.unplanned(most))"
                    return try db.all("SELECT r.id, r.at FROM \(db.rows(of: "rows", in: ids)) r ORDER BY r.id") {
                        [try $0.get(0, as: Int.self), try $0.get(1, as: Int.self)]
                    }
                }
                #expect(found == wanted)
            }
            try await database.close()
        }
    }
}
