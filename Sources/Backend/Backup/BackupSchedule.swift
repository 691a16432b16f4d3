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
