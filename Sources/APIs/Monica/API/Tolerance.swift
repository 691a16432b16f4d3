import Contract

/// A type whose members are read one by one, with the tolerance below. `Tools/derive` writes its `init(from:)`.
protocol ReadByMembers: Decodable {}

/// Lenient decoding of answers: an absent key counts as null, and numbers may be text, because servers of the same API
/// differ.
extension KeyedDecodingContainer {
    /// Returns a text, or the digits of a number.
    func text(_ key: Key) throws -> String? {
        switch try decodeIfPresent(JSONValue.self, forKey: key) {
        case nil, .null: nil
        case .string(let text): text
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .bool(let value): String(value)
        case .list, .object: throw mismatch(key, "a text")
        }
    }

    func integer(_ key: Key) throws -> Int? {
        switch try decodeIfPresent(JSONValue.self, forKey: key) {
        case nil, .null, .string(""): nil
        case .integer(let value): Int(value)
        case .number(let value) where value == value.rounded(): Int(exactly: value)
        case .string(let text):
            if let value = Int(text) { value } else { throw mismatch(key, "an integer") }
        default: throw mismatch(key, "an integer")
        }
    }

    func number(_ key: Key) throws -> Double? {
        switch try decodeIfPresent(JSONValue.self, forKey: key) {
        case nil, .null, .string(""): nil
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let text):
            if let value = Double(text) { value } else { throw mismatch(key, "a number") }
        default: throw mismatch(key, "a number")
        }
    }

    /// Returns `true`, or what other languages write for it.
    func truth(_ key: Key) throws -> Bool? {
        switch try decodeIfPresent(JSONValue.self, forKey: key) {
        case nil, .null, .string(""): nil
        case .bool(let value): value
        case .integer(let value): value != 0
        case .string("true"), .string("1"): true
        case .string("false"), .string("0"): false
        default: throw mismatch(key, "true or false")
        }
    }

    /// Returns a time with or without a fraction; a day stands for its beginning.
    func time(_ key: Key) throws -> Monica.Timestamp? {
        guard let text = try text(key), !text.isEmpty else { return nil }
        if let time = Monica.Timestamp(text) { return time }
        guard let day = Day(text) else { throw mismatch(key, "a time") }
        return day.start
    }

    /// Returns a day; for a time, the day in UTC.
    func day(_ key: Key) throws -> Day? {
        guard let text = try text(key), !text.isEmpty else { return nil }
        if let day = Day(text) { return day }
        guard let time = Monica.Timestamp(text) else { throw mismatch(key, "a day") }
        return time.day
    }

    /// Returns a list; null counts as an empty one.
    func list<Element: Decodable>(_ key: Key, of _: Element.Type = Element.self) throws -> [Element] {
        try decodeIfPresent([Element].self, forKey: key) ?? []
    }

    /// Returns a value; nil when it is null, absent, or an empty list, which PHP writes for an empty object.
    func value<Value: Decodable>(_ key: Key, of _: Value.Type = Value.self) throws -> Value? {
        if let elements = try? decodeIfPresent([JSONValue].self, forKey: key), elements.isEmpty { return nil }
        return try decodeIfPresent(Value.self, forKey: key)
    }

    /// Returns an id. A record without one cannot be decoded.
    func id(_ key: Key) throws -> Int {
        guard let id = try integer(key) else { throw mismatch(key, "an id") }
        return id
    }

    private func mismatch(_ key: Key, _ expected: String) -> DecodingError {
        .typeMismatch(
            JSONValue.self, .init(codingPath: codingPath + [key], debugDescription: "expected \(expected)"))
    }
}

extension Day {
    /// The beginning of the day in UTC.
    package var start: Monica.Timestamp { .init(milliseconds: daysSince1970 * 86_400_000) }

    /// Fails when the calendar has no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard 0...9999 ~= year, 1...12 ~= month, 1...31 ~= day else { return nil }
        func digits(_ value: Int, _ count: Int) -> String {
            String(repeating: "0", count: count - String(value).count) + String(value)
        }
        self.init("\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))")
    }

    package var year: Int { Int(description.prefix(4)) ?? 0 }
}

extension Timestamp {
    /// The day in UTC.
    package var day: Day {
        let day: Int64 = 86_400_000
        return Day(daysSince1970: milliseconds >= 0 ? milliseconds / day : (milliseconds + 1) / day - 1)
    }
}
