public import Logging

/// The newest lines of a log, in memory.
public struct RecentLines: Sendable {
    /// A line of the log.
    public struct Line: Sendable {
        /// The number of the line, from 1.
        public let number: Int
        public let level: Logger.Level
        /// The text, of which the first ``longest`` bytes are kept. It may have a line end.
        public let text: String
    }

    /// The most bytes that are kept of a line.
    public static let longest = 4096
    private let capacity: Int
    private var lines: [Line] = []
    private var count = 0

    /// - Parameter capacity: The most lines that are kept.
    public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

    /// Adds a line, and removes the oldest one above the capacity.
    public mutating func add(_ text: String, _ level: Logger.Level) {
        let isShort = text.utf8.count <= Self.longest
        let kept = isShort ? text : String(decoding: text.utf8.prefix(Self.longest), as: UTF8.self)
        count += 1
        let line = Line(number: count, level: level, text: kept)
        if lines.count < capacity { lines.append(line) } else { lines[(count - 1) % capacity] = line }
    }

    /// The lines, the oldest first.
    public var all: [Line] {
        guard count > capacity else { return lines }
        let oldest = count % capacity
        return Array(lines[oldest...] + lines[..<oldest])
    }

    /// Returns the newest lines that match, the oldest first.
    ///
    /// - Parameters:
    ///   - words: The texts that a line must have, in upper or lower case as they are.
    ///   - level: The least level.
    ///   - number: The number after which the lines begin.
    static func matches(
        _ lines: [Line], words: [String], level: Logger.Level, after number: Int, limit: Int
    ) -> [Line] {
        let found = lines.reversed().lazy.prefix { $0.number > number }.filter { line in
            line.level >= level && words.allSatisfy { line.text.contains($0) }
        }
        return found.prefix(limit).reversed()
    }

    /// Returns the level of a name; nil for a text that is none.
    static func level(named name: String) -> Logger.Level? { Logger.Level(rawValue: name) }
}
