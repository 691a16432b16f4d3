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

    /// Adds a line, and tells in which block it is. The caller has the account's turn.
    static func add(_ texts: [String?], of contact: Int, account: Int, in db: Session) throws -> Int {
        let line = line(texts, of: contact)
        let size = line.utf8.count
        let last = try db.one(
            "SELECT id, size FROM search_blocks WHERE account_id = \(account) ORDER BY id DESC LIMIT 1"
        ) { (id: try $0.get(0, as: Int.self), size: try $0.get(1, as: Int.self)) }
        if let last, last.size + size <= capacity {
            try db.run(
                "UPDATE search_blocks SET size = size + \(size), lines = lines || \(line) WHERE id = \(last.id)")
            return last.id
        }
        let id = try db.value(
            "INSERT INTO search_blocks (account_id, size, lines) VALUES (\(account), \(size), \(line)) RETURNING id",
            as: Int.self)
        guard let id else { throw DatabaseFailure.failed("no id") }
        return id
    }

    /// Writes a contact's line anew.
    static func replace(_ texts: [String?], of contact: Int, in block: Int, _ db: Session) throws {
        try rewrite(block, lineOf: contact, as: line(texts, of: contact), db)
    }

    static func remove(_ contact: Int, from block: Int, _ db: Session) throws {
        try rewrite(block, lineOf: contact, as: "", db)
    }

    private static func rewrite(_ block: Int, lineOf contact: Int, as line: String, _ db: Session) throws {
        guard let text = try db.value("SELECT lines FROM search_blocks WHERE id = \(block)", as: String.self) else {
            return
        }
        let start = Array("\(contact)\t".utf8)
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { old in
            old.starts(with: start) ? line : String(Substring(old)) + "\n"
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
        var position = lines
        while let hit = strstr(position, first) {
            var start = UnsafePointer(hit)
            while start > lines, start[-1] != newline { start -= 1 }
            // The id is not searched.
            var (words, id) = (start, 0)
            while words[0] != tab {
                id = id * 10 + Int(words[0] - zero)
                words += 1
            }
            var end = max(UnsafePointer(hit), words)
            while end[0] != newline { end += 1 }
            if needles.allSatisfy({ occurs($0, from: words, to: end) }) { found.append(id) }
            position = end
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
