import Database
import MonicaAPI
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Pages of searches equal those of a scan of every contact.
@Suite(.timeLimit(.minutes(30))) struct MonicaSearchTests {
    /// The words are frequent, rare or absent; digits, which ids also contain; and a word whose match overlaps another
    /// word's.
    private static let queries = [
        "contact", "7", "10", "seven", "seven contact", "contact 7", "even", "zoe seven", "nobody", "s e v e n",
    ]
    private static let sorts: [Monica.Sort<Monica.ContactOrder>?] = [
        nil, .ascending(.createdAt), .descending(.createdAt), .ascending(.updatedAt), .descending(.updatedAt),
    ]

    @Test(arguments: Stack.Engine.available)
    func everyPageOfASearchEqualsAScan(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            // This fills several blocks of the index.
            let count = 700
            let cards = (0..<count).map { number in
                "BEGIN:VCARD\nVERSION:4.0\nFN:Contact \(number)\(number % 7 == 0 ? " Seven" : "")\n"
                    + "NICKNAME:\(number % 50 == 0 ? "Zoë" : "")\nNOTE:\(String(repeating: "long ", count: 20))\nEND:VCARD\n"
            }.joined()
            _ = try await host.service.importVCards(Array(cards.utf8), into: "first")
            let client = try await host.client()
            // Some contacts are changed later, in another order than that of their creation.
            var everybody: [(contact: Monica.Contact, changed: Int)] = []
            for try await contact in client.contacts() { everybody.append((contact, 0)) }
            try #require(everybody.count == count)
            for (turn, index) in stride(from: 600, to: 0, by: -90).enumerated() {
                host.clock.advance(by: .seconds(60))
                try await client.send(Monica.SetFood(id: everybody[index].contact.id, preferences: "No nuts"))
                everybody[index].changed = turn + 1
            }
            for query in Self.queries {
                let words = query.split(separator: " ")
                let matches = everybody.filter { one in
                    let texts = [
                        one.contact.completeName, one.contact.nickname ?? "", one.contact.description ?? "",
                    ].map { $0.lowercased().replacing("ë", with: "e") }
                    return words.allSatisfy { word in texts.contains { $0.contains(word) } }
                }
                for sort in Self.sorts {
                    var expected = matches
                    if sort?.order == .updatedAt {
                        expected.sort { ($0.changed, $0.contact.id) < ($1.changed, $1.contact.id) }
                    }
                    if sort?.isDescending == true { expected.reverse() }
                    for page in [1, 2, (matches.count + 99) / 100] where page > 0 {
                        let answer = try await client.send(
                            Monica.ListContacts(query: query, page: page, limit: 100, sort: sort))
                        let ids = expected.map(\.contact.id).dropFirst((page - 1) * 100).prefix(100)
                        #expect(answer.data.map(\.id) == Array(ids), "\(query), \(sort?.rawValue ?? ""), \(page)")
                        #expect(answer.meta?.total == matches.count)
                    }
                }
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func phonesAreFoundAsTheyAreTyped(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let card =
                "BEGIN:VCARD\nVERSION:3.0\nFN:John\nTEL:+1 (555) 010-1234\nEMAIL:j@example.com\n"
                + "URL:https://x.example\nEND:VCARD\n"
            _ = try await host.service.importVCards(Array(card.utf8), into: "first")
            let client = try await host.client()
            for (query, count) in [
                ("5550101234", 1), ("+1555", 1), ("555 010", 1), ("010-1234", 1), ("j@example", 1), ("x.example", 0),
                ("john 1234", 1),
            ] {
                let found = try await client.listContacts(page: 1, limit: 10, query: query)
                #expect(found.data.count == count, "\(query)")
            }
        }
    }

    /// Changes to a database with an older search index survive the migration.
    @Test(arguments: Stack.Engine.available)
    func contactsOfAnOlderDatabaseAreFound(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let steps = MonicaService.schema.migrations
            let index = try #require(steps.firstIndex { $0.name == "contacts found by parts of words" })
            let old = try place.open(Schema(MonicaService.schema.name, Array(steps[..<index])))
            let account = try await old.write { db -> AccountID in
                let account: AccountID = try #require(
                    try Accounts.findOrMake("first", email: "", at: 1, makeID: { "id" }, in: db))
                for block in 1...3 {
                    try db.run(
                        """
                        INSERT INTO search_blocks (id, account_id, size, lines)
                        VALUES (\(block), \(account), 0, \((1...100).map { "\(block * 100 + $0)\told\n" }.joined()))
                        """)
                    for number in 1...100 {
                        try db.run(
                            """
                            INSERT INTO contacts (
                                id, uuid, account_id, first_name, is_starred, is_partial, is_dead, block_id,
                                created_at, updated_at)
                            VALUES (\(block * 100 + number), \("u\(block * 100 + number)"), \(account),
                                \(number == 7 ? "Łukasz" : "Somebody"), 0, 0, 0, \(block), 1, 1)
                            """)
                    }
                }
                return account
            }
            try await old.close()
            let database = try place.open(MonicaService.schema)
            // A contact is deleted and another renamed before the migration reaches them.
            try await database.write { db in
                try db.run("UPDATE contacts SET first_name = 'Jane' WHERE id = 101")
                try ContactSearch.update(101, of: account, in: db)
                try ContactSearch.remove([102], of: account, in: db)
                try db.run("DELETE FROM contacts WHERE id = 102")
            }
            try await ContactSearch.bringUpToDate(database)
            try await ContactSearch.bringUpToDate(database)
            let found = try await database.read { db in
                try ["lukasz", "jane", "somebody", "old"].map { word in
                    try ContactSearch.matches([word], account: account, in: db)
                }
            }
            #expect(found[0] == [107, 207, 307])
            #expect(found[1] == [101])
            #expect(found[2].count == 295)
            #expect(found[3] == [])
            let left = try await database.read { db in
                try db.value("SELECT COUNT(*) FROM former_search_blocks WHERE lines <> ''", as: Int.self)
            }
            #expect(left == 0)
            try await database.close()
        }
    }

    @Test(arguments: [
        ("John Doe", "JD"), ("  (john)\tvan der\nBerg 3rd ", "JVDB3"), ("-- 'n' 4", "N4"), ("", ""), ("!?", ""),
        ("José Ángel", "JÁ"), ("e\u{301}mile Zola", "E\u{301}Z"), ("山田 太郎", "山太"), ("👩‍👩‍👧 ٣x", "٣"),
        ("John\u{A0}Doe", "JD"),
    ])
    func initialsAreTheFirstLettersOrDigits(_ name: String, _ initials: String) {
        #expect(Monica.Names.initials(of: name) == initials)
    }
}
