import Foundation
import NIOConcurrencyHelpers

/// The time zones of this machine: the zone files of its system, which an update of `tzdata` replaces.
///
/// Files are read when they are first asked for, and again an hour later, so a server needs no restart after an update. Where a
/// machine has no zone files at all, the zones are those of Foundation, which came with the program and grow old with it.
public final class ZoneDatabase: Sendable {
    /// The folder of the zone files; nil when the machine has none.
    public let folder: String?
    /// What `TZDIR` names; nil when it is not set.
    private let wanted: String?
    private let searched: [String]
    private let report: @Sendable (String) -> Void
    private let lifetime: Duration
    private let state = NIOLockedValueBox(State())

    private struct State {
        var begin = ContinuousClock.now
        /// The zones that were read, by their names; nil for a file that is damaged.
        var zones: [String: Zone?] = [:]
        /// The zones of accounts whose names have no file.
        var former: [String: Zone] = [:]
        /// The names that `tzdata.zi` has for other zones; nil before it was read.
        var links: [String: String]?
    }

    /// The most zones of a kind that are kept: more than there are names.
    private static let capacity = 1024
    /// The folders in which systems have their zone files.
    private static let usual = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"]

    /// The time zones of this process: those of its `TZDIR`, else of the system.
    public static let system = ZoneDatabase(environment: ProcessInfo.processInfo.environment)

    /// - Parameters:
    ///   - environment: The variables of the process. `TZDIR` names the folder to look in first.
    ///   - usual: The folders to look in otherwise; nil for those of systems.
    ///   - lifetime: How long what was read is used.
    ///   - report: Receives a sentence on a file that cannot be used.
    public init(
        environment: [String: String], usual: [String]? = nil, lifetime: Duration = .seconds(3600),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        wanted = environment["TZDIR"].flatMap { $0.isEmpty ? nil : $0 }
        searched = (wanted.map { [$0] } ?? []) + (usual ?? Self.usual)
        // A folder of another kind may have the same name; one of zone files has UTC.
        folder = searched.first { folder in
            ["UTC", "Etc/UTC"].contains { Self.bytes(of: $0, in: folder).flatMap { try? ZoneFile($0) } != nil }
        }
        self.lifetime = lifetime
        self.report = report
    }

    // MARK: Zones

    /// Returns a zone by its name in the IANA database; nil when there is none of that name.
    public func zone(named name: String) -> Zone? {
        guard Self.isName(name) else { return nil }
        guard let folder else { return TimeZone(identifier: name).map { Zone($0) } }
        if let known = current({ $0.zones[name] }) { return known }
        guard let bytes = bytes(of: name, in: folder) else { return nil }
        let zone: Zone?
        do {
            zone = try Zone(file: bytes)
        } catch {
            report("The zone file \(folder)/\(name) cannot be used: \(error)")
            zone = nil
        }
        state.withLockedValue { state in
            if state.zones.count >= Self.capacity { state.zones = [:] }
            state.zones[name] = .some(zone)
        }
        return zone
    }

    /// Returns the zone of an account. Names were valid when they were stored, perhaps by other rules or with other data: one
    /// without a file is looked up in Foundation's zones, and UTC stands for one that is not there either.
    public func zone(stored name: String) -> Zone {
        if let zone = zone(named: name) { return zone }
        if let known = current({ $0.former[name] }) { return known }
        let zone = TimeZone(identifier: name).map { Zone($0) }
        if zone == nil { report("There is no time zone \(name): the days of its users are those of UTC") }
        state.withLockedValue { state in
            if state.former.count >= Self.capacity { state.former = [:] }
            state.former[name] = zone ?? .utc
        }
        return zone ?? .utc
    }

    /// Returns what is kept, unless it is too old.
    private func current<Value>(_ kept: (State) -> Value?) -> Value? {
        let now = ContinuousClock.now
        return state.withLockedValue { state in
            if now - state.begin >= lifetime { state = State() }
            return kept(state)
        }
    }

