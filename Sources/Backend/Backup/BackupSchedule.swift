import Foundation
import TimeZones

/// The times at which a server makes backups by itself.
public enum BackupSchedule: Sendable, Equatable {
    /// Every day at a time of the machine's time zone.
    case daily(hour: Int, minute: Int)
    /// This number of hours after the backup before.
    case every(hours: Int)

    /// Reads `daily@03:00` or `6h`. Any other text is nil.
    public init?(_ text: String) {
        if text.hasPrefix("daily@") {
            let parts = text.dropFirst("daily@".count).split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let hour = Int(parts[0]),
                let minute = Int(parts[1]), 0...23 ~= hour, 0...59 ~= minute
            else { return nil }
            self = .daily(hour: hour, minute: minute)
        } else {
            guard text.hasSuffix("h"), let hours = Int(text.dropLast()), 1...8760 ~= hours else { return nil }
            self = .every(hours: hours)
        }
    }

    /// Returns the time of the backup that follows one of a given time.
    func next(after time: Date, zone: Zone = .machine) -> Date {
        switch self {
        case .every(let hours): return time + TimeInterval(hours) * 3600
        case .daily(let hour, let minute):
            let now = Int64(time.timeIntervalSince1970.rounded(.down))
            let local = now + Int64(zone.offset(at: now))
            let today = local - local % 86_400 + Int64(hour * 3600 + minute * 60)
            let next = [today, today + 86_400].map(zone.moment(local:)).first { $0 > now } ?? now + 86_400
            return Date(timeIntervalSince1970: TimeInterval(next))
        }
    }
}

/// Decides when the next backup is made, while the clock goes on or is set.
struct BackupTurns {
    private static let retry = 3600.0

    private let schedule: BackupSchedule
    /// The time from which the schedule counts: that of the last backup.
    private var last: Date
    private var failed: Date?

    /// - Parameter names: The names of the backups that there are.
    init(_ schedule: BackupSchedule, after names: [String], at now: Date) {
        self.schedule = schedule
        last = BackupNames.newest(of: names, at: now) ?? now
    }

    /// Returns the seconds until the next backup; none or fewer when it is due.
    mutating func wait(at now: Date, zone: Zone = .machine) -> TimeInterval {
        // A time ahead of the clock is not believed: the next backup would come when the clock gets there.
        last = BackupNames.isAhead(last, of: now) ? now : last
        guard let failed else { return schedule.next(after: last, zone: zone).timeIntervalSince(now) }
        let since = BackupNames.isAhead(failed, of: now) ? now : failed
        self.failed = since
        return (since + Self.retry).timeIntervalSince(now)
    }

    mutating func succeed(began: Date) { (last, failed) = (began, nil) }
    mutating func fail(at now: Date) { failed = now }
}

/// The order of backups, whose names are the times at which they began.
enum BackupNames {
    /// Returns whether a time lies so far ahead that it is not believed. The clocks of nodes may differ a little.
    static func isAhead(_ time: Date, of now: Date) -> Bool {
        time > now + TimeInterval(StoredTimes.tolerance) / 1000
    }

    private static func isAhead(_ name: String, of now: Date) -> Bool {
        time(of: name).map { isAhead($0, of: now) } ?? false
    }

    private static func time(of name: String) -> Date? { try? BackupJob.nameStyle.parse(name) }

    /// Returns the time of the newest backup whose time is believed.
    static func newest(of names: [String], at now: Date) -> Date? {
        names.filter { !isAhead($0, of: now) }.max().flatMap(time(of:))
    }

    /// Returns names in the order in which backups are removed. Those whose times are ahead of the clock come first: else each
    /// new backup would be the oldest, and go at once.
    static func inOrder(_ names: [String], at now: Date) -> [String] {
        names.filter { isAhead($0, of: now) }.sorted() + names.filter { !isAhead($0, of: now) }.sorted()
    }
}

/// The backups that a server makes by itself.
public struct BackupSettings: Sendable {
    public var location: BackupLocation
    public var schedule: BackupSchedule
    /// The newest backups that are kept.
    public var keep: Int

    public init(location: BackupLocation, schedule: BackupSchedule, keep: Int) {
        self.location = location
        self.schedule = schedule
        self.keep = keep
    }
}
