import ArgumentParser
import Backend
import DunbarAPI
import GTSDAPI
import MessengerAPI
import ObjectStore

/// What an operator sets of stored files, for each API that keeps more than one a user.
struct StorageSettings: Sendable {
    /// In bytes, by the API's name: what one user may store.
    var quotas: [String: Int64]
    /// By the API's name: how many uploads one user may make in an hour.
    var uploadsPerHour: [String: Int]
    /// What uploads leave free of the disk.
    var reserve: DiskReserve
}

/// The bounds of stored files.
struct StorageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What one user of an API may store: 500M, 10G. Repeatable; Deuce Diary keeps one picture a user. "
                + "[CONCORD_STORAGE_QUOTA_MESSENGER …] (default: \(Self.defaults(Self.quotas)))",
            valueName: "name=size"))
    var storageQuota: [String] = []

    @Option(
        help: ArgumentHelp(
            "How much one user may upload in an hour: files (messenger), photos (gtsd), posts and photos (dunbar). "
                + "Repeatable. [CONCORD_UPLOAD_LIMIT_MESSENGER …] (default: \(Self.defaults(Self.uploads)))",
            valueName: "name=count"))
    var uploadLimit: [String] = []

    @Option(
        help: ArgumentHelp(
            "The space that uploads leave free on the data folder's disk, for the databases: 2G. "
                + "[CONCORD_DISK_RESERVE] (default: 1G or 5 % of the disk, whichever is more)",
            valueName: "size"))
    var diskReserve: String?

    private static let quotas = [(Messenger.name, "10G"), (GTSD.name, "5G"), (Dunbar.name, "5G")]
    private static let uploads = [(Messenger.name, "1000"), (GTSD.name, "500"), (Dunbar.name, "500")]

    private static func defaults(_ values: [(name: String, value: String)]) -> String {
        values.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
    }

    func settings(_ environment: Environment) throws -> StorageSettings {
        // Once there was a quota for Messenger alone, without a name.
        let flags = storageQuota.map { $0.contains("=") ? $0 : "\(Messenger.name)=\($0)" }
        var variables = environment.variables
        let unnamed = "CONCORD_STORAGE_QUOTA"
        let named = "\(unnamed)_\(Environment.suffix(Messenger.name))"
        if variables[named] == nil { variables[named] = variables[unnamed] }
        let size = try environment.value(diskReserve, "CONCORD_DISK_RESERVE", { $0 }, default: "")
        return StorageSettings(
            quotas: try Self.read(flags, unnamed, Environment(variables: variables), Self.quotas) {
                guard let quota = Self.bytes($0) else { throw ValidationError("\($0) is no size: 500M, 10G") }
                return quota
            },
            uploadsPerHour: try Self.read(uploadLimit, "CONCORD_UPLOAD_LIMIT", environment, Self.uploads) {
                guard let limit = Int($0), limit > 0 else { throw ValidationError("\($0) is no number of uploads") }
                return limit
            },
            reserve: DiskReserve(minimum: try size.isEmpty ? nil : Self.reserve(size)))
    }

    private static func reserve(_ text: String) throws -> Int64 {
        guard let size = bytes(text) else {
            throw ValidationError("--disk-reserve is a size such as 2G, not '\(text)'")
        }
        return size
    }

    private static func read<Value>(
        _ flags: [String], _ variable: String, _ environment: Environment, _ defaults: [(name: String, value: String)],
        _ value: (String) throws -> Value
    ) throws -> [String: Value] {
        let given = try environment.perAPI(flags, variable, names: defaults.map(\.name))
        return try Dictionary(uniqueKeysWithValues: defaults.map { ($0.name, try value(given[$0.name] ?? $0.value)) })
    }

    /// Returns the bytes of a size: a whole number, with K, M, G or T for powers of 1024 behind it.
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
