import Database
import Foundation

/// Finds texts by any part of them, on both engines, without reading every text.
///
/// An entry is a line: its id, and its texts with a tab before each. Lines are stored together in blocks of about 2 kB
/// (`search_blocks`). For each gram (three consecutive characters), `search_grams` lists the blocks in which it occurs.
/// A search reads the lists of its needles' grams, and then only the blocks that are in all of these lists. So a search
/// for a rare text reads a few rows. A search for a common text, or for one or two characters, reads all blocks once.
/// Both find exactly the texts that contain the needle.
///
/// Each scope has an index of its own. A write locks the block that it changes.
public enum SearchIndex {
    /// The size in bytes of UTF-8 from which a block accepts no more lines. The lines that it has may still grow.
    static let capacity = 2000

    /// The statements that create the tables, for an API's schema.
    public static let tables = [
        "CREATE TABLE search_blocks (id {ID}, scope BIGINT NOT NULL, size BIGINT NOT NULL, lines TEXT NOT NULL)",
        "CREATE INDEX search_blocks_of_scope ON search_blocks (scope, id)",
        // A part is 1,024 blocks. `blocks` has two characters for each of them (``Mark``).
        """
        CREATE TABLE search_grams (
            scope BIGINT NOT NULL, gram {KEY} NOT NULL, part BIGINT NOT NULL, blocks {KEY} NOT NULL,
            PRIMARY KEY (scope, gram, part))
        """,
    ]

    public struct Entry: Sendable {
        public let id: Int
        public let texts: [String]

        /// - Parameter texts: The texts, case-folded in the same way as needles.
        public init(id: Int, texts: [String]) {
            self.id = id
            self.texts = texts
        }

        /// Returns the entry's line in a block.
        var line: String { "\(id)" + texts.map { "\t" + escaped($0) }.joined() + "\n" }
    }

    // MARK: Writing

    /// Removes some of the blocks and grams of a scope whose entries are gone.
    ///
    /// - Returns: Whether there were any.
    public static func removeSome(of scope: Int, in db: Session) throws -> Bool {
        let blocks: SQL = "SELECT id FROM search_blocks WHERE scope = \(scope) LIMIT 100"
        if try db.run("DELETE FROM search_blocks WHERE id IN (\(blocks))") > 0 { return true }
        let grams: SQL = "SELECT gram FROM search_grams WHERE scope = \(scope) ORDER BY gram LIMIT 1000"
        return try db.run("DELETE FROM search_grams WHERE scope = \(scope) AND gram IN (\(grams))") > 0
    }

    /// Adds entries, and returns the block of each. Adding many at a time costs far less than adding one after the
    /// other.
    public static func add(
        _ entries: [Entry], to scope: Int, in db: Session
    ) throws -> [(block: Int, ids: [Int])] {
        var result: [(block: Int, ids: [Int])] = []
        var marks = Marks()
        var block = try lastBlock(of: scope, in: db)
        var (added, ids, size) = ("", [Int](), block?.lines.utf8.count ?? 0)
        func write() throws {
            guard !ids.isEmpty else { return }
            let lines = (block?.lines ?? "") + added
            let id = try block.map { try save(lines, as: $0.id, db) } ?? make(lines, scope: scope, db)
            marks.add(Gram.all(inLines: added).subtracting(Gram.all(inLines: block?.lines ?? "")), in: id)
            result.append((id, ids))
        }
        for entry in entries {
            let line = entry.line
            if size > 0, size + line.utf8.count > capacity {
                try write()
                (block, added, ids, size) = (nil, "", [], 0)
            }
            added += line
            ids.append(entry.id)
            size += line.utf8.count
        }
        try write()
        try marks.save(to: scope, in: db)
        return result
    }

    /// Replaces an entry's line.
    public static func replace(_ entry: Entry, in block: Int, of scope: Int, in db: Session) throws {
        try rewrite(block, of: scope, linesOf: [entry.id], as: entry.line, db)
    }

    public static func remove(_ ids: Set<Int>, from block: Int, of scope: Int, in db: Session) throws {
        try rewrite(block, of: scope, linesOf: ids, as: "", db)
    }

    private static func rewrite(
        _ block: Int, of scope: Int, linesOf ids: Set<Int>, as line: String, _ db: Session
    ) throws {
        guard let former = try lock(block, in: db) else { return }
        let lines = former.utf8.split(separator: UInt8(ascii: "\n")).map { old in
            let id = Int(Substring(old.prefix { $0 != UInt8(ascii: "\t") }))
            return id.map(ids.contains) == true ? line : String(Substring(old)) + "\n"
        }.joined()
        if lines == former { return }
        if lines.isEmpty {
            try db.run("DELETE FROM search_blocks WHERE id = \(block)")
        } else {
            try save(lines, as: block, db)
        }
        let (old, new) = (Gram.all(inLines: former), Gram.all(inLines: lines))
        var marks = Marks()
        marks.add(new.subtracting(old), in: block)
        try marks.save(to: scope, in: db)
        try Marks.remove(old.subtracting(new), of: block, from: scope, in: db)
    }

    private static func lastBlock(of scope: Int, in db: Session) throws -> (id: Int, lines: String)? {
        let id: Int? = try db.value("SELECT id FROM search_blocks WHERE scope = \(scope) ORDER BY id DESC LIMIT 1")
        guard let id, let lines = try lock(id, in: db) else { return nil }
        return (id, lines)
    }