    /// Returns whether a text can be the name of a zone: no path leads out of the folder, or has two spellings.
    private static func isName(_ name: String) -> Bool {
        name.utf8.count <= 64
            && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty
                    && part.unicodeScalars.allSatisfy {
                        switch $0 {
                        case "A"..."Z", "a"..."z", "0"..."9", "_", "+", "-": true
                        default: false
                        }
                    }
            }
    }

    // MARK: Files

    /// Returns the file of a zone, or of the one for which its name is another.
    private func bytes(of name: String, in folder: String) -> [UInt8]? {
        if let bytes = Self.bytes(of: name, in: folder) { return bytes }
        // Some systems have files of current names alone; phones also send former ones.
        let links = current { $0.links } ?? Self.links(in: folder)
        state.withLockedValue { $0.links = links }
        return links[name].flatMap { Self.bytes(of: $0, in: folder) }
    }

    private static func bytes(of name: String, in folder: String) -> [UInt8]? {
        var path = folder
        for part in name.split(separator: "/") {
            // Some file systems find a file by other letters, too.
            guard let entries = try? FileManager.default.contentsOfDirectory(atPath: path),
                entries.contains(String(part))
            else { return nil }
            path += "/\(part)"
        }
        return (try? Data(contentsOf: URL(fileURLWithPath: path))).map { Array($0) }
    }

    /// Returns the lines `L TARGET NAME` of the data's text form.
    private static func links(in folder: String) -> [String: String] {
        guard let text = try? Data(contentsOf: URL(fileURLWithPath: folder + "/tzdata.zi")) else { return [:] }
        var links: [String: String] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "L ".utf8) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            if words.count == 3, isName(String(words[1])) { links[String(words[2])] = String(words[1]) }
        }
        return links
    }

    // MARK: For the operator

    /// The version of the data, such as `2026a`; nil when no file says it.
    public var version: String? { folder.flatMap(Self.stamp)?.version }

    /// Returns what is wrong with the data, in sentences for the operator.
    ///
    /// - Parameter time: The time now, in seconds since 1970.
    public func warnings(at time: Int64) -> [String] {
        var warnings: [String] = []
        if let wanted, folder != wanted {
            warnings.append("TZDIR is \(wanted), where no time zone files are")
        }
        guard let folder else {
            warnings.append(
                """
                No time zone files were found in \(searched.joined(separator: ", ")): days are those of the zones that came \
                with this program, which no update changes. Install tzdata
                """)
            return warnings
        }
        if let stamp = Self.stamp(of: folder), time - stamp.time > 366 * 86_400 {
            warnings.append(
                """
                The time zone data in \(folder)\(stamp.version.map { " (\($0))" } ?? "") are older than a year: where rules \
                have changed since, days begin at a wrong hour. Update tzdata
                """)
        }
        return warnings
    }

    /// Returns the version of a folder's data, and the latest time at which it can have been made.
    ///
    /// That is the time of the file that names the version, or of UTC's where none does, but within the version's year: files
    /// may have been copied since, or have a time of long ago.
    private static func stamp(of folder: String) -> (version: String?, time: Int64)? {
        let version = ["+VERSION", "tzdata.zi", "version"].lazy.compactMap { name in
            firstLine(of: "\(folder)/\(name)").map { (name, $0.hasPrefix("# version ") ? $0.dropFirst(10) : $0[...]) }
        }.first
        let file = version?.0 ?? (FileManager.default.fileExists(atPath: folder + "/UTC") ? "UTC" : "Etc/UTC")
        let path = URL(fileURLWithPath: "\(folder)/\(file)").resolvingSymlinksInPath().path
        guard let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date else {
            return nil
        }
        let time = Int64(date.timeIntervalSince1970)
        guard let text = version?.1 else { return (nil, time) }
        guard let year = Int64(text.prefix(4)), 1990...9999 ~= year else { return (String(text), time) }
        let days = Civil.days(year, month: 1)..<Civil.days(year + 1, month: 1)
        return (String(text), min(max(time, days.lowerBound * 86_400), days.upperBound * 86_400 - 1))
    }

    /// Returns the first line of a file; nil when it is none that a person could read.
    private static func firstLine(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let bytes = try? file.read(upToCount: 64),
            let line = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).first
        else { return nil }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        return text.isEmpty || text.contains(where: { !$0.isASCII }) ? nil : text
    }
}
