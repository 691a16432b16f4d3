import Contract

extension DeuceDiary {
    static let analytics = Section("Analytics", [GetMostDeuces.self])

    /// The day, in UTC, with the most logs; of several such days, the most recent.
    public struct TopDay: Codable, Hashable, Sendable {
        /// The day, in UTC.
        public var date: Day
        /// The number of logs. A log into several groups counts once.
        public var count: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /api/analytics/most-deuces`: returns the caller's ``TopDay``.
    public struct GetMostDeuces: Endpoint {
        public static let route = Route.get("/api/analytics/most-deuces")
        public typealias Output = MostDeuces

        public init() {}
    }

    /// The answer: `{ "date": "2025-05-20", "count": 5 }`, or `{ "date": "", "count": 0 }` before the first log.
    public struct MostDeuces: Codable, Hashable, Sendable {
        /// The day with the most logs; nil before the first log.
        public var topDay: TopDay?
        private init(derived: Never) { switch derived {} }

        private enum CodingKeys: String, CodingKey { case date, count }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let date = try container.decodeIfPresent(String.self, forKey: .date) ?? ""
            let count = try container.decode(Int.self, forKey: .count)
            topDay = count == 0 || date.isEmpty ? nil : try TopDay(from: decoder)
        }

        public func encode(to encoder: any Encoder) throws {
            if let topDay { return try topDay.encode(to: encoder) }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("", forKey: .date)
            try container.encode(0, forKey: .count)
        }
    }
}
