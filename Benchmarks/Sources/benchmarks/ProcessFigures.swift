import Foundation

/// The kernel's figures of a process (proc(5), `/proc/PID/stat`).
struct ProcessFigures {
    let parent: Int
    /// The CPU time of all its threads so far, in user and kernel mode. It advances in ticks, usually of 10 ms.
    let cpu: Duration
    /// The CPU time including that of its children that have ended.
    let cpuWithChildren: Duration

    /// Reads the figures of a process, or returns nil if it does not exist.
    init?(_ pid: Int) {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
        // The command's name, in parentheses, may contain any text. After it come the state and more; proc(5) counts
        // from 1.
        let fields = text.split(separator: ")").last?.split(separator: " ").map { Int($0) ?? 0 } ?? []
        guard fields.count > 14 else { return nil }
        let tick = Duration.seconds(1) / sysconf(Int32(_SC_CLK_TCK))
        parent = fields[1]
        cpu = tick * (fields[11] + fields[12])
        cpuWithChildren = cpu + tick * (fields[13] + fields[14])
    }
}
