import Backend
import Contract
import Database
import Foundation

/// Where the contacts of an account are found by parts of words: a ``SearchIndex`` whose scope is the account.
///
/// What is searched is read from the contact's rows each time, so it says what they say.
enum ContactSearch {
    /// For the schema of a database whose contacts are in the blocks of before (``bringUpToDate(_:)``).
    static let migration =
        [
            "ALTER TABLE search_blocks RENAME TO former_search_blocks",
            "ALTER TABLE contacts ADD COLUMN search_block BIGINT",
        ] + SearchIndex.tables

    // MARK: Writing. The account is locked.

    /// From now on searches have them. Many at a time cost far less than one after the other.
    ///
    /// - Parameter contacts: None of them partial, none in the index.
    static func add(_ contacts: [Int], of account: AccountID, in db: Session) throws {
        let entries = try entries(of: contacts.sorted(), in: db)
        for (block, ids) in try SearchIndex.add(entries, to: account.number, in: db) {
            for some in ids.chunks(of: 128) {
                try db.run("UPDATE contacts SET search_block = \(block) WHERE id IN (\(list: some))")
            }
        }
    }

    /// Takes over what has changed in a contact's rows, if searches have it.
    static func update(_ contact: Int, of account: AccountID, in db: Session) throws {
        guard let block = try block(of: contact, in: db), let entry = try entries(of: [contact], in: db).first else {
            return
        }
        try SearchIndex.replace(entry, in: block, of: account.number, in: db)
    }

    static func remove(_ contacts: [Int], of account: AccountID, in db: Session) throws {
        var blocks: [Int: Set<Int>] = [:]
        for some in contacts.chunks(of: 128) {
            _ = try db.all("SELECT id, search_block FROM contacts WHERE id IN (\(list: some))") { row in
                if let block = try row.get(1, as: Int?.self) { blocks[block, default: []].insert(try row.get(0)) }
            }
        }
        for (block, ids) in blocks.sorted(by: { $0.key < $1.key }) {
            try SearchIndex.remove(ids, from: block, of: account.number, in: db)
            for some in ids.sorted().chunks(of: 128) {
                try db.run("UPDATE contacts SET search_block = NULL WHERE id IN (\(list: some))")
            }
        }
    }

    private static func block(of contact: Int, in db: Session) throws -> Int? {
        try db.one("SELECT search_block FROM contacts WHERE id = \(contact)") { try $0.get(0, as: Int?.self) } ?? nil
    }

    /// What is searched of some contacts: names, nickname, description, job, company, addresses of mail, phones.
    private static func entries(of contacts: [Int], in db: Session) throws -> [SearchIndex.Entry] {
        var texts: [Int: [String]] = [:]
        for some in contacts.chunks(of: 128) {
            _ = try db.all(
                """
                SELECT id, first_name, middle_name, last_name, formatted_name, nickname, description, job, company
                FROM contacts
                WHERE id IN (\(list: some))
                """
            ) { row in
                let all = try (1...8).compactMap { try row.get($0, as: String?.self) }
                texts[try row.get(0)] = all.map(SearchText.line)
            }
            _ = try db.all(
                """
                SELECT f.contact_id, t.kind, f.content FROM contact_fields f
                JOIN contact_field_types t ON t.id = f.type_id
                WHERE f.contact_id IN (\(list: some)) AND t.kind <> \(ContactFieldKind.website.rawValue) ORDER BY f.id
                """
            ) { row in
                let (contact, content) = (try row.get(0, as: Int.self), try row.get(2, as: String.self))
                texts[contact]?.append(SearchText.line(content))
                guard try row.get(1) == ContactFieldKind.phone.rawValue else { return }
                // As it is typed without the marks between.
                let digits = content.filter { $0.isWholeNumber || $0 == "+" }
                if digits != content, !digits.isEmpty { texts[contact]?.append(SearchText.line(digits)) }
            }
        }
        return contacts.compactMap { id in texts[id].map { SearchIndex.Entry(id: id, texts: $0) } }
    }