    /// Locks a block's row, and returns its lines.
    private static func lock(_ block: Int, in db: Session) throws -> String? {
        try db.lock("lines", from: "search_blocks", where: "id = \(block)") { try $0.get(0) }
    }

    @discardableResult
    private static func save(_ lines: String, as block: Int, _ db: Session) throws -> Int {
        try db.run("UPDATE search_blocks SET size = \(lines.utf8.count), lines = \(lines) WHERE id = \(block)")
        return block
    }

    private static func make(_ lines: String, scope: Int, _ db: Session) throws -> Int {
        let id: Int? = try db.insert(
            """
            INSERT INTO search_blocks (scope, size, lines) VALUES (\(scope), \(lines.utf8.count), \(lines))
            """)
        guard let id else { throw DatabaseFailure.failed("no id") }
        return id
    }

    /// Returns a text without the characters that end a line, a text or a C string. Needles and lines are escaped in
    /// the same way.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0 || $0 == 9 || $0 == 10 }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": result.append("\u{10FFF0}")
            case "\t": result.append("\u{10FFF1}")
            case "\n": result.append("\u{10FFF2}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

/// Three consecutive characters without a space, with 21 bits for each.
struct Gram: Hashable, Comparable {
    private let bits: UInt64

    static func < (a: Gram, b: Gram) -> Bool { a.bits < b.bits }

    var text: String {
        var result = String.UnicodeScalarView()
        for shift in [42, 21, 0] as [UInt64] {
            if let scalar = Unicode.Scalar(UInt32((bits >> shift) & 0x1F_FFFF)) { result.append(scalar) }
        }
        return String(result)
    }

    /// Returns the grams of a needle.
    static func all(in text: String) -> Set<Gram> {
        var (grams, last, count) = (Set<Gram>(), UInt64(0), 0)
        for scalar in text.unicodeScalars { take(scalar, &last, &count, &grams) }
        return grams
    }

    /// Returns the grams of the texts of lines, without those of the ids before the texts.
    static func all(inLines lines: String) -> Set<Gram> {
        var (grams, last, count, isID) = (Set<Gram>(), UInt64(0), 0, true)
        for scalar in lines.unicodeScalars {
            switch scalar {
            case "\n": (isID, count) = (true, 0)
            case "\t": (isID, count) = (false, 0)
            default: if !isID { take(scalar, &last, &count, &grams) }
            }
        }
        return grams
    }

    private static func take(
        _ scalar: Unicode.Scalar, _ last: inout UInt64, _ count: inout Int, _ grams: inout Set<Gram>
    ) {
        guard scalar != " " else {
            count = 0
            return
        }
        last = (last << 21 | UInt64(scalar.value)) & ((1 << 63) - 1)
        count += 1
        if count >= 3 { grams.insert(Gram(bits: last)) }
    }
}

/// The blocks to add to the lists of grams.
private struct Marks {
    private struct Place: Hashable, Comparable {
        let gram: Gram
        let part: Int

        static func < (a: Place, b: Place) -> Bool { (a.gram, a.part) < (b.gram, b.part) }
    }

    private var lists: [Place: String] = [:]

    mutating func add(_ grams: Set<Gram>, in block: Int) {
        let mark = Mark(block)
        for gram in grams { lists[Place(gram: gram, part: mark.part), default: ""] += mark.text }
    }

    /// Rows are written in one order, so that two transactions with the same rows cannot end in a deadlock.
    func save(to scope: Int, in db: Session) throws {
        var rest = lists.sorted { $0.key < $1.key }[...]
        for size in [64, 8, 1] {
            while rest.count >= size {
                let rows = rest.prefix(size).map { place, blocks -> SQL in
                    "(\(scope), \(place.gram.text), \(place.part), \(blocks))"
                }
                try db.run(
                    """
                    INSERT INTO search_grams (scope, gram, part, blocks) VALUES \(joined: rows)
                    ON CONFLICT (scope, gram, part) DO UPDATE SET blocks = search_grams.blocks || excluded.blocks
                    """)
                rest = rest.dropFirst(size)
            }
        }
    }

    static func remove(_ grams: Set<Gram>, of block: Int, from scope: Int, in db: Session) throws {
        let mark = Mark(block)
        let texts = grams.sorted().map(\.text)
        for start in stride(from: 0, to: texts.count, by: 64) {
            let some = Array(texts[start..<min(start + 64, texts.count)])
            let rows: SQL = "scope = \(scope) AND part = \(mark.part) AND gram IN (\(list: some))"
            try db.run("UPDATE search_grams SET blocks = REPLACE(blocks, \(mark.text), '') WHERE \(rows)")
            try db.run("DELETE FROM search_grams WHERE \(rows) AND blocks = ''")
        }
    }
}

/// A block in the lists of grams, as two characters from two disjoint ranges. So a pair is only found where a mark
/// begins, and SQL's own functions can add and remove marks.
struct Mark {
    static let perPart = 1024

    let part: Int
    let text: String

    init(_ block: Int) {
        part = block / Self.perPart
        let (index, rest) = (block % Self.perPart).quotientAndRemainder(dividingBy: 32)
        text = String(decoding: [0x40 + UInt8(index), 0x20 + UInt8(rest)], as: UTF8.self)
    }
}
