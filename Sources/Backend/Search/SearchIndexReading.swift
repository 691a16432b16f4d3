import Database
import Foundation

extension SearchIndex {
    /// An entry that contains every needle, at its place in a block. It is valid only inside the closure that receives
    /// it.
    public struct Match {
        public let id: Int
        fileprivate let texts: UnsafePointer<CChar>
        fileprivate let end: UnsafePointer<CChar>

        /// The first of the entry's texts, in bytes of UTF-8, because both engines compare texts by their bytes.
        public var firstText: [UInt8] {
            let start = texts + 1
            let length = memchr(start, CInt(tab), start.distance(to: end)).map {
                start.distance(to: UnsafePointer($0.assumingMemoryBound(to: CChar.self)))
            }
            let count = length ?? start.distance(to: end)
            return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        }
    }

    /// Passes each entry of a scope whose texts contain every needle to a closure, in no particular order.
    ///
    /// - Parameter needles: The needles, case-folded in the same way as the texts; none of them is empty.
    public static func find(
        _ needles: [String], in scope: Int, _ db: Session, _ each: (Match) -> Void
    ) throws {
        try find(needles, in: scope, within: try blocks(with: needles, in: scope, db), db, each)
    }

    /// Searches the given blocks only; all blocks of the scope when they are nil.
    static func find(
        _ needles: [String], in scope: Int, within blocks: [Int]?, _ db: Session, _ each: (Match) -> Void
    ) throws {
        // The longest needle is usually the rarest, so it is searched first.
        let needles = needles.map { Array(escaped($0).utf8CString) }.sorted { $0.count > $1.count }
        func look(_ row: borrowing Row) throws { row.withText(1) { collect(needles, in: $0, each) } }
        guard let blocks else { return try lookEverywhere(in: scope, db, look) }
        var loose: [Int] = []
        for run in Run.all(of: blocks) {
            guard run.isDense else {
                loose += blocks[run.indices]
                continue
            }
            var wanted = blocks[run.indices]
            let (first, last) = (wanted[wanted.startIndex], wanted[wanted.endIndex - 1])
            _ = try db.all(
                """
                SELECT id, lines FROM search_blocks WHERE scope = \(scope) AND id BETWEEN \(first) AND \(last)
                ORDER BY id
                """
            ) { row in
                let id: Int = try row.get(0)
                while let next = wanted.first, next < id { wanted.removeFirst() }
                if wanted.first == id { try look(row) }
            }
        }
        for start in stride(from: 0, to: loose.count, by: 64) {
            let some = Array(loose[start..<min(start + 64, loose.count)])
            _ = try db.all("SELECT id, lines FROM search_blocks WHERE id IN (\(list: some))") { try look($0) }
        }
    }

    /// Reads a thousand blocks at a time, because PostgreSQL returns a result as a whole.
    private static func lookEverywhere(
        in scope: Int, _ db: Session, _ look: (borrowing Row) throws -> Void
    ) throws {
        var (last, count) = (0, 1024)
        while count == 1024 {
            count = 0
            _ = try db.all(
                """
                SELECT id, lines FROM search_blocks WHERE scope = \(scope) AND id > \(last) ORDER BY id LIMIT 1024
                """
            ) { row in
                count += 1
                last = try row.get(0)
                try look(row)
            }
        }
    }

    /// Returns the blocks that have every gram of every needle, in ascending order; nil when no needle has a gram.
    static func blocks(with needles: [String], in scope: Int, _ db: Session) throws -> [Int]? {
        let grams = needles.reduce(into: Set<Gram>()) { $0.formUnion(Gram.all(in: escaped($1))) }
        guard !grams.isEmpty else { return nil }
        // More grams would only cost time: some of a long needle's grams are as rare as all of them.
        let some = grams.sorted().spread(over: 32)
        var lists: [String: [Int: Part]] = [:]
        _ = try db.all(self.lists(of: some.map(\.text), in: scope)) { row in
            var part = Part()
            row.withText(2) { part.take(marks: $0) }
            lists[try row.get(0), default: [:]][try row.get(1)] = part
        }
        guard lists.count == some.count, let shortest = lists.values.min(by: { $0.count < $1.count }) else {
            return []
        }
        var result: [Int] = []
        for number in shortest.keys.sorted() {
            var common = Part.all
            for list in lists.values { common.formIntersection(list[number]) }
            common.append(to: &result, from: number * Mark.perPart)
        }
        return result
    }