    // MARK: Searching

    /// The contacts of an account in whose texts every word occurs, in the order of their making.
    ///
    /// - Parameter words: As ``SearchText/words(_:)`` gives them; one or more.
    static func matches(_ words: [String], account: AccountID, in db: Session) throws -> [Int] {
        var found: [Int] = []
        try SearchIndex.find(words, in: account.number, db) { found.append($0.id) }
        return found.sorted()
    }

    // MARK: Databases of before

    /// Puts the contacts of former blocks into the index, a block at a time.
    static func bringUpToDate(_ database: Database) async throws {
        var last = 0
        while let next = try await database.read({ [last] in try next(after: last, $0) }) {
            try Task.checkCancellation()
            last = next.block
            try await database.write { db in
                try Accounts.lock(next.account, in: db)
                // Another node may have done it by now.
                let lines: String? = try db.value("SELECT lines FROM former_search_blocks WHERE id = \(next.block)")
                guard let lines, !lines.isEmpty else { return }
                let ids = lines.split(separator: "\n").compactMap { Int($0.prefix { $0 != "\t" }) }
                var waiting: [Int] = []
                for some in ids.chunks(of: 128) {
                    waiting += try db.all(
                        """
                        SELECT id FROM contacts WHERE id IN (\(list: some)) AND account_id = \(next.account)
                            AND is_partial = 0 AND search_block IS NULL
                        """
                    ) { try $0.get(0) }
                }
                try add(waiting, of: next.account, in: db)
                // A row that goes is looked for in every contact.
                try db.run("UPDATE former_search_blocks SET size = 0, lines = '' WHERE id = \(next.block)")
            }
        }
    }

    private static func next(after last: Int, _ db: Session) throws -> (block: Int, account: AccountID)? {
        try db.one(
            """
            SELECT id, account_id FROM former_search_blocks WHERE id > \(last) AND lines <> '' ORDER BY id LIMIT 1
            """
        ) { (block: try $0.get(0), account: try $0.get(1)) }
    }
}

/// Texts as they are compared in a search.
enum SearchText {
    /// Returns a text's words, folded: without regard to case and accents, letters that no accent makes as the plain
    /// ones they stand for, and each apostrophe and hyphen as the one on every keyboard.
    static func words(_ text: String) -> [String] { Folding.words(plain(text)) }

    static func line(_ text: String) -> String { words(text).joined(separator: " ") }

    private static func plain(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "`") }) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar {
            case "Ł", "ł": result.append("l")
            case "Ø", "ø": result.append("o")
            case "Đ", "đ", "Ð", "ð": result.append("d")
            case "Æ", "æ": result.append(contentsOf: "ae".unicodeScalars)
            case "Œ", "œ": result.append(contentsOf: "oe".unicodeScalars)
            case "ß", "ẞ": result.append(contentsOf: "ss".unicodeScalars)
            case "Þ", "þ": result.append(contentsOf: "th".unicodeScalars)
            case "ı": result.append("i")
            case "`", "\u{B4}", "\u{2BB}"..."\u{2BD}", "\u{2C8}", "\u{2018}"..."\u{201B}", "\u{2032}", "\u{2035}",
                "\u{5F3}", "\u{FF07}", "\u{FF40}":
                result.append("'")
            case "\u{2010}"..."\u{2015}", "\u{2212}", "\u{2E3A}", "\u{2E3B}", "\u{58A}", "\u{5BE}", "\u{FE58}",
                "\u{FE63}", "\u{FF0D}":
                result.append("-")
            // Not seen, but where a line ends.
            case "\u{AD}": continue
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

extension [Int] {
    /// So many at a time, each time as many as a power of two, the last repeated: each number is a statement of its own.
    fileprivate func chunks(of size: Int) -> [[Int]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]).paddedToPowerOfTwo() }
    }
}
