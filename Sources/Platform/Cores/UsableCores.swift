import Foundation
import NIOConcurrencyHelpers

/// The number of cores that this process may use, and what decides it.
///
/// This is the only place that counts cores (`Tools/check-layers`): an event loop for each core of the machine would make the
/// loops of a process that may use one core of sixteen wait for each other.
public struct UsableCores: Sendable, Hashable, CustomStringConvertible {
    public let count: Int
    /// What limits the number: "the affinity of the process", "the CPU quota of /system.slice/concord.service".
    public let reason: String

    public init(count: Int, reason: String) {
        self.count = max(1, count)
        self.reason = reason
    }

    /// The number and the reason: `2: the affinity of the process`.
    public var description: String { "\(count): \(reason)" }

    private static let chosen = NIOLockedValueBox<UsableCores?>(nil)
    private static let found = Self.look()

    /// The cores for which this process makes its threads.
    public static var current: UsableCores { chosen.withLockedValue { $0 } ?? found }

    /// Replaces what the system says by what the operator has chosen. It must be called before threads are made.
    public static func choose(_ cores: UsableCores) { chosen.withLockedValue { $0 = cores } }

    /// Returns what the system says: the least of the machine's cores, the affinity, the cpuset and the quotas.
    ///
    /// - Parameter root: The folder below which `/proc` and `/sys` are.
    static func look(below root: String = "") -> UsableCores {
        var machine = sysconf(CInt(_SC_NPROCESSORS_ONLN))
        if machine < 1 { machine = 1 }
        return least(of: limits(below: root), machine: machine)
    }

    /// Returns the least of several limits. Of equal ones the first decides, and the machine comes before all of them.
    static func least(of limits: [UsableCores], machine: Int) -> UsableCores {
        limits.reduce(UsableCores(count: machine, reason: "the cores of the machine")) { $1.count < $0.count ? $1 : $0 }
    }

    /// Returns the limits that the files of Linux name; none on another system.
    ///
    /// The cpusets come before the affinity, which is never larger than they are: what a container was given is its cpuset.
    static func limits(below root: String) -> [UsableCores] {
        func text(_ path: String) -> String? { try? String(contentsOfFile: root + path, encoding: .utf8) }
        let groups = ControlGroups(text("/proc/self/cgroup") ?? "")
        var limits: [UsableCores] = []
        for place in groups.places(of: "cpuset") {
            for file in ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"] {
                guard let count = text("\(place.folder)/\(file)").flatMap(CoreFiles.count(ofList:)) else { continue }
                limits.append(UsableCores(count: count, reason: "the cpuset of \(place.group)"))
                break
            }
        }
        for place in groups.places(of: "cpu") {
            let quota =
                text("\(place.folder)/cpu.max").flatMap(CoreFiles.cores(ofMax:))
                ?? text("\(place.folder)/cpu.cfs_quota_us").flatMap { quota in
                    text("\(place.folder)/cpu.cfs_period_us").flatMap { CoreFiles.cores(quota: quota, period: $0) }
                }
            if let quota { limits.append(UsableCores(count: quota, reason: "the CPU quota of \(place.group)")) }
        }
        if let count = text("/proc/self/status").flatMap(CoreFiles.affinity(inStatus:)) {
            limits.append(UsableCores(count: count, reason: "the affinity of the process"))
        }
        return limits
    }
}

/// Reads the files in which Linux says what a process may use. Each function returns nil for a text that sets no limit, or
/// that it does not understand.
enum CoreFiles {
    /// The number of cores in a list such as `0-3,8`.
    static func count(ofList text: String) -> Int? {
        var count = 0
        for part in text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ",") {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1], 0...65_535 ~= first,
                first...65_535 ~= last
            else { return nil }
            count += last - first + 1
        }
        return count > 0 ? count : nil
    }

    /// The number of cores on which the process may run, of `/proc/self/status`: what `sched_getaffinity` counts.
    static func affinity(inStatus text: String) -> Int? {
        let name = "Cpus_allowed_list:"
        return text.split(separator: "\n").first { $0.hasPrefix(name) }
            .flatMap { count(ofList: String($0.dropFirst(name.count))) }
    }

    /// The cores of a `cpu.max` of version 2, rounded up: `150000 100000` is 2, `max 100000` is no limit.
    static func cores(ofMax text: String) -> Int? {
        let parts = text.split(whereSeparator: \.isWhitespace)
        return parts.count == 2 ? cores(quota: String(parts[0]), period: String(parts[1])) : nil
    }

    /// The cores of a quota of version 1, rounded up. A quota of -1 is no limit.
    static func cores(quota: String, period: String) -> Int? {
        guard let quota = Int(quota.trimmingCharacters(in: .whitespacesAndNewlines)),
            let period = Int(period.trimmingCharacters(in: .whitespacesAndNewlines)), quota > 0, period > 0
        else { return nil }
        return (quota - 1) / period + 1
    }
}

/// The control groups of a process, as `/proc/self/cgroup` has them.
struct ControlGroups: Sendable {
    /// A group, and a folder that has its files.
    struct Place: Sendable, Hashable {
        let group: String
        let folder: String
    }

    /// The path of the group of version 2.
    private var unified: String?
    /// The paths of the groups of version 1, by their controllers.
    private var paths: [String: (path: String, controllers: String)] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, parts[2].hasPrefix("/") else { continue }
            if parts[0] == "0", parts[1].isEmpty { unified = parts[2] }
            for name in parts[1].split(separator: ",") { paths[String(name)] = (parts[2], parts[1]) }
        }
    }

    /// Returns the group of a controller and every group above it, the process's own first.
    ///
    /// In a container the path may be the host's, of which the container has only the end: groups whose folders are not there
    /// are skipped by the caller, which finds no file, and the container's own group is its root.
    func places(of controller: String) -> [Place] {
        var places: [Place] = []
        if let unified {
            for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] { places += Self.places(unified, in: mount) }
        }
        if let own = paths[controller] {
            for mount in Set([own.controllers, controller]).sorted() {
                places += Self.places(own.path, in: "/sys/fs/cgroup/\(mount)")
            }
        }
        return places
    }

    private static func places(_ path: String, in mount: String) -> [Place] {
        var names = path.split(separator: "/").map(String.init)
        // A group above the root of the container's namespace.
        guard !names.contains("..") else { return [Place(group: "/", folder: mount)] }
        var places: [Place] = []
        while !names.isEmpty {
            let group = "/" + names.joined(separator: "/")
            places.append(Place(group: group, folder: mount + group))
            names.removeLast()
        }
        return places + [Place(group: "/", folder: mount)]
    }
}
