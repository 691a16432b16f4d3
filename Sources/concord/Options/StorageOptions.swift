import ArgumentParser
import Backend
import ObjectStore

/// The limits on stored files, for each API whose users store more than one.
struct StorageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The storage of one user: 10G for every API, or messenger=500M for one. Repeatable. Deuce Diary stores one "
                + "picture for each user. [CONCORD_STORAGE_QUOTA, CONCORD_STORAGE_QUOTA_MESSENGER …] "
                + "(default: \(Self.defaults { "\($0.quota >> 30)G" }))",
            valueName: "name=size"))
    var storageQuota: [String] = []

    @Option(
        help: ArgumentHelp(
            "The number of uploads of one user in an hour: "
                + Self.bounded.map { "\($0.limits.uploads) (\($0.name))" }.joined(separator: ", ")
                + ". Repeatable. [CONCORD_UPLOAD_LIMIT_MESSENGER …] (default: \(Self.defaults { "\($0.uploadsPerHour)" }))",
            valueName: "name=count"))
    var uploadLimit: [String] = []

    @Option(
        help: ArgumentHelp(
            "The disk space that uploads leave free for the databases: 2G. "
                + "[CONCORD_DISK_RESERVE] (default: 1G or 5 % of the disk, whichever is larger)",
            valueName: "size"))
    var diskReserve: String?

    /// The APIs whose users store more than one file, with what one user may store by default.
    private static let bounded: [(name: String, limits: StorageLimits)] = ConcordAPI.all.compactMap { api in
        api.hosted.storageLimits.map { (name: api.name, limits: $0) }
    }

    private static func defaults(_ value: (StorageLimits) -> String) -> String {
        bounded.map { "\($0.name)=\(value($0.limits))" }.joined(separator: ", ")
    }

    /// Returns what one user may store, by the names of the APIs.
    func limits(_ environment: Environment) throws -> [String: StorageLimits] {
        let names = Self.bounded.map(\.name)
        // A size without a name is that of every API whose own size is not given.
        let flags = storageQuota.filter { $0.contains("=") }
        let (flag, variable) = (storageQuota.last { !$0.contains("=") }, environment.variables["CONCORD_STORAGE_QUOTA"])
        let ofVariables = try environment.perAPI([], "CONCORD_STORAGE_QUOTA", names: names)
        let ofFlags = try Environment(variables: [:]).perAPI(flags, "", names: names)
        for (name, limits) in Self.bounded {
            environment.record(
                "CONCORD_STORAGE_QUOTA_\(Environment.suffix(name))", of: name, flag: ofFlags[name] ?? flag,
                default: variable ?? "\(limits.quota >> 30)G")
        }
        let uploads = try environment.perAPI(uploadLimit, "CONCORD_UPLOAD_LIMIT", names: names) { name in
            Self.bounded.first { $0.name == name }.map { "\($0.limits.uploadsPerHour)" } ?? ""
        }
        var all: [String: StorageLimits] = [:]
        for (name, limits) in Self.bounded {
            var limits = limits
            if let text = ofFlags[name] ?? flag ?? ofVariables[name] ?? variable, !text.isEmpty {
                guard let quota = Self.bytes(text) else {
                    let given = ofFlags[name] ?? flag
                    let source =
                        given != nil
                        ? ""
                        : ofVariables[name] == nil
                            ? " (CONCORD_STORAGE_QUOTA)"
                            : environment.source("CONCORD_STORAGE_QUOTA", of: name, flags: [])
                    throw ValidationError("\(text) is not a size such as 500M or 10G\(source)")
                }
                limits.quota = quota
            }
            if let text = uploads[name] {
                guard let count = Int(text), count > 0 else {
                    let source = environment.source("CONCORD_UPLOAD_LIMIT", of: name, flags: uploadLimit)
                    throw ValidationError("\(text) is not a number of uploads\(source)")
                }
                limits.uploadsPerHour = count
            }
            all[name] = limits
        }
        return all
    }

    func reserve(_ environment: Environment) throws -> DiskReserve {
        let text = try environment.value(
            diskReserve, "CONCORD_DISK_RESERVE", { $0 }, default: "", shown: "1G or 5 % of the disk")
        guard !text.isEmpty else { return DiskReserve() }
        guard let size = Self.bytes(text) else {
            throw ValidationError("--disk-reserve must be a size such as 2G, not '\(text)'")
        }
        return DiskReserve(minimum: size)
    }

    /// Returns the bytes of a size: a whole number, which may be followed by K, M, G or T for powers of 1024.
    static func bytes(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = text.last.flatMap { units[Character($0.uppercased())] }
        let digits = unit == nil ? Substring(text) : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int64(digits) else {
            return nil
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
        return overflow ? nil : bytes
    }
}
