import Database
import Testbed
import Testing

@testable import Backend

@Suite(.timeLimit(.minutes(30))) struct StoredTimesTests {
    private static let now: Int64 = 1_771_840_800_000
    private static let year: Int64 = 31_536_000_000
    private static let schema = Schema(
        "times", [.init("times", ["CREATE TABLE things (id {ID}, at BIGINT, seconds BIGINT, until BIGINT)"])])
    private static let times = [
        StoredTime("things", "at"), StoredTime("things", "seconds", unit: 1000),
        StoredTime("things", "until", window: 3_600_000, correction: .isOver),
    ]

    @Test func aTimeFurtherAheadThanItsWindowIsOver() {
        let (now, tolerance) = (Self.now, StoredTimes.tolerance)
        for (time, isOver) in [
            (now - 1, true), (now, true), (now + 1, false), (now + 1000, false), (now + 1000 + tolerance, false),
            (now + 1001 + tolerance, true), (now + Self.year, true), (.max, true), (.min, true),
        ] {
            #expect(StoredTimes.isOver(time, at: now, window: 1000) == isOver, "\(time - now)")
        }
    }

    @Test(arguments: Stack.Engine.available) func aSweepBringsTimesBack(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            let now = Self.now
            let rows: [[Int64?]] = [
                [now - 5, now / 1000 - 5, now + 5], [now + 5, now / 1000 + 5, now - 5],
                [now + Self.year, (now + Self.year) / 1000, now + Self.year], [nil, nil, nil],
            ]
            let after: [[Int64?]] = try await database.write { db in
                for row in rows {
                    try db.run(
                        "INSERT INTO things (at, seconds, until) VALUES (\(row[0]), \(row[1]), \(row[2]))")
                }
                try StoredTimes.bringBack(Self.times, at: now, in: db)
                return try db.all("SELECT at, seconds, until FROM things ORDER BY id") {
                    [try $0.get(0), try $0.get(1), try $0.get(2)]
                }
            }
            // Clocks that differ a little are not corrected, and limits are over without it.
            #expect(after == [rows[0], rows[1], [now, now / 1000, now + Self.year], rows[3]])
            let (over, open): ([Int], [Int]) = try await database.read { db in
                let isOver = StoredTimes.isOver("until", at: now, window: 3_600_000)
                return (
                    try db.all("SELECT id FROM things WHERE \(isOver) ORDER BY id") { try $0.get(0) },
                    try db.all("SELECT id FROM things WHERE NOT \(isOver) ORDER BY id") { try $0.get(0) }
                )
            }
            #expect((over.count, open.count) == (2, 1))
            try await database.close()
        }
    }
}
