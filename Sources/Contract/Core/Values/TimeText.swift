/// Writes digits into a string's storage.
struct DigitWriter {
    let bytes: UnsafeMutableBufferPointer<UInt8>
    var count = 0

    init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func write(ascii: UInt8) {
        bytes[count] = ascii
        count += 1
    }

    @inline(__always)
    mutating func write(_ value: Int64, digits: Int) {
        var rest = UInt32(truncatingIfNeeded: value)
        var position = count &+ digits
        while position > count {
            position &-= 1
            bytes[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= digits
    }

    /// Writes a date whose text is there, ten bytes.
    mutating func write(date: UnsafePointer<UInt8>) {
        for index in 0..<10 { bytes[count &+ index] = date[index] }
        count &+= 10
    }

    /// Writes a date. The format has no place for years outside 0…9999, so such years are clamped.
    mutating func write(_ date: CivilDate) {
        write(min(max(date.year, 0), 9999), digits: 4)
        write(ascii: UInt8(ascii: "-"))
        write(date.month, digits: 2)
        write(ascii: UInt8(ascii: "-"))
        write(date.day, digits: 2)
    }

    /// The number of bytes that a time may take.
    static let timeCapacity = 24

    /// Writes a time, given in milliseconds since 1970, as ISO 8601 in UTC.
    ///
    /// - Parameters:
    ///   - fractionDigits: None or three.
    ///   - date: The text of the date, ten bytes, where another time of the same day has it already.
    mutating func write(time milliseconds: Int64, fractionDigits: Int, date: UnsafePointer<UInt8>? = nil) {
        let (days, time) = milliseconds.quotientAndRemainderFlooring(dividingBy: 86_400_000)
        let seconds = time / 1000
        if let date { write(date: date) } else { write(CivilDate(daysSince1970: days)) }
        write(ascii: UInt8(ascii: "T"))
        write(seconds / 3600, digits: 2)
        write(ascii: UInt8(ascii: ":"))
        write(seconds / 60 % 60, digits: 2)
        write(ascii: UInt8(ascii: ":"))
        write(seconds % 60, digits: 2)
        if fractionDigits > 0 {
            write(ascii: UInt8(ascii: "."))
            write(time % 1000, digits: 3)
        }
        write(ascii: UInt8(ascii: "Z"))
    }
}

/// Reads the pieces of an RFC 3339 time out of a string's bytes.
struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func digits(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let byte = rest.popFirst(), UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    mutating func take(_ characters: UInt8...) -> UInt8? {
        guard let byte = rest.first, characters.contains(byte) else { return nil }
        rest.removeFirst()
        return byte
    }

    mutating func date() -> CivilDate? {
        guard let year = digits(4), take(UInt8(ascii: "-")) != nil, let month = digits(2),
            take(UInt8(ascii: "-")) != nil, let day = digits(2)
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }

    /// Reads one to nine digits of a fraction and returns whole milliseconds; further digits are cut off.
    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while let byte = rest.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            if count < 3 { value = value * 10 + Int64(byte - UInt8(ascii: "0")) }
            count += 1
            rest.removeFirst()
        }
        guard 1...9 ~= count else { return nil }
        for _ in count..<max(count, 3) { value *= 10 }
        return value
    }

    /// Reads a zone and returns its offset in minutes east of Greenwich.
    mutating func offset() -> Int64? {
        guard let sign = take(UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-")) else {
            return nil
        }
        if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return 0 }
        guard let hours = digits(2), hours < 24, take(UInt8(ascii: ":")) != nil, let minutes = digits(2), minutes < 60
        else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }
}

/// Returns the milliseconds since 1970 of an RFC 3339 date-time, or nil when the text is not one.
func parseDateTime(_ text: String) -> Int64? {
    var reader = DigitReader(text)
    guard let date = reader.date(), reader.take(UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")) != nil,
        let hour = reader.digits(2), hour < 24, reader.take(UInt8(ascii: ":")) != nil,
        let minute = reader.digits(2), minute < 60, reader.take(UInt8(ascii: ":")) != nil,
        let second = reader.digits(2), second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if reader.take(UInt8(ascii: ".")) != nil {
        guard let value = reader.fraction() else { return nil }
        fraction = value
    }
    guard let offset = reader.offset(), reader.isAtEnd else { return nil }
    let seconds = date.daysSince1970 * 86_400 + hour * 3600 + (minute - offset) * 60 + second
    return seconds * 1000 + fraction
}
