import Database
import Testbed
import Testing

@testable import Backend

/// The index finds the same texts as a scan of all of them.
@Suite(.timeLimit(.minutes(30))) struct SearchIndexTests {
    private static let schema = Schema(
        "search",
        [
            .init("index", SearchIndex.tables),
            .init(
                "users",
                [
                    """
                    CREATE TABLE users (
                        id {ID}, username_key {KEY} NOT NULL UNIQUE, display_key {KEY} NOT NULL,
                        is_hidden INTEGER NOT NULL DEFAULT 0)
                    """
                ]),
        ])

    private func withIndex(_ engine: Stack.Engine, _ body: (Database) async throws -> Void) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            try await body(database)
            try await database.close()
        }
    }

    /// There are few letters, so that searches match often; some take several bytes, and some end lines or texts.
    private static let letters = Array("aabbcdé山\u{1F600} \t\n\\%_'\u{0}7")

    private static func text(_ length: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
        // NUL is left out because no text column accepts it. Queries may contain it.
        String((0..<Int.random(in: length, using: &random)).map { _ in letters.randomElement(using: &random)! })
    }

    @Test(arguments: Stack.Engine.available)
    func findsTheSameAsAScan(_ engine: Stack.Engine) async throws {
        try await withIndex(engine) { database in
            let (found, expected) = try await database.write { db in
                var random = SeededGenerator(seed: 7)
                var entries: [Int: (scope: Int, block: Int, texts: [String])] = [:]
                var nextID = 1
                var (found, expected) = ([[Int]](), [[Int]]())
                for _ in 0..<60 {
                    let scope = Int.random(in: 1...2, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0, 1:
                        let new = (0..<Int.random(in: 1...40, using: &random)).map { offset in
                            SearchIndex.Entry(
                                id: nextID + offset, texts: [Self.text(0...30, &random), Self.text(0...9, &random)])
                        }
                        nextID += new.count
                        for (block, ids) in try SearchIndex.add(new, to: scope, in: db) {
                            for entry in new where ids.contains(entry.id) {
                                entries[entry.id] = (scope, block, entry.texts)
                            }
                        }
                    case 2:
                        guard let (id, old) = entries.sorted(by: { $0.key < $1.key }).randomElement(using: &random)
                        else { continue }
                        let texts = [Self.text(0...30, &random)]
                        try SearchIndex.replace(.init(id: id, texts: texts), in: old.block, of: old.scope, in: db)
                        entries[id]?.texts = texts
                    default:
                        for (id, old) in entries.sorted(by: { $0.key < $1.key }).prefix(3) {
                            try SearchIndex.remove([id], from: old.block, of: old.scope, in: db)
                            entries[id] = nil
                        }
                    }
                    let needles = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.text(1...4, &random) }
                    var ids: [Int] = []
                    try SearchIndex.find(needles, in: scope, db) { ids.append($0.id) }
                    found.append(ids.sorted())
                    expected.append(
                        entries.filter { _, entry in
                            entry.scope == scope
                                && needles.allSatisfy { needle in
                                    entry.texts.contains {
                                        Array($0.utf8).contains(Array(needle.utf8))
                                    }
                                }
                        }.keys.sorted())
                }
                return (found, expected)
            }
            for (one, other) in zip(found, expected) { #expect(one == other) }
            #expect(expected.contains { $0.count > 10 })
        }
    }

    @Test(arguments: Stack.Engine.available)
    func removedTextsLeaveNothing(_ engine: Stack.Engine) async throws {
        try await withIndex(engine) { database in
            let rest = try await database.write { db in
                let entries = (1...100).map { SearchIndex.Entry(id: $0, texts: ["Name \($0) \($0 % 7)éß", "other"]) }
                for (block, ids) in try SearchIndex.add(entries, to: 1, in: db) {
                    for id in ids { try SearchIndex.remove([id], from: block, of: 1, in: db) }
                }
                return try db.value("SELECT COUNT(*) FROM search_blocks", as: Int.self)! * 1_000_000
                    + db.value("SELECT COUNT(*) FROM search_grams", as: Int.self)!
            }
            #expect(rest == 0)
        }
    }

    @Test func looksUpGramsAndReadsBlocksByAnIndex() async throws {
        try await withIndex(.sqlite) { database in
            let plans = try await database.read { db in
                [
                    try db.plan(of: SearchIndex.lists(of: ["abc", "bcd"], in: 1)),
                    try db.plan(of: "SELECT id, lines FROM search_blocks WHERE id IN (1, 2)"),
                    try db.plan(
                        of: """
                            SELECT id, lines FROM search_blocks WHERE scope = 1 AND id BETWEEN 2 AND 3 ORDER BY id
                            """),
                ]
            }
            for plan in plans {
                #expect(plan.first?.contains("SEARCH") == true, "\(plan)")
                #expect(!plan.contains { $0.contains("SCAN") }, "\(plan)")
            }
        }
    }

    /// A word without a rare part is in every block; a word that no text contains is in none, and nothing is read for
    /// it.
    @Test(arguments: Stack.Engine.available)
    func readsOnlyBlocksThatMayHaveIt(_ engine: Stack.Engine) async throws {
        try await withIndex(engine) { database in
            let counts = try await database.write { db in
                let entries = (1...2000).map {
                    SearchIndex.Entry(id: $0, texts: ["somebody \($0 == 1234 ? "zoë" : "x")"])
                }
                let all = try SearchIndex.add(entries, to: 1, in: db).count
                func count(_ needles: String...) throws -> Int? {
                    try SearchIndex.blocks(with: needles, in: 1, db)?.count
                }
                return (all, try count("somebody"), try count("zoë"), try count("some", "nobody"), try count("zo"))
            }
            #expect(counts.0 > 10)
            #expect(counts.1 == counts.0)
            #expect(counts.2 == 1)
            #expect(counts.3 == 0)
            #expect(counts.4 == nil)
        }
    }

    // MARK: Users

    @Test(arguments: Stack.Engine.available)
    func usersOfAnOlderDatabaseAreFoundInOrder(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let before = Schema("people", [Self.schema.migrations[1]])
            let count = 2500
            let old = try place.open(before)
            try await old.write { db in
                for index in 1...count {
                    // The order of the names differs from the order of the ids.
                    let name = "user\(String(index * 7919 % 100_000 + 100_000).dropFirst())"
                    try db.run(
                        """
                        INSERT INTO users (username_key, display_key, is_hidden)
                        VALUES (\(name), \(index % 500 == 0 ? "rare one" : "somebody"), \(index % 5 == 0))
                        """)
                }
            }
            try await old.close()
            let database = try place.open(
                Schema("people", before.migrations + [.init("search", UserSearch.migration)]))
            try await UserSearch.bringUpToDate(database, where: "is_hidden = 0 OR display_key = 'rare one'")
            // The step may run twice.
            try await UserSearch.bringUpToDate(database)
            for needle in ["user", "rare", "one", "e o", "er1", "77", "u", "7", "nobody", "zz", "r00"] {
                let (found, expected) = try await database.read { db in
                    let all = try db.all(
                        """
                        SELECT id, username_key, display_key FROM users
                        WHERE is_hidden = 0 ORDER BY username_key, id
                        """
                    ) { (id: try $0.get(0, as: Int.self), names: [try $0.get(1, as: String.self), try $0.get(2)]) }
                    let expected = all.filter { $0.names.contains { $0.contains(needle) } }.map(\.id).prefix(20)
                    let found = try UserSearch.first(20, containing: needle, in: db) { ids in
                        try db.all(
                            """
                            SELECT id FROM users WHERE id IN (\(list: ids)) AND is_hidden = 0
                            ORDER BY username_key, id
                            """
                        ) { try $0.get(0, as: Int.self) }
                    }
                    return (found, Array(expected))
                }
                #expect(found == expected, "\(needle)")
            }
            try await database.close()
        }
    }
}