    /// Returns the query for the lists of some grams.
    static func lists(of grams: [String], in scope: Int) -> SQL {
        """
        SELECT gram, part, blocks FROM search_grams
        WHERE scope = \(scope) AND gram IN (\(list: grams))
        """
    }

    /// Passes each line that contains every needle to a closure.
    ///
    /// - Parameters:
    ///   - needles: The needles, each ended by NUL, which no text contains.
    ///   - lines: The lines of a block, ended by NUL.
    static func collect(_ needles: [[CChar]], in lines: UnsafePointer<CChar>, _ each: (Match) -> Void) {
        guard let first = needles.first else { return }
        // The position is always the beginning of a line.
        var position = lines
        while let hit = strstr(position, first).map({ UnsafePointer($0) }) {
            var start = hit
            if memchr(position, CInt(newline), position.distance(to: hit)) == nil {
                // Where many lines match, the hit is usually in the next one.
                start = position
            } else {
                while start[-1] != newline { start -= 1 }
            }
            // The id is not searched.
            var (texts, id) = (start, 0)
            while texts[0] != tab {
                id = id * 10 + Int(texts[0] - zero)
                texts += 1
            }
            guard let end = strchr(max(hit, texts), CInt(newline)).map({ UnsafePointer($0) }) else { return }
            let others = hit < texts ? needles[...] : needles.dropFirst()
            if others.allSatisfy({ occurs($0, from: texts, to: end) }) {
                each(Match(id: id, texts: texts, end: end))
            }
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
    static let tab = CChar(bitPattern: UInt8(ascii: "\t"))
    private static let zero = CChar(bitPattern: UInt8(ascii: "0"))
}

/// The set of blocks of one part, with a bit for each block.
private struct Part {
    static let all = Part(words: Array(repeating: .max, count: Mark.perPart / 64))
    private var words: [UInt64]

    private init(words: [UInt64]) { self.words = words }
    init() { words = Array(repeating: 0, count: Mark.perPart / 64) }

    /// - Parameter text: The text of ``Mark`` values, ended by NUL.
    mutating func take(marks text: UnsafePointer<CChar>) {
        var position = text
        while position[0] != 0 {
            let block = Int(position[0] - 0x40) * 32 + Int(position[1] - 0x20)
            words[block / 64] |= 1 << UInt64(block % 64)
            position += 2
        }
    }

    mutating func formIntersection(_ other: Part?) {
        for index in words.indices { words[index] &= other?.words[index] ?? 0 }
    }

    func append(to blocks: inout [Int], from first: Int) {
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                blocks.append(first + index * 64 + rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
    }
}

/// A range of blocks. When it is dense, reading all blocks between the first and the last is faster than reading each
/// by its id.
private struct Run {
    let indices: Range<Int>
    let isDense: Bool

    static func all(of blocks: [Int]) -> [Run] {
        var (runs, start) = ([Run](), 0)
        while start < blocks.count {
            var end = start + 1
            while end < blocks.count, end - start < 1024, blocks[end] - blocks[start] < 2 * (end - start + 1) {
                end += 1
            }
            runs.append(Run(indices: start..<end, isDense: end - start >= 16))
            start = end
        }
        return runs
    }
}

extension [Gram] {
    fileprivate func spread(over limit: Int) -> [Gram] {
        count <= limit ? self : (0..<limit).map { self[$0 * count / limit] }
    }
}
