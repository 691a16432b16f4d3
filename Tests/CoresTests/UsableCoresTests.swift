import Foundation
import Testbed
import Testing

@testable import Cores

@Suite(.timeLimit(.minutes(30))) struct UsableCoresTests {
    @Test(
        arguments: [
            ("0-3\n", 4), ("0", 1), ("0-1,8,10-11\n", 5), ("", nil), ("\n", nil), ("max", nil), ("3-1", nil),
            ("-1", nil),
            ("0-", nil), ("0-99999999999999999999", nil), ("0-70000", nil), ("a-b", nil), ("1-2-3", nil),
        ] as [(String, Int?)])
    func aListOfCoresIsCounted(_ text: String, _ count: Int?) { #expect(CoreFiles.count(ofList: text) == count) }

    @Test(
        arguments: [
            ("200000 100000\n", 2), ("150000 100000\n", 2), ("100000 100000", 1), ("1000 100000", 1),
            ("max 100000\n", nil),
            ("max", nil), ("", nil), ("0 100000", nil), ("100000 0", nil), ("-5 100000", nil), ("x y", nil),
            ("9223372036854775807 1", Int.max), ("1 2 3", nil),
        ] as [(String, Int?)])
    func aQuotaOfVersion2IsRoundedUp(_ text: String, _ count: Int?) { #expect(CoreFiles.cores(ofMax: text) == count) }

    @Test func aQuotaOfVersion1IsRoundedUp() {
        #expect(CoreFiles.cores(quota: "250000\n", period: "100000\n") == 3)
        #expect(CoreFiles.cores(quota: "50000\n", period: "100000\n") == 1)
        #expect(CoreFiles.cores(quota: "-1\n", period: "100000\n") == nil)
        #expect(CoreFiles.cores(quota: "", period: "100000\n") == nil)
    }

    @Test func theAffinityIsThatOfTheStatus() {
        let status = "Name:\tconcord\nCpus_allowed:\t00000003\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n"
        #expect(CoreFiles.affinity(inStatus: status) == 2)
        #expect(CoreFiles.affinity(inStatus: "Name:\tconcord\n") == nil)
        #expect(CoreFiles.affinity(inStatus: "") == nil)
    }

    @Test func everyGroupAboveIsAsked() {
        let second = ControlGroups("0::/system.slice/concord.service\n")
        #expect(
            second.places(of: "cpu").map(\.group).prefix(3) == ["/system.slice/concord.service", "/system.slice", "/"])
        #expect(second.places(of: "cpu").first?.folder == "/sys/fs/cgroup/system.slice/concord.service")
        let first = ControlGroups("9:cpuset:/\n4:cpu,cpuacct:/docker/77\n1:name=systemd:/init.scope\nnonsense\n:::\n")
        #expect(first.places(of: "cpu").contains(.init(group: "/docker", folder: "/sys/fs/cgroup/cpu,cpuacct/docker")))
        #expect(first.places(of: "cpu").contains(.init(group: "/", folder: "/sys/fs/cgroup/cpu")))
        #expect(first.places(of: "cpuset") == [.init(group: "/", folder: "/sys/fs/cgroup/cpuset")])
        #expect(ControlGroups("").places(of: "cpu").isEmpty)
        #expect(ControlGroups("0::/../outside\n").places(of: "cpu").allSatisfy { $0.group == "/" })
    }

    /// Returns what a machine of 16 cores with these files says.
    private func least(_ files: [String: String]) async throws -> String {
        try await withTemporaryFolder { root async throws in
            for (path, text) in files {
                let folder = URL(fileURLWithPath: root + path).deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try text.write(toFile: root + path, atomically: true, encoding: .utf8)
            }
            return UsableCores.least(of: UsableCores.limits(below: root), machine: 16).description
        }
    }

    @Test func theLeastLimitDecides() async throws {
        #expect(try await least([:]) == "16: the cores of the machine")
        let status = "Cpus_allowed_list:\t0-1\n"
        #expect(try await least(["/proc/self/status": status]) == "2: the affinity of the process")

        let unit = "/system.slice/concord.service"
        var second = ["/proc/self/cgroup": "0::\(unit)\n", "/proc/self/status": "Cpus_allowed_list:\t0-15\n"]
        second["/sys/fs/cgroup\(unit)/cpu.max"] = "max 100000\n"
        second["/sys/fs/cgroup/system.slice/cpu.max"] = "350000 100000\n"
        #expect(try await least(second) == "4: the CPU quota of /system.slice")
        second["/sys/fs/cgroup\(unit)/cpu.max"] = "50000 100000\n"
        #expect(try await least(second) == "1: the CPU quota of \(unit)")
        second["/sys/fs/cgroup\(unit)/cpu.max"] = "garbage\n"
        second["/sys/fs/cgroup\(unit)/cpuset.cpus.effective"] = "4-5\n"
        #expect(try await least(second) == "2: the cpuset of \(unit)")
        second["/proc/self/status"] = "Cpus_allowed_list:\t5\n"
        #expect(try await least(second) == "1: the affinity of the process")
    }

    /// A container of version 1 sees the host's path in `/proc/self/cgroup`, and its own group at the root of the mount.
    @Test func aContainerOfVersion1IsItsRoot() async throws {
        let files = [
            "/proc/self/cgroup": "5:cpuset:/docker/77\n4:cpu,cpuacct:/docker/77\n0::/\n",
            "/proc/self/status": "Cpus_allowed_list:\t0-15\n",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000\n",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n", "/sys/fs/cgroup/cpuset/cpuset.cpus": "0-7\n",
        ]
        #expect(try await least(files) == "2: the CPU quota of /")
    }

    @Test func thisProcessHasCores() { #expect(UsableCores.look().count >= 1) }
}
