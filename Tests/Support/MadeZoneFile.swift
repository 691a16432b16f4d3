import Foundation

/// A zone file that a test makes (TZif, RFC 9636).
public struct MadeZoneFile: Sendable {
    /// The version: 1 to 4.
    public var version = 2
    /// The offsets from UTC, in seconds.
    public var offsets: [Int32]
    /// The times at which the offset changes, each with the index of the offset from then on.
    public var changes: [(time: Int64, index: UInt8)] = []
    /// The rule of later years, as a `TZ` string of POSIX.
    public var footer = ""
    /// The number of leap seconds, whose entries are zeroes.
    public var leapSeconds = 0
    /// The bytes of the block that readers of version 2 skip; nil for one without a transition.
    public var skipped: [UInt8]?

    public init(offsets: [Int32], footer: String = "") {
        self.offsets = offsets
        self.footer = footer
    }

    public var bytes: [UInt8] {
        guard version >= 2 else { return block(of: Int32.self, from: self) }
        let empty = MadeZoneFile(offsets: [0])
        return (skipped ?? block(of: Int32.self, from: empty)) + block(of: Int64.self, from: self)
            + Array("\n\(footer)\n".utf8)
    }

    private func block<Time: FixedWidthInteger>(of _: Time.Type, from file: MadeZoneFile) -> [UInt8] {
        func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian) { Array($0) }
        }
        let counts = [0, 0, file.leapSeconds, file.changes.count, file.offsets.count, 4]
        let digit = version == 1 ? 0 : UInt8(ascii: "0") + UInt8(version)
        return Array("TZif".utf8) + [digit] + Array(repeating: 0, count: 15)
            + counts.flatMap { bytes(UInt32($0)) }
            + file.changes.flatMap { bytes(Time(truncatingIfNeeded: $0.time)) } + file.changes.map(\.index)
            + file.offsets.flatMap { bytes($0) + [0, 0] } + Array("ABC\0".utf8)
            + Array(repeating: 0, count: file.leapSeconds * (Time.bitWidth / 8 + 4))
    }

    /// Writes the file as a zone of a folder of zone files.
    public func write(as name: String, in folder: String) throws {
        let file = URL(fileURLWithPath: "\(folder)/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }
}
