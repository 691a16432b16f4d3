import Foundation

/// The memory of this process.
enum ProcessMemory {
    /// The resident memory in bytes; nil where the system does not say.
    static var resident: Int? {
        #if os(Linux)
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
        #else
        return nil
        #endif
    }
}
