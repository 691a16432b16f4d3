import Foundation
import Testbed
import Testing
import TimeZones

@testable import Backend

/// The times at which a server makes backups.
@Suite(.timeLimit(.minutes(30))) struct BackupScheduleTests {
    private func time(_ text: String) throws -> Date { try Date.ISO8601FormatStyle().parse(text) }

    @Test func schedulesAreRead() {
        #expect(BackupSchedule("daily@03:00") == .daily(hour: 3, minute: 0))
        #expect(BackupSchedule("daily@23:59") == .daily(hour: 23, minute: 59))
        #expect(BackupSchedule("6h") == .every(hours: 6))
        for text in ["", "daily", "daily@24:00", "daily@3:00", "daily@03:60", "daily@03", "h", "0h", "-1h", "6", "6d"] {
            #expect(BackupSchedule(text) == nil, "\(text)")
        }
    }

    @Test func theNextTimeFollowsTheLast() throws {
        let berlin = try Zone(file: MadeZoneFile(offsets: [0], footer: "CET-1CEST,M3.5.0,M10.5.0/3").bytes)
        let last = try time("2026-11-23T02:00:00Z")
        let daily = BackupSchedule.daily(hour: 3, minute: 30)
        #expect(daily.next(after: last, zone: berlin) == (try time("2026-11-23T02:30:00Z")))
        let sharp = daily.next(after: try time("2026-11-23T02:30:00Z"), zone: berlin)
        #expect(sharp == (try time("2026-11-24T02:30:00Z")))
        #expect(BackupSchedule.every(hours: 6).next(after: last) == (try time("2026-11-23T08:00:00Z")))
        // On the day on which 02:30 does not exist, the backup is made all the same.
        let spring = BackupSchedule.daily(hour: 2, minute: 30).next(
            after: try time("2026-03-28T12:00:00Z"), zone: berlin)
        #expect(spring == (try time("2026-03-29T01:00:00Z")))
        // On the day on which it comes twice, the backup is made once.
        let autumn = BackupSchedule.daily(hour: 2, minute: 30)
        let first = autumn.next(after: try time("2026-10-24T12:00:00Z"), zone: berlin)
        #expect(first == (try time("2026-10-25T00:30:00Z")))
        #expect(autumn.next(after: first, zone: berlin) == (try time("2026-10-26T01:30:00Z")))
    }

    /// Backups were made while the clock was ahead. The next one comes within the schedule of the right time, also after a
    /// restart and when the clock is set while the server waits.
    @Test func noBackupWaitsForAWrongTime() throws {
        let now = try time("2026-11-23T12:00:00Z")
        let schedule = BackupSchedule.every(hours: 6)
        var turns = BackupTurns(schedule, after: ["2027-11-23T110000Z"], at: now)
        #expect(turns.wait(at: now) == 6 * 3600)
        #expect(turns.wait(at: now + 3600) == 5 * 3600)
        turns.succeed(began: now + 365 * 86_400)
        #expect(turns.wait(at: now) == 6 * 3600)
        #expect(turns.wait(at: now + 6 * 3600) == 0)
        turns.fail(at: now + 365 * 86_400)
        #expect(turns.wait(at: now) == 3600)
        #expect(turns.wait(at: now + 3600) == 0)
        // A backup of the right time counts, beside one of the wrong time.
        turns = BackupTurns(schedule, after: ["2026-11-23T110000Z", "2027-11-23T110000Z"], at: now)
        #expect(turns.wait(at: now) == 5 * 3600)
        // A clock that was behind and is set right makes the backup that is overdue.
        turns = BackupTurns(schedule, after: ["2026-11-23T110000Z"], at: now - 365 * 86_400)
        #expect(turns.wait(at: now) <= 0)
    }

    /// Else each new backup would be the oldest, and be removed as soon as it is made.
    @Test func backupsOfAWrongTimeGoFirst() throws {
        let now = try time("2026-11-23T12:00:00Z")
        let wrong = ["2027-11-22T030000Z", "2027-11-23T030000Z"]
        let right = ["2026-11-22T030000Z", "2026-11-23T030000Z"]
        #expect(BackupNames.inOrder(right + wrong, at: now) == wrong + right)
        #expect(BackupNames.newest(of: right + wrong, at: now) == (try time("2026-11-23T03:00:00Z")))
        #expect(BackupNames.newest(of: wrong, at: now) == nil)
        #expect(BackupNames.newest(of: [], at: now) == nil)
    }
}
