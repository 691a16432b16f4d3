import Testbed
import Testing

@testable import TimeZones

/// Zone files are read as RFC 9636 says, and a damaged one is an error.
@Suite(.timeLimit(.minutes(30))) struct ZoneFileTests {
    private func offset(_ file: MadeZoneFile, at time: Int64) throws -> Int {
        try ZoneFile(file.bytes).offset(at: time)
    }

    /// Returns the seconds since 1970 of a time in UTC.
    private func time(_ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64 = 0) -> Int64 {
        (Civil.days(year, month: month) + day - 1) * 86_400 + hour * 3600
    }

    @Test(arguments: 1...4) func transitionsAreRead(_ version: Int) throws {
        var file = MadeZoneFile(offsets: [-1234, 3600, 7200])
        file.version = version
        file.changes = [(-1_000_000_000, 1), (0, 2), (1_000_000_000, 1)]
        let expected: [(Int64, Int)] = [
            (.min, -1234), (-1_000_000_001, -1234), (-1_000_000_000, 3600), (-1, 3600), (0, 7200), (999_999_999, 7200),
            (1_000_000_000, 3600), (.max, 3600),
        ]
        for (time, offset) in expected { #expect(try self.offset(file, at: time) == offset, "\(time)") }
    }

    /// Times of 64 bits are those of the second block. What the first one has does not count.
    @Test func theSecondBlockCounts() throws {
        var first = MadeZoneFile(offsets: [86_400, 1])
        first.version = 1
        first.changes = [(5, 1)]
        var file = MadeZoneFile(offsets: [60, 120])
        file.skipped = Array("TZif2".utf8) + first.bytes.dropFirst(5)
        file.changes = [(-1 << 40, 1)]
        #expect(try offset(file, at: 5) == 120)
        #expect(try offset(file, at: -1 << 41) == 60)
    }

    @Test func theFooterIsTheRuleOfLaterYears() throws {
        var file = MadeZoneFile(offsets: [60, 120], footer: "CET-1CEST,M3.5.0,M10.5.0/3")
        file.changes = [(time(2000, 1, 1), 1)]
        #expect(try offset(file, at: time(1999, 7, 1)) == 60)
        #expect(try offset(file, at: time(2000, 1, 1)) == 3600)
        #expect(try offset(file, at: time(2026, 7, 1)) == 7200)
        // Without transitions it is the rule of all years.
        file.changes = []
        #expect(try offset(file, at: time(1960, 7, 1)) == 7200)
    }

    @Test(
        arguments: [
            ("UTC0", 2026, 7, 1, 0, 0), ("<-03>3", 2026, 7, 1, 0, -10_800), ("<+0545>-5:45", 2026, 1, 1, 0, 20_700),
            ("AAA-1:02:03", 2026, 1, 1, 0, 3723), ("AAA24", 2026, 1, 1, 0, -86_400),
            // From 02:00 local time on the second Sunday of March, which is 8 March 2026.
            ("EST5EDT,M3.2.0,M11.1.0", 2026, 3, 8, 6, -18_000), ("EST5EDT,M3.2.0,M11.1.0", 2026, 3, 8, 7, -14_400),
            ("EST5EDT,M3.2.0,M11.1.0", 2026, 11, 1, 5, -14_400), ("EST5EDT,M3.2.0,M11.1.0", 2026, 11, 1, 6, -18_000),
            // In the south the year begins in summer.
            ("NZST-12NZDT,M9.5.0,M4.1.0/3", 2026, 1, 1, 0, 46_800),
            ("NZST-12NZDT,M9.5.0,M4.1.0/3", 2026, 7, 1, 0, 43_200),
            // Ireland's standard time is that of summer.
            ("IST-1GMT0,M10.5.0,M3.5.0/1", 2026, 1, 1, 0, 0), ("IST-1GMT0,M10.5.0,M3.5.0/1", 2026, 7, 1, 0, 3600),
            // Hours beyond a day: Greenland's Saturday at 22:00, as Sunday at -2:00.
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2026, 3, 29, 0, -7200),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2026, 3, 29, 1, -3600),
            ("AAA0BBB,M3.4.4/50,M10.4.4/50", 2026, 3, 28, 1, 0), ("AAA0BBB,M3.4.4/50,M10.4.4/50", 2026, 3, 28, 2, 3600),
            // J60 is 1 March in every year; day 59, counted from zero, is 29 February in a leap year.
            ("AAA0BBB,J60/0,J300/0", 2024, 2, 29, 23, 0), ("AAA0BBB,J60/0,J300/0", 2024, 3, 1, 0, 3600),
            ("AAA0BBB,59/0,300/0", 2024, 2, 29, 0, 3600), ("AAA0BBB,59/0,300/0", 2026, 2, 28, 23, 0),
            ("AAA0BBB,59/0,300/0", 2026, 3, 1, 0, 3600),
            // Summer time all year.
            ("EST5EDT,0/0,J365/25", 2026, 1, 1, 4, -14_400), ("EST5EDT,0/0,J365/25", 2026, 12, 31, 23, -14_400),
            ("XXX3EDT4,0/0,J365/23", 2027, 1, 1, 3, -14_400),
        ] as [(String, Int64, Int64, Int64, Int64, Int)])
    func rulesAreThoseOfPOSIX(
        _ rule: String, _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ offset: Int
    ) throws {
        let file = MadeZoneFile(offsets: [1], footer: rule)
        #expect(try self.offset(file, at: time(year, month, day, hour)) == offset)
    }

    @Test(arguments: [
        "A0", "AB0", "UTC", "UTC25", "UTC0:60", "UTC0x", "<UTC0", "<>0", "UTC0DST", "UTC0DST,M3.2.0", "UTC0DST,M3.2.0,",
        "UTC0DST,M13.1.0,M1.1.0", "UTC0DST,M0.1.0,M1.1.0", "UTC0DST,M3.6.0,M1.1.0", "UTC0DST,M3.0.0,M1.1.0",
        "UTC0DST,M3.1.7,M1.1.0", "UTC0DST,J0,J1", "UTC0DST,J366,J1", "UTC0DST,366,1", "UTC0DST,0/168,1",
        "UTC0DST,0/-168,1",
        "UTC0DST,0,1,2", "UTC99999999999999999999", "UTC0DST,M3.99999999999999999999.0,M1.1.0", " UTC0", "ÄÄÄ0",
    ])
    func otherRulesAreRefused(_ rule: String) {
        #expect(throws: ZoneFileError.malformed("rule for later years")) {
            try ZoneFile(MadeZoneFile(offsets: [0], footer: rule).bytes)
        }
    }

    @Test func whatTheFormatForbidsIsRefused() {
        func refused(_ error: ZoneFileError, _ change: (inout MadeZoneFile) -> Void) {
            var file = MadeZoneFile(offsets: [0, 3600])
            file.changes = [(0, 1), (1, 0)]
            change(&file)
            #expect(throws: error) { try ZoneFile(file.bytes) }
        }
        refused(.malformed("order of transitions")) { $0.changes = [(1, 1), (0, 0)] }
        refused(.malformed("order of transitions")) { $0.changes = [(1, 1), (1, 0)] }
        refused(.malformed("index of a type")) { $0.changes = [(1, 2)] }
        refused(.malformed("number of types")) { ($0.offsets, $0.changes) = ([], []) }
        refused(.malformed("offset from UTC")) { $0.offsets[1] = 93_600 }
        refused(.malformed("offset from UTC")) { $0.offsets[1] = .min }
        refused(.leapSeconds) { $0.leapSeconds = 27 }
        refused(.otherFormat) { $0.skipped = Array(repeating: 0, count: 100) }
        #expect(throws: ZoneFileError.cutShort) { try ZoneFile([]) }
    }

    /// A file that ends anywhere is an error; one with other bytes is an error or a zone.
    @Test func aDamagedFileIsAnError() async throws {
        var file = MadeZoneFile(offsets: [0, 3600, 7200], footer: "CET-1CEST,M3.5.0,M10.5.0/3")
        file.changes = (0..<20).map { (Int64($0) * 1_000_000, UInt8($0 % 3)) }
        let bytes = file.bytes
        for count in bytes.indices { #expect(throws: ZoneFileError.self) { try ZoneFile(Array(bytes.prefix(count))) } }
        await onThread {
            var random = SeededGenerator(seed: 1)
            var readable = 0
            for _ in 0..<20_000 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                guard let zone = try? ZoneFile(damaged) else { continue }
                readable += 1
                for time in [Int64.min, -1, 0, 1_800_000_000, .max] { _ = zone.offset(at: time) }
            }
            #expect(readable > 0)
        }
    }

    /// Where the clock is put back, the first of two moments counts; where it is put forward, the moment of the change.
    @Test func aLocalTimeHasAMoment() throws {
        let zone = try Zone(file: MadeZoneFile(offsets: [0], footer: "CET-1CEST,M3.5.0,M10.5.0/3").bytes)
        #expect(zone.moment(local: time(2026, 1, 5, 3)) == time(2026, 1, 5, 2))
        #expect(zone.moment(local: time(2026, 7, 5, 3)) == time(2026, 7, 5, 1))
        #expect(zone.moment(local: time(2026, 10, 25, 2)) == time(2026, 10, 25, 0))
        #expect(zone.moment(local: time(2026, 3, 29, 2) + 1800) == time(2026, 3, 29, 1))
        #expect(zone.moment(local: time(2026, 3, 29, 3)) == time(2026, 3, 29, 1))
    }
}
