import CoreMetrics
import Foundation
import NIOConcurrencyHelpers

/// Records the resources that the process uses.
struct ProcessMetrics: Sendable {
    private let cpu = FloatingPointCounter(label: "process_cpu_seconds_total")
    private let resident = Meter(label: "process_resident_memory_bytes")
    private let descriptors = Meter(label: "process_open_fds")
    private let descriptorLimit = Meter(label: "process_max_fds")
    private let counted = NIOLockedValueBox(0.0)

    init() { Meter(label: "process_start_time_seconds").set(Date.now.timeIntervalSince1970) }

    /// Reads what the system says about the process. It blocks.
    func sample() {
        let used = Self.cpuTime
        let more = counted.withLockedValue { counted in
            defer { counted = used }
            return used - counted
        }
        cpu.increment(by: more)
        if let bytes = ProcessMemory.resident { resident.set(bytes) }
        if let count = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count { descriptors.set(count) }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 { descriptorLimit.set(limit.rlim_cur) }
    }

    /// The processor time of all threads, in seconds.
    private static var cpuTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
