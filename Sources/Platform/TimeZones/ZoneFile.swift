/// The offsets of a time zone from UTC, as a TZif file states them (RFC 9636, and RFC 8536 before it).
///
/// It reads the versions 1 to 4. Abbreviations and whether it is summer time are left out, because no server asks for them.
struct ZoneFile: Sendable {
    /// The times at which the offset changes, in seconds since 1970, in ascending order.
    private let transitions: [Int64]
    /// The offsets in seconds from each transition on.
    private let offsets: [Int]
    /// The offset before the first transition.
    private let first: Int
    /// The rule behind the last transition; nil when the file has none.
    private let rule: RecurringRule?

    /// Reads a file.
    init(_ bytes: [UInt8]) throws(ZoneFileError) {
        var reader = ZoneFileReader(bytes[...])
        var header = try Header(&reader)
        let isLong = header.version >= 2
        if isLong {
            // Readers of version 2 and later skip the block with times of 32 bits.
            _ = try reader.take(header.size(time: 4))
            header = try Header(&reader)
        }
        guard header.leapSeconds == 0 else { throw .leapSeconds }
        var times: [Int64] = []
        for _ in 0..<header.times {
            let time = isLong ? try reader.integer(Int64.self) : Int64(try reader.integer(Int32.self))
            guard times.last.map({ $0 < time }) ?? true else { throw .malformed("order of transitions") }
            times.append(time)
        }
        let indices = try reader.take(header.times)
        var types: [Int] = []
        for _ in 0..<header.types {
            let offset = Int(try reader.integer(Int32.self))
            // RFC 9636, 3.2: from -24:59:59 to 25:59:59.
            guard -89_999...93_599 ~= offset else { throw .malformed("offset from UTC") }
            _ = try reader.take(2)
            types.append(offset)
        }
        guard let first = types.first else { throw .malformed("number of types") }
        guard indices.allSatisfy({ $0 < types.count }) else { throw .malformed("index of a type") }
        self.first = first
        transitions = times
        offsets = indices.map { types[Int($0)] }
        _ = try reader.take(header.characters + header.standardMarks + header.utcMarks)
        rule = isLong ? try reader.footer() : nil
    }

    /// Returns the offset from UTC in seconds.
    ///
    /// - Parameter time: The seconds since 1970.
    func offset(at time: Int64) -> Int {
        guard let last = transitions.last else { return rule?.offset(at: time) ?? first }
        guard time < last else { return rule?.offset(at: time) ?? offsets[offsets.count - 1] }
        // The number of transitions that are not later.
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : offsets[low - 1]
    }
}

/// The header of a block (RFC 9636, 3.1).
private struct Header {
    let version: Int
    let utcMarks: Int
    let standardMarks: Int
    let leapSeconds: Int
    let times: Int
    let types: Int
    let characters: Int

    init(_ reader: inout ZoneFileReader) throws(ZoneFileError) {
        guard try reader.take(4).elementsEqual("TZif".utf8) else { throw .otherFormat }
        let version = try reader.integer(UInt8.self)
        // Version 1 is a zero, and each later one its digit. Later versions than 4 must be readable as this one.
        self.version = version == 0 ? 1 : Int(version) - Int(UInt8(ascii: "0"))
        _ = try reader.take(15)
        utcMarks = Int(try reader.integer(UInt32.self))
        standardMarks = Int(try reader.integer(UInt32.self))
        leapSeconds = Int(try reader.integer(UInt32.self))
        times = Int(try reader.integer(UInt32.self))
        types = Int(try reader.integer(UInt32.self))
        characters = Int(try reader.integer(UInt32.self))
    }

    /// Returns the size of the block in bytes, whose times have this size each.
    func size(time: Int) -> Int {
        times * (time + 1) + types * 6 + characters + leapSeconds * (time + 4) + standardMarks + utcMarks
    }
}

/// Reads the bytes of a file from its beginning to its end.
private struct ZoneFileReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func take(_ count: Int) throws(ZoneFileError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .cutShort }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Reads an integer in network order.
    mutating func integer<Value: FixedWidthInteger>(_: Value.Type) throws(ZoneFileError) -> Value {
        try take(Value.bitWidth / 8).reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    /// Reads the footer: a rule in a line of its own, which may be empty.
    mutating func footer() throws(ZoneFileError) -> RecurringRule? {
        let newline = UInt8(ascii: "\n")
        guard try integer(UInt8.self) == newline, let end = rest.firstIndex(of: newline) else { throw .cutShort }
        let text = rest[..<end]
        return text.isEmpty ? nil : try RecurringRule(text)
    }
}
