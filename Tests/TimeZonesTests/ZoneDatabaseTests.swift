import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import TimeZones

/// The zones of a machine are those of its files.
@Suite(.timeLimit(.minutes(30))) struct ZoneDatabaseTests {
    /// Runs a test with a folder that has UTC and the zone `Test/Zone`, an hour east of it.
    private func withZones(_ body: (_ folder: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try MadeZoneFile(offsets: [0]).write(as: "UTC", in: folder)
            try MadeZoneFile(offsets: [3600]).write(as: "Test/Zone", in: folder)
            try await body(folder)
        }
    }

    /// Gives a file a time, in seconds since 1970.
    private func date(_ file: String, _ time: Int64) throws {
        let date = Date(timeIntervalSince1970: TimeInterval(time))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
    }

    private func write(_ text: String, _ file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    private func day(_ year: Int64) -> Int64 { Civil.days(year, month: 1) * 86_400 }

    @Test func aZoneIsItsFile() async throws {
        try await withZones { folder in
            let zones = ZoneDatabase(environment: ["TZDIR": folder])
            #expect(zones.folder == folder)
            for _ in 0..<2 { #expect(zones.zone(named: "Test/Zone")?.offset(at: 0) == 3600) }
            #expect(zones.zone(named: "UTC")?.offset(at: 0) == 0)
            // Foundation knows this one.
            #expect(zones.zone(named: "Europe/Berlin") == nil)
            try write("x", folder + "/secret")
            for name in [
                "", "/", "Test", "Test/", "/Test/Zone", "Test//Zone", "../\(folder)/UTC", "Test/../UTC", "./UTC",
                folder + "/UTC", "utc", "test/zone", "UTC\0", "UTC\n", "ÜTC", String(repeating: "A", count: 65),
                "secret",
            ] {
                #expect(zones.zone(named: name) == nil, "\(name)")
            }
        }
    }

    /// Folders are searched in their order, and one without zones does not count.
    @Test func theFirstFolderWithZonesCounts() async throws {
        try await withZones { folder in
            #expect(
                ZoneDatabase(environment: [:], usual: [folder + "/none", folder + "/Test", folder]).folder == folder)
            let zones = ZoneDatabase(environment: ["TZDIR": folder + "/none"], usual: [folder])
            #expect(zones.folder == folder)
            #expect(zones.warnings(at: 0) == ["TZDIR is \(folder)/none, where no time zone files are"])
        }
    }

    /// Phones send former names, of which some systems have no files.
    @Test func aFormerNameIsFoundInTheTextForm() async throws {
        try await withZones { folder in
            try write(
                "# version 2026a\nL Test/Zone Old/Name\nL ../x Old/Bad\nL Old/None Old/Two\n", folder + "/tzdata.zi")
            let zones = ZoneDatabase(environment: ["TZDIR": folder])
            #expect(zones.zone(named: "Old/Name")?.offset(at: 0) == 3600)
            #expect(zones.zone(named: "Old/Bad") == nil)
            #expect(zones.zone(named: "Old/Two") == nil)
        }
    }

    /// An update of the files changes the zones of a server that runs.
    @Test func anUpdateIsSeen() async throws {
        try await withZones { folder in
            let zones = ZoneDatabase(environment: ["TZDIR": folder], lifetime: .zero)
            #expect(zones.zone(named: "Test/Zone")?.offset(at: 0) == 3600)
            try MadeZoneFile(offsets: [7200]).write(as: "Test/Zone", in: folder)
            #expect(zones.zone(named: "Test/Zone")?.offset(at: 0) == 7200)
        }
    }

    @Test func aDamagedFileIsReportedOnce() async throws {
        try await withZones { folder in
            let reports = NIOLockedValueBox<[String]>([])
            let zones = ZoneDatabase(environment: ["TZDIR": folder]) { text in
                reports.withLockedValue { $0.append(text) }
            }
            try write("TZif", folder + "/Test/Bad")
            for _ in 0..<3 { #expect(zones.zone(named: "Test/Bad") == nil) }
            #expect(
                reports.withLockedValue { $0 } == ["The zone file \(folder)/Test/Bad cannot be used: it ends too early"]
            )
        }
    }

    /// Accounts keep what they were given by other rules.
    @Test func aStoredNameAlwaysHasAZone() async throws {
        try await withZones { folder in
            let reports = NIOLockedValueBox<[String]>([])
            let zones = ZoneDatabase(environment: ["TZDIR": folder]) { text in
                reports.withLockedValue { $0.append(text) }
            }
            for _ in 0..<2 {
                #expect(zones.zone(stored: "Test/Zone").offset(at: 0) == 3600)
                #expect(zones.zone(stored: "GMT+2").offset(at: 0) == 7200)
                #expect(zones.zone(stored: "Mars/Olympus").offset(at: 0) == 0)
            }
            #expect(
                reports.withLockedValue { $0 }
                    == ["There is no time zone Mars/Olympus: the days of its users are those of UTC"])
        }
    }

    @Test func withoutFilesTheZonesAreFoundations() throws {
        let zones = ZoneDatabase(environment: [:], usual: ["/nowhere", "/nowhere/else"])
        #expect(zones.folder == nil && zones.version == nil)
        #expect(zones.zone(named: "Asia/Kolkata")?.offset(at: 0) == 19_800)
        #expect(zones.zone(named: "Mars/Olympus") == nil)
        #expect(
            zones.warnings(at: 0) == [
                "No time zone files were found in /nowhere, /nowhere/else: days are those of the zones that came with this "
                    + "program, which no update changes. Install tzdata"
            ])
    }

    // MARK: Versions

    @Test(arguments: [
        ("+VERSION", "2026a\n"), ("tzdata.zi", "# version 2026a\n# This zic input file is in the public domain.\n"),
        ("version", "2026a"),
    ])
    func theVersionIsInAFile(_ file: String, _ text: String) async throws {
        try await withZones { folder in
            let zones = ZoneDatabase(environment: ["TZDIR": folder])
            #expect(zones.version == nil)
            try write(text, "\(folder)/\(file)")
            #expect(zones.version == "2026a")
        }
    }

    /// The data are as old as their file, but of their version's year.
    @Test(
        arguments: [
            (nil, 2024, 2024), ("2026a", 1970, 2026), ("2026a", 2026, 2026), ("2026a", 2030, 2027), ("x", 2024, 2024),
        ] as [(String?, Int64, Int64)])
    func dataThatAreOlderThanAYearAreNamed(_ version: String?, _ file: Int64, _ made: Int64) async throws {
        try await withZones { folder in
            if let version { try write(version, folder + "/version") }
            try date(folder + (version == nil ? "/UTC" : "/version"), day(file))
            let zones = ZoneDatabase(environment: ["TZDIR": folder])
            #expect(zones.warnings(at: day(made) + 365 * 86_400) == [])
            #expect(
                zones.warnings(at: day(made) + 367 * 86_400) == [
                    "The time zone data in \(folder)\(version.map { " (\($0))" } ?? "") are older than a year: where rules "
                        + "have changed since, days begin at a wrong hour. Update tzdata"
                ])
        }
    }
}
