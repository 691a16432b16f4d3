import CZlib
import NIOCore

/// The checksum of an entry of a ZIP archive (APPNOTE.TXT 6.3.10, §4.4.7).
public struct CRC32: Sendable {
    private(set) var value: UInt32 = 0

    /// Makes the checksum of no bytes.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { bytes in
            value = UInt32(
                truncatingIfNeeded: crc32_z(UInt(value), bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
        }
    }
}
