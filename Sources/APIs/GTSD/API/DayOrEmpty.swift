import Contract

/// A day that is an empty text on the wire when there is none.
@propertyWrapper
public struct DayOrEmpty: Codable, Hashable, Sendable {
    /// The day; nil when there is none.
    public var wrappedValue: Day?

    public init(wrappedValue: Day?) { self.wrappedValue = wrappedValue }

    /// Decodes null as no day, too.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let isNone = try container.decodeNil() || container.decode(String.self).isEmpty
        wrappedValue = isNone ? nil : try container.decode(Day.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue?.description ?? "")
    }
}

extension KeyedDecodingContainer {
    /// Decodes an absent key as no day.
    public func decode(_: DayOrEmpty.Type, forKey key: Key) throws -> DayOrEmpty {
        try decodeIfPresent(DayOrEmpty.self, forKey: key) ?? DayOrEmpty(wrappedValue: nil)
    }
}
