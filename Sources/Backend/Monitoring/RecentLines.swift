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
        /// The person whose request it is; nil for other lines.
        public let person: Person?
    }

    /// A person of an API, as lines name who has asked.
    public struct Person: Sendable, Hashable {
        /// The API's name.
        public let api: String
        /// The id as the API writes it.
        public let id: String

        public init(api: String, id: String) {
            self.api = api
            self.id = id
        }
    }

    /// The most bytes that are kept of a line.
    public static let longest = 4096
    private let capacity: Int
    private var lines: [Line] = []
    private var count = 0

    /// - Parameter capacity: The most lines that are kept.
    public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

    /// Adds a line, and removes the oldest one above the capacity.
    public mutating func add(_ text: String, _ level: Logger.Level, of person: Person? = nil) {
        let isShort = text.utf8.count <= Self.longest
        let kept = isShort ? text : String(decoding: text.utf8.prefix(Self.longest), as: UTF8.self)
        count += 1
        let line = Line(number: count, level: level, text: kept, person: person)
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
    ///   - person: The person whose requests the lines must be; nil for any lines.
    ///   - words: The texts that a line must have, in upper or lower case as they are.
    ///   - level: The least level.
    ///   - number: The number after which the lines begin.
    static func matches(
        _ lines: [Line], of person: Person? = nil, words: [String], level: Logger.Level, after number: Int, limit: Int
    ) -> [Line] {
        let found = lines.reversed().lazy.prefix { $0.number > number }.filter { line in
            line.level >= level && (person == nil || line.person == person)
                && words.allSatisfy { line.text.contains($0) }
        }
        return found.prefix(limit).reversed()
    }

    /// Returns the level of a name; nil for a text that is none.
    static func level(named name: String) -> Logger.Level? { Logger.Level(rawValue: name) }
}
