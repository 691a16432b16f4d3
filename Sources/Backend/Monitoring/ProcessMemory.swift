import Foundation

/// The memory of this process.
enum ProcessMemory {
    /// The resident memory in bytes, with the pages of files that are mapped; nil where the system does not say.
    static var resident: Int? { pages?.first.map { $0 * Int(getpagesize()) } }

    /// The resident memory in bytes without the pages of files, which the system reclaims when it needs them; nil where
    /// it does not say.
    static var own: Int? { pages.map { ($0[0] - $0[1]) * Int(getpagesize()) } }

    /// The numbers of resident pages and of those that belong to files.
    private static var pages: [Int]? {
        #if os(Linux)
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let numbers = text?.split(separator: " ").dropFirst().prefix(2).compactMap { Int($0) }
        return numbers.flatMap { $0.count == 2 ? $0 : nil }
        #else
        return nil
        #endif
    }
}
