import Backend
import Contract
import Database
import Foundation

/// Finds the contacts of an account by parts of words, with a ``SearchIndex`` whose scope is the account.
///
/// The indexed texts are read from the contact's rows at each change, so the index always agrees with them.
enum ContactSearch {
    /// The migration for a database whose contacts are in the blocks of the former index (``bringUpToDate(_:)``).
    static let migration =
        [
            "ALTER TABLE search_blocks RENAME TO former_search_blocks",
            "ALTER TABLE contacts ADD COLUMN search_block BIGINT",
        ] + SearchIndex.tables

    // MARK: Writing. The caller has locked the account.

    /// Adds contacts to the index. Adding many at a time costs far less than adding one after the other.
    ///
    /// - Parameter contacts: Contacts that are not partial and not in the index.
    static func add(_ contacts: [Int], of account: AccountID, in db: Session) throws {
        let entries = try entries(of: contacts.sorted(), in: db)
        for (block, ids) in try SearchIndex.add(entries, to: account.number, in: db) {
            for some in ids.chunks(of: 128) {
                try db.run("UPDATE contacts SET search_block = \(block) WHERE id IN (\(list: some))")
            }
        }
    }

    /// Updates a contact in the index, if the index has it.
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

    /// Returns the indexed texts of contacts: names, nickname, description, job, company, e-mail addresses, phone
    /// numbers.
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
                // Users also type a number without separators. One of a user's own type looks like a number.
                let isPhone = try row.get(1) == ContactFieldKind.phone.rawValue
                guard isPhone || content.allSatisfy({ $0.isWholeNumber || "+()-./ ".contains($0) }) else { return }
                let digits = content.filter { $0.isWholeNumber || $0 == "+" }
                if digits != content, !digits.isEmpty { texts[contact]?.append(SearchText.line(digits)) }
            }
        }
        return contacts.compactMap { id in texts[id].map { SearchIndex.Entry(id: id, texts: $0) } }
    }

    // MARK: Searching

    /// Returns the contacts of an account whose texts contain every word, in the order of their creation.
    ///
    /// - Parameter words: One or more words that ``SearchText/words(_:)`` returned.
    static func matches(_ words: [String], account: AccountID, in db: Session) throws -> [Int] {
        var found: [Int] = []
        try SearchIndex.find(words, in: account.number, db) { found.append($0.id) }
        return found.sorted()
    }

    // MARK: Upgrade of older databases

    /// Moves the contacts of the former index to the new one, a block at a time.
    static func bringUpToDate(_ database: Database) async throws {
        var last = 0
        while let next = try await database.read({ [last] in try next(after: last, $0) }) {
            try Task.checkCancellation()
            last = next.block
            try await database.write { db in
                try Accounts.lock(next.account, in: db)
                // Another node may have moved it by now.
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
                // The row is emptied, not deleted: a deletion would scan all contacts for the foreign key.
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

/// Normalizes texts for the search.
enum SearchText {
    /// Returns a text's words, folded: without case and accents. Letters such as `ł` that are no accented letters
    /// become the plain ones, and all apostrophes and hyphens become the ASCII ones.
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
            // A soft hyphen is invisible inside of a line.
            case "\u{AD}": continue
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

extension [Int] {
    /// Returns the numbers in chunks.
    func chunks(of size: Int) -> [[Int]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
