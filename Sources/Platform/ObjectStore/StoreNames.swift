import Foundation

/// The names of the files that a store has besides its objects.
enum StoreNames {
    /// The folder of all of them on S3; no ``ObjectKey`` begins with it.
    static let folder = ".concord"
    /// The file or object that holds the store's id.
    static let identity = "store-id"
    /// The folder of discarded objects. It has a folder for each day, named by its date.
    static let trash = "trash"

    /// Returns the date of a day in UTC, as the folders in the trash are named: `2026-11-22`.
    static func day(of seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style)
    }

    /// Returns the days whose objects may still be in the trash at a time, the latest first: it keeps them for a week.
    static func daysInTrash(at now: Int64) -> [String] { (0...8).map { day(of: now - $0 * 86_400) } }

    /// Returns whether all of a day was before `cutoff` (Unix seconds); false for other names.
    static func isOver(_ day: String, before cutoff: Int64) -> Bool {
        guard let start = try? style.parse(day) else { return false }
        return Int64(start.timeIntervalSince1970) + 86_400 <= cutoff
    }

    private static let style = Date.ISO8601FormatStyle().year().month().day()

    /// Returns the id in a text, and throws when there is none.
    static func identity(in text: String, at place: String) throws(ObjectStoreError) -> String {
        let id = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard 1...64 ~= id.utf8.count, id.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { throw .damagedIdentity(place) }
        return id
    }
}
