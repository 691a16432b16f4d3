import NIOCore

/// Writes a ZIP archive piece by piece, as PKWARE's APPNOTE.TXT 6.3.10 describes it. Nothing but the list of entries is in memory.
///
/// Entries are stored as they are, without compression: photos and videos are compressed already. Each entry's size and
/// checksum stand before its content, so that every program can read it, also as a stream. Names are UTF-8 (§4.4.4, bit 11).
/// Numbers that do not fit into 32 bits, or 16 for the number of entries, are in ZIP64's records (§4.3.14, §4.5.3).
public actor ZIPWriter {
    /// Receives the pieces of the archive, in their order, one after the other.
    public typealias Write = @Sendable (ByteBuffer) async throws -> Void

    /// The error for content that is not as long as its entry says. The archive is useless then.
    public struct WrongSize: Error {
        public init() {}
    }

    fileprivate struct Entry {
        let name: [UInt8]
        let time: UInt32
        let checksum: UInt32
        let size: UInt64
        let offset: UInt64

        var needsZIP64: Bool { size >= UInt32.max || offset >= UInt32.max }
    }

    private let write: Write
    private var entries: [Entry] = []
    private var offset: UInt64 = 0
    /// The bytes that the present entry still lacks.
    private var missing: Int64 = 0

    /// - Parameter write: Receives the archive.
    public init(to write: @escaping Write) { self.write = write }

    /// Begins an entry, whose content follows (``append(_:)``).
    ///
    /// - Parameters:
    ///   - name: The name, with `/` between folders; at most 65,535 bytes.
    ///   - modified: The time of the last change, in Unix seconds. An archive has it in UTC, with two seconds' precision, from 1980 to
    ///     2107.
    ///   - size: The number of bytes of the content.
    ///   - checksum: The checksum of the content.
    /// - Throws: ``WrongSize`` when the entry before is too short, and the errors of the archive's receiver.
    public func begin(_ name: String, modified: Int64, size: Int64, checksum: CRC32) async throws {
        guard missing == 0 else { throw WrongSize() }
        missing = size
        let entry = Entry(
            name: Array(name.utf8.prefix(Int(UInt16.max))), time: Self.time(modified), checksum: checksum.value,
            size: UInt64(size), offset: offset)
        let isLarge = entry.size >= UInt32.max
        var header = ByteBuffer()
        header.add(UInt32(0x0403_4b50))
        header.add(isLarge ? Self.zip64Version : Self.version)
        header.addCommon(entry)
        header.add(isLarge ? UInt32.max : UInt32(entry.size))
        header.add(isLarge ? UInt32.max : UInt32(entry.size))
        header.add(UInt16(entry.name.count))
        header.add(UInt16(isLarge ? 20 : 0))
        header.writeBytes(entry.name)
        if isLarge {
            header.add(UInt16(1))
            header.add(UInt16(16))
            header.add(entry.size)
            header.add(entry.size)
        }
        offset += UInt64(header.readableBytes) + entry.size
        entries.append(entry)
        try await write(header)
    }

    /// Writes a piece of the present entry's content.
    ///
    /// - Throws: ``WrongSize`` when the content is too long, and the errors of the archive's receiver.
    public func append(_ piece: ByteBuffer) async throws {
        guard piece.readableBytes <= missing else { throw WrongSize() }
        missing -= Int64(piece.readableBytes)
        try await write(piece)
    }

    /// Writes the list of the entries, which ends the archive.
    ///
    /// - Throws: ``WrongSize`` when the last entry is too short, and the errors of the archive's receiver.
    public func finish() async throws {
        guard missing == 0 else { throw WrongSize() }
        let start = offset
        var length: UInt64 = 0
        var buffer = ByteBuffer()
        for entry in entries {
            buffer.add(UInt32(0x0201_4b50))
            // Made on Unix (3), whose permissions the upper half of the external attributes has: a file, rw-r--r--.
            buffer.add(UInt16(3 << 8) | (entry.needsZIP64 ? Self.zip64Version : Self.version))
            buffer.add(entry.needsZIP64 ? Self.zip64Version : Self.version)
            buffer.addCommon(entry)
            buffer.add(entry.needsZIP64 ? UInt32.max : UInt32(entry.size))
            buffer.add(entry.needsZIP64 ? UInt32.max : UInt32(entry.size))
            buffer.add(UInt16(entry.name.count))
            buffer.add(UInt16(entry.needsZIP64 ? 28 : 0))
            buffer.add(UInt16(0))
            buffer.add(UInt16(0))
            buffer.add(UInt16(0))
            buffer.add(UInt32(0o100644) << 16)
            buffer.add(entry.needsZIP64 ? UInt32.max : UInt32(entry.offset))
            buffer.writeBytes(entry.name)
            if entry.needsZIP64 {
                buffer.add(UInt16(1))
                buffer.add(UInt16(24))
                buffer.add(entry.size)
                buffer.add(entry.size)
                buffer.add(entry.offset)
            }
            if buffer.readableBytes >= 1 << 16 {
                length += UInt64(buffer.readableBytes)
                try await write(buffer)
                buffer.clear()
            }
        }
        length += UInt64(buffer.readableBytes)
        addEnd(to: &buffer, start: start, length: length)
        try await write(buffer)
    }

    private func addEnd(to buffer: inout ByteBuffer, start: UInt64, length: UInt64) {
        let count = UInt64(entries.count)
        if count >= UInt16.max || start >= UInt32.max || length >= UInt32.max {
            buffer.add(UInt32(0x0606_4b50))
            buffer.add(UInt64(44))
            buffer.add(UInt16(3 << 8) | Self.zip64Version)
            buffer.add(Self.zip64Version)
            buffer.add(UInt32(0))
            buffer.add(UInt32(0))
            buffer.add(count)
            buffer.add(count)
            buffer.add(length)
            buffer.add(start)
            buffer.add(UInt32(0x0706_4b50))
            buffer.add(UInt32(0))
            buffer.add(start + length)
            buffer.add(UInt32(1))
        }
        buffer.add(UInt32(0x0605_4b50))
        buffer.add(UInt16(0))
        buffer.add(UInt16(0))
        buffer.add(UInt16(clamping: count))
        buffer.add(UInt16(clamping: count))
        buffer.add(UInt32(clamping: length))
        buffer.add(UInt32(clamping: start))
        buffer.add(UInt16(0))
    }

    private static let version: UInt16 = 20
    private static let zip64Version: UInt16 = 45

    /// Returns a time as MS-DOS writes it: the date in the upper half (§4.4.6).
    static func time(_ seconds: Int64) -> UInt32 {
        // 1980-01-01T00:00:00Z and 2107-12-31T23:59:58Z.
        let seconds = min(max(seconds, 315_532_800), 4_354_819_198)
        let (days, rest) = (seconds / 86_400, seconds % 86_400)
        // The civil date of a day, counted in eras of 400 years from 1 March.
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        let date = (year - 1980) << 9 | month << 5 | day
        return UInt32(date << 16 | (rest / 3600) << 11 | (rest / 60 % 60) << 5 | rest % 60 / 2)
    }
}

extension ByteBuffer {
    fileprivate mutating func add(_ number: some FixedWidthInteger) { writeInteger(number, endianness: .little) }

    /// Adds what an entry's header has in both places: the flags, no compression, the time, the checksum.
    fileprivate mutating func addCommon(_ entry: ZIPWriter.Entry) {
        add(UInt16(1 << 11))
        add(UInt16(0))
        add(entry.time)
        add(entry.checksum)
    }
}
