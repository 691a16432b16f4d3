import Foundation

/// The times that operators write: a day, a time in UTC, or a duration.
enum OperatorTime {
    /// Reads a time; a duration ends now.
    static func ago(_ text: String, before now: Date) -> Date? { duration(text).map { now - $0 } ?? moment(text) }

    /// Reads a time; a duration begins now.
    static func ahead(_ text: String, of now: Date) -> Date? { duration(text).map { now + $0 } ?? moment(text) }

    private static func duration(_ text: String) -> Double? {
        let units: [Character: Double] = ["m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int32(text.dropLast()), count >= 0 else {
            return nil
        }
        return Double(count) * unit
    }

    private static func moment(_ text: String) -> Date? {
        (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: .iso8601.year().month().day()))
    }
}
