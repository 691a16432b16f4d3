import Contract
import Database
import Foundation

/// What is searched: for each contact a line of its folded texts, many lines to a row.
///
/// A substring has no index that both engines share, and stepping through a row for each contact costs more than
/// comparing does. In rows of 16 KiB a hundred thousand contacts are some hundred rows, and the comparing is one pass
/// over memory. A line is `id`, a tab, and the words with a space between them; a word that is searched for has no
/// white space in it, so no match goes beyond a text or into the next line.
enum SearchBlocks {
    /// In bytes of UTF-8. A row takes no more lines once it is full; those that it has may still grow.
    static let capacity = 16_384

    // MARK: Writing

    /// Adds lines, and tells in which blocks they are. The caller has the account's turn.
    ///
    /// - Parameter contacts: With ascending ids.
    static func add(
        _ contacts: [(id: Int, texts: [String?])], account: Int, in db: Session
    ) throws -> [(block: Int, contacts: ClosedRange<Int>)] {
        let last = try db.one(
            "SELECT id, size FROM search_blocks WHERE account_id = \(account) ORDER BY id DESC LIMIT 1"
        ) { (id: try $0.get(0, as: Int.self), size: try $0.get(1, as: Int.self)) }
        var result: [(block: Int, contacts: ClosedRange<Int>)] = []
        // What goes into one block.
        var (lines, ids, size) = ("", [Int](), last?.size ?? 0)
        func write(_ block: Int?) throws {
            guard let first = ids.first, let last = ids.last else { return }
            let block = try block.map { try append(lines, to: $0, db) } ?? make(lines, account: account, db)
            result.append((block, first...last))
        }
        var block = last?.id
        for contact in contacts {
            let line = line(contact.texts, of: contact.id)
            if size + line.utf8.count > capacity {
                try write(block)
                (block, lines, ids, size) = (nil, "", [], 0)
            }
            lines += line
            ids.append(contact.id)
            size += line.utf8.count
        }
        try write(block)
        return result
    }

    private static func append(_ lines: String, to block: Int, _ db: Session) throws -> Int {
        try db.run(
            "UPDATE search_blocks SET size = size + \(lines.utf8.count), lines = lines || \(lines) WHERE id = \(block)")
        return block
    }

    private static func make(_ lines: String, account: Int, _ db: Session) throws -> Int {
        let id: Int? = try db.value(
            """
            INSERT INTO search_blocks (account_id, size, lines) VALUES (\(account), \(lines.utf8.count), \(lines))
            RETURNING id
            """)
        guard let id else { throw DatabaseFailure.failed("no id") }
        return id
    }

    /// Writes a contact's line anew.
    static func replace(_ texts: [String?], of contact: Int, in block: Int, _ db: Session) throws {
        try rewrite(block, linesOf: [contact], as: line(texts, of: contact), db)
    }

    static func remove(_ contacts: Set<Int>, from block: Int, _ db: Session) throws {
        try rewrite(block, linesOf: contacts, as: "", db)
    }

    private static func rewrite(_ block: Int, linesOf contacts: Set<Int>, as line: String, _ db: Session) throws {
        guard let text = try db.value("SELECT lines FROM search_blocks WHERE id = \(block)", as: String.self) else {
            return
        }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { old in
            let id = Int(Substring(old.prefix { $0 != UInt8(ascii: "\t") }))
            return id.map(contacts.contains) == true ? line : String(Substring(old)) + "\n"
        }.joined()
        try db.run("UPDATE search_blocks SET size = \(lines.utf8.count), lines = \(lines) WHERE id = \(block)")
    }

    private static func line(_ texts: [String?], of contact: Int) -> String {
        let words = texts.compactMap(\.self).map { Folding.words($0).joined(separator: " ") }
        return "\(contact)\t" + words.joined(separator: " ") + "\n"
    }

    // MARK: Searching

    /// The contacts of an account in whose texts every word occurs, in the order of their making.
    ///
    /// - Parameter words: As ``Folding/words(_:)`` gives them; one or more.
    static func matches(_ words: [String], account: Int, in db: Session) throws -> [Int] {
        // The longest is the rarest, as a rule.
        let needles = words.map { Array($0.utf8CString) }.sorted { $0.count > $1.count }
        var found: [Int] = []
        _ = try db.all("SELECT lines FROM search_blocks WHERE account_id = \(account) ORDER BY id") { row in
            try row.get(0, as: String.self).withCString { collect(needles, in: $0, into: &found) }
        }
        return found.sorted()
    }

    /// - Parameters:
    ///   - needles: Ended by NUL, which no text has in it.
    ///   - lines: Ended by NUL.
    static func collect(_ needles: [[CChar]], in lines: UnsafePointer<CChar>, into found: inout [Int]) {
        guard let first = needles.first else { return }
        // Always where a line begins.
        var position = lines
        while let hit = strstr(position, first).map({ UnsafePointer($0) }) {
            var start = hit
            if memchr(position, CInt(newline), position.distance(to: hit)) == nil {
                // Where many match, it is the next line as a rule.
                start = position
            } else {
                while start[-1] != newline { start -= 1 }
            }
            // The id is not searched.
            var (words, id) = (start, 0)
            while words[0] != tab {
                id = id * 10 + Int(words[0] - zero)
                words += 1
            }
            guard let end = strchr(max(hit, words), CInt(newline)).map({ UnsafePointer($0) }) else { return }
            let others = hit < words ? needles[...] : needles.dropFirst()
            if others.allSatisfy({ occurs($0, from: words, to: end) }) { found.append(id) }
            position = end + 1
        }
    }

    private static func occurs(
        _ needle: [CChar], from start: UnsafePointer<CChar>, to end: UnsafePointer<CChar>
    ) -> Bool {
        let count = needle.count - 1
        var position = start
        while position + count <= end {
            if position[0] == needle[0], memcmp(position, needle, count) == 0 { return true }
            position += 1
        }
        return false
    }

    private static let newline = CChar(bitPattern: UInt8(ascii: "\n"))
    private static let tab = CChar(bitPattern: UInt8(ascii: "\t"))
    private static let zero = CChar(bitPattern: UInt8(ascii: "0"))
}
