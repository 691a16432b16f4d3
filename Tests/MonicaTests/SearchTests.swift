import MonicaAPI
import MonicaClient
import MonicaService
import Testbed
import Testing

/// Pages of searches, against going through every contact.
@Suite struct MonicaSearchTests {
    /// Dense, rare, none; digits, which ids have too; a word that another word's match begins before.
    private static let queries = [
        "contact", "7", "10", "seven", "seven contact", "contact 7", "even", "zoe seven", "nobody", "s e v e n",
    ]
    private static let sorts: [Monica.Sort<Monica.ContactOrder>?] = [
        nil, .ascending(.createdAt), .descending(.createdAt), .ascending(.updatedAt), .descending(.updatedAt),
    ]

    @Test(arguments: Stack.Engine.available)
    func everyPageOfASearchIsThatOfALookAtEveryContact(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            // Some blocks of them.
            let count = 700
            let cards = (0..<count).map { number in
                "BEGIN:VCARD\nVERSION:4.0\nFN:Contact \(number)\(number % 7 == 0 ? " Seven" : "")\n"
                    + "NICKNAME:\(number % 50 == 0 ? "Zoë" : "")\nNOTE:\(String(repeating: "long ", count: 20))\nEND:VCARD\n"
            }.joined()
            _ = try await host.service.importVCards(Array(cards.utf8), into: "first")
            let client = try await host.client()
            // Some are changed later, in another order than they were made in.
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

    @Test(arguments: [
        ("John Doe", "JD"), ("  (john)\tvan der\nBerg 3rd ", "JVDB3"), ("-- 'n' 4", "N4"), ("", ""), ("!?", ""),
        ("José Ángel", "JÁ"), ("e\u{301}mile Zola", "E\u{301}Z"), ("山田 太郎", "山太"), ("👩‍👩‍👧 ٣x", "٣"),
        ("John\u{A0}Doe", "JD"),
    ])
    func initialsAreTheFirstLettersOrDigits(_ name: String, _ initials: String) {
        #expect(Monica.Names.initials(of: name) == initials)
    }
}
