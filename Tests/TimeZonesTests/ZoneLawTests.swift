import Foundation
import Testbed
import Testing

@testable import TimeZones

/// The zones of this machine are as the C library reads them, for 200 years.
///
/// `make torture` compares all of them on all days, `make test` a sample.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct ZoneLawTests {
    private static let zdump = ["/usr/bin/zdump", "/usr/sbin/zdump"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let folder = ZoneDatabase(environment: [:]).folder

    /// The offset of a zone from a time on.
    private struct Interval {
        let begin: Int64
        let offset: Int
    }

    private static let last: Int64 = 4_102_444_800  // 2100-01-01

    @Test(.enabled(if: zdump != nil && folder != nil, "needs zdump and zone files"))
    func everyZoneIsAsTheSystemReadsIt() async throws {
        let (folder, zdump) = (try #require(Self.folder), try #require(Self.zdump))
        let names = Self.names(in: folder)
        #expect(names.count > 300)
        let sample = Torture.isOn ? names : names.enumerated().filter { $0.offset % 10 == 0 }.map(\.element)
        let zones = ZoneDatabase(environment: ["TZDIR": folder])
        try await compare(sample, zones.zone(named:), "TZDIR='\(folder)' \(zdump)", from: 1900)
    }

    /// Rules at random are as the C library reads them, which applies them from 1970 on.
    @Test(.enabled(if: zdump != nil, "needs zdump"))
    func everyRuleIsAsTheSystemReadsIt() async throws {
        let zdump = try #require(Self.zdump)
        var random = SeededGenerator(seed: 3)
        func time() -> String { "/" + ["0", "2", "3:30", "24", "23:59:59"].randomElement(using: &random)! }
        func date(_ months: ClosedRange<Int>) -> String {
            let month = Int.random(in: months, using: &random)
            switch Int.random(in: 0...2, using: &random) {
            case 0: return "J\(month * 30)"
            case 1: return "\(month * 30)"
            default:
                return "M\(month).\(Int.random(in: 1...5, using: &random)).\(Int.random(in: 0...6, using: &random))"
            }
        }
        let rules = (0..<(Torture.isOn ? 300 : 20)).map { _ in
            let offset = Int.random(in: -12...12, using: &random)
            let (one, two) = (date(2...5) + time(), date(7...10) + time())
            let isNorth = Bool.random(using: &random)
            return "AAA\(offset)BBB,\(isNorth ? one : two),\(isNorth ? two : one)"
        }
        let zone = { @Sendable in try? Zone(file: MadeZoneFile(offsets: [0], footer: $0).bytes) }
        try await compare(rules, zone, zdump, from: 1980)
    }

    /// Compares zones with what `zdump` says of them, at each change and on each day.
    private func compare(
        _ names: [String], _ zone: @escaping @Sendable (String) -> Zone?, _ zdump: String, from year: Int64
    ) async throws {
        let list = names.map { "'\($0)'" }.joined(separator: " ")
        let (status, output) = try await runShell("\(zdump) -i -c \(year),2100 \(list)")
        try #require(status == 0, "\(String(decoding: output.prefix(500), as: UTF8.self))")
        let step: Int64 = Torture.isOn ? 1 : 5
        let differences = await onThread {
            let found = Self.parse(output, from: Civil.days(year, month: 1) * 86_400)
            var differences = names.filter { found[$0] == nil }.map { "\($0) is missing" }
            for (name, intervals) in found.sorted(by: { $0.key < $1.key }) {
                guard let zone = zone(name) else {
                    differences.append("\(name) is unknown")
                    continue
                }
                if let time = Self.difference(zone, intervals, step) {
                    differences.append("\(name) differs at \(time)")
                }
            }
            return differences
        }
        #expect(differences == [])
    }

    /// Returns the first time at which a zone has another offset.
    private static func difference(_ zone: Zone, _ intervals: [Interval], _ step: Int64) -> Int64? {
        for (index, interval) in intervals.enumerated() {
            let end = index + 1 < intervals.count ? intervals[index + 1].begin : last
            for time in [interval.begin, end - 1] where zone.offset(at: time) != interval.offset { return time }
            var day = (interval.begin / 86_400 + 1) * 86_400
            while day < end {
                if zone.offset(at: day) != interval.offset { return day }
                day += step * 86_400
            }
        }
        return nil
    }

    /// Returns what `zdump -i` has printed, by the names of zones. Lines are the local date and time from which an offset holds,
    /// and that offset: `1916-05-21 03 +01 BST 1`. The first one has hyphens for date and time.
    private static func parse(_ output: [UInt8], from first: Int64) -> [String: [Interval]] {
        var (zones, name): ([String: [Interval]], String?) = ([:], nil)
        for line in output.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("TZ=\"") {
                name = String(text.dropFirst(4).dropLast())
                continue
            }
            let words = text.split(separator: "\t").map(String.init)
            guard let name, words.count >= 3 else { continue }
            let offset = seconds(String(words[2].dropFirst()))
            let east = words[2].first == "-" ? -offset : offset
            let date = words[0].split(separator: "-").compactMap { Int64($0) }
            let begin =
                date.count < 3
                ? nil : (Civil.days(date[0], month: date[1]) + date[2] - 1) * 86_400 + Int64(seconds(words[1]) - east)
            zones[name, default: []].append(Interval(begin: begin ?? first, offset: east))
        }
        return zones
    }

    /// Returns the seconds of `hh`, `hhmm`, `hhmmss`, also with colons.
    private static func seconds(_ text: String) -> Int {
        let digits = Array(text.filter { $0 != ":" })
        return [3600, 60, 1].enumerated().reduce(0) { sum, part in
            let pair = digits.dropFirst(part.offset * 2).prefix(2)
            return sum + (Int(String(pair)) ?? 0) * part.element
        }
    }

    /// Returns the names of all zones, without those that count leap seconds or are there twice.
    private static func names(in folder: String) -> [String] {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.filter { name in
            guard !name.hasPrefix("right/"), !name.hasPrefix("posix/"), !name.contains(".") else { return false }
            return FileManager.default.contents(atPath: "\(folder)/\(name)")?.starts(with: Array("TZif".utf8)) == true
        }.sorted()
    }
}
