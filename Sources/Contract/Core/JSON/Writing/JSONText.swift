import Foundation

/// Where a value begins and how many containers are open around it; for a container, where its bracket stands and how
/// many are open within it and itself.
package struct JSONPosition {
    var depth: Int
    var offset: Int

    /// The position of the container as a value.
    var outside: JSONPosition { JSONPosition(depth: depth - 1, offset: offset) }

    /// The position that is returned after a misuse. Using it throws.
    static let nowhere = JSONPosition(depth: .max, offset: -1)
}

/// The text so far and the containers that are open in it.
///
/// The text is the state: the bracket that closes a container and the path to a value are read off the bytes when
/// they are needed. The bytes are not a `ByteBuffer`'s, which would ask at every write whether it is shared. Copying
/// them at the end costs less and leaves the caller's buffer alone until nothing can fail any more.
///
/// Exclusivity is unchecked because the checks, at several per member, took a quarter of the time. No access can
/// overlap another: nothing is called out to while one lasts.
@usableFromInline
package final class JSONText {
    /// An open container. Where its bracket stands tells it from every other.
    struct Level {
        var start: Int
        var members = 0
    }

    /// A step of a path, or the key of a super encoder.
    package struct Key: CodingKey {
        package var stringValue: String
        package var intValue: Int?

        package init(stringValue: String) { self.stringValue = stringValue }

        package init(intValue: Int) {
            self.init(stringValue: "\(intValue)")
            self.intValue = intValue
        }
    }

    @exclusivity(unchecked) var bytes: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) private var capacity = 2048
    @exclusivity(unchecked) @usableFromInline package internal(set) var count = 0
    @exclusivity(unchecked) private var levels: [Level] = []
    /// The position at which the value of the most recent nested encoder has to begin. Until it does, no container may
    /// be written to.
    @exclusivity(unchecked) private var deferredAt = -1
    /// The day of the most recent time, and where its date stands in the text.
    @exclusivity(unchecked) private var lastDay: (number: Int64, place: Int)?
    /// The shared values that have been written.
    @exclusivity(unchecked) private var shared: [ObjectIdentifier: SharedText] = [:]
    /// The first misuse at a place where the protocols do not allow throwing.
    package private(set) var failure: (any Error)?

    // The identity is stored, because asking a type of another module for it is a call, for every value of a list.
    private let uuid = ObjectIdentifier(UUID.self)
    private let date = ObjectIdentifier(Date.self)
    private let url = ObjectIdentifier(URL.self)
    private let data = ObjectIdentifier(Data.self)
    private let decimal = ObjectIdentifier(Decimal.self)
    private let seconds = ObjectIdentifier(Timestamp<Seconds>.self)
    private let milliseconds = ObjectIdentifier(Timestamp<Milliseconds>.self)

    package init() {
        bytes = Self.resized(nil, to: capacity)
        levels.reserveCapacity(8)
    }

    deinit { free(bytes) }

    /// Returns the text's memory in another size. `UnsafeMutablePointer` allocates with an alignment, which takes longer;
    /// like it, this ends the process where the system has no memory.
    private static func resized(_ bytes: UnsafeMutableRawPointer?, to capacity: Int) -> UnsafeMutablePointer<UInt8> {
        guard let memory = realloc(bytes, capacity) else { fatalError("no memory for a text of \(capacity) bytes") }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

// MARK: Structure

extension JSONText {
    var here: JSONPosition { JSONPosition(depth: levels.count, offset: count) }

    /// Returns whether the value at `position` is the next thing to write.
    @inline(__always)
    func isNext(_ position: JSONPosition) -> Bool { count == position.offset && levels.count == position.depth }

    @inline(__always)
    func begin(at position: JSONPosition) throws {
        guard isNext(position) else { throw misuse(at: position) }
    }

    /// Makes room for a member of a container. What is still open inside the container is complete by now.
    @inline(__always)
    func beginMember(of container: JSONPosition) throws {
        let index = container.depth &- 1
        guard index < levels.count, levels[index].start == container.offset else { throw misuse(at: container.outside) }
        if levels.count > container.depth { close(to: container.depth) }
        if deferredAt == count { throw misuse(at: here) }
        if levels[index].members > 0 { put(",") }
        levels[index].members &+= 1
    }

    @inline(__always)
    func beginMember(_ key: String, of container: JSONPosition) throws {
        try beginMember(of: container)
        write(key)
        put(":")
    }

    /// Opens a container, or finds the one already open there: a class and its superclass ask the same encoder for
    /// theirs.
    func open(_ bracket: Unicode.Scalar, at position: JSONPosition) -> JSONPosition {
        let inside = JSONPosition(depth: position.depth &+ 1, offset: position.offset)
        if count == position.offset, levels.count == position.depth {
            put(bracket)
            levels.append(Level(start: position.offset))
            return inside
        }
        if position.depth < levels.count, levels[position.depth].start == position.offset,
            bytes[position.offset] == UInt8(ascii: bracket)
        {
            return inside
        }
        return fail(misuse(at: position))
    }

    private func close(to depth: Int) {
        while levels.count > depth {
            if deferredAt == count { _ = fail(misuse(at: here)) }
            put(Unicode.Scalar(bytes[levels.removeLast().start] + 2))  // in ASCII, "{" + 2 is "}" and "[" + 2 is "]"
        }
    }

    /// Returns the position of a member that a nested container or a super encoder will fill.
    func deferValue(_ begin: () throws -> Void) -> JSONPosition {
        do { try begin() } catch { return fail(error) }
        deferredAt = count
        return here
    }

    func members(of container: JSONPosition) -> Int {
        let index = container.depth - 1
        return index < levels.count && levels[index].start == container.offset ? levels[index].members : 0
    }

    /// Writes any value. A failure takes the whole of it back.
    @usableFromInline
    package func write<T: Encodable>(_ value: T) throws {
        let start = here
        deferredAt = count
        do {
            if try writeDirectly(value) { return }
            try value.encode(to: JSONEncoding(text: self, position: start))
            if levels.count > start.depth { close(to: start.depth) }
            guard count > start.offset, levels.count == start.depth else {
                throw error(value, at: start, "\(T.self) encoded nothing")
            }
        } catch {
            levels.removeLast(max(levels.count - start.depth, 0))
            takeBack(to: min(count, start.offset))
            throw error
        }
    }

    /// Removes the end of the text, and forgets what may have stood there.
    private func takeBack(to mark: Int) {
        count = mark
        shared.removeAll()
        lastDay = nil
    }

    /// Writes the value of the member that began at `mark`. A failure removes the key and the comma, too, so that an
    /// encoder that continues after the error (`try?`) still produces valid JSON.
    func write<T: Encodable>(member value: T, from mark: Int) throws {
        do {
            try write(value)
        } catch {
            takeBack(to: mark)
            deferredAt = -1
            levels[levels.count - 1].members -= 1
            throw error
        }
    }
}

// MARK: Scalars

extension JSONText {
    @inline(__always)
    func reserve(_ room: Int) {
        if capacity &- count < room { grow(by: room) }
    }

    @inline(never)
    private func grow(by room: Int) {
        capacity = max(capacity * 4, count + room)  // pages that are never written to cost nothing
        bytes = Self.resized(bytes, to: capacity)
    }

    @inline(__always)
    func put(_ character: Unicode.Scalar) {
        put(UInt8(truncatingIfNeeded: character.value))
    }

    @inline(__always)
    func put(_ byte: UInt8) {
        reserve(1)
        bytes[count] = byte
        count &+= 1
    }

    /// Writes the name of a member, which contains nothing that must be escaped.
    @inline(__always)
    func write(name: StaticString, isFirst: Bool) {
        let count = name.utf8CodeUnitCount
        reserve(count &+ 4)
        var out = UnsafeMutableRawPointer(bytes + self.count)
        if !isFirst {
            out.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
            out += 1
        }
        out.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        (out + 1).copyMemory(from: name.utf8Start, byteCount: count)
        (out + (count &+ 1)).storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        (out + (count &+ 2)).storeBytes(of: UInt8(ascii: ":"), as: UInt8.self)
        self.count = out - UnsafeMutableRawPointer(bytes) &+ count &+ 3
    }

    @usableFromInline
    func write(literal: StaticString) {
        append(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    func write(ascii string: String) {
        var string = string
        string.withUTF8 { append($0) }
    }

    private func append(_ source: UnsafeBufferPointer<UInt8>) {
        reserve(source.count)
        _ = UnsafeMutableBufferPointer(start: bytes + count, count: source.count).update(fromContentsOf: source)
        count &+= source.count
    }

    @inline(__always)
    func write<I: FixedWidthInteger>(digitsOf integer: I) {
        write(magnitude: UInt64(truncatingIfNeeded: integer.magnitude), negative: integer < 0)
    }

    private func write(magnitude: UInt64, negative: Bool) {
        reserve(21)
        if negative { put("-") }
        var digits = 1
        var limit: UInt64 = 10
        while magnitude >= limit, digits < 20 {
            digits &+= 1
            limit = limit.multipliedReportingOverflow(by: 10).overflow ? .max : limit &* 10
        }
        count &+= digits
        var digit = bytes + count
        var rest = magnitude
        repeat {
            digit -= 1
            digit.pointee = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
    }

    @inline(__always)
    func write(_ string: String) {
        // Other than `withUTF8`, this needs no copy of the string. Only strings of Objective-C have no contiguous bytes.
        if string.utf8.withContiguousStorageIfAvailable({ write(quoted: $0) }) != nil { return }
        var string = string
        string.withUTF8 { write(quoted: $0) }
    }

    /// Copies eight bytes at a time and looks for what must be escaped in all of them at once. Such a word may reach
    /// beyond the clean bytes it is kept for; what follows overwrites the rest.
    private func write(quoted utf8: UnsafeBufferPointer<UInt8>) {
        reserve(utf8.count &+ 2)
        put("\"")
        var out = UnsafeMutableRawPointer(bytes + count)
        var index = 0
        while index < utf8.count {
            if utf8.count &- index >= 8 {
                let word = UnsafeRawPointer(utf8.baseAddress! + index).loadUnaligned(as: UInt64.self)
                out.storeBytes(of: word, as: UInt64.self)
                let marks = Self.escapes(in: word.littleEndian)
                let clean = marks == 0 ? 8 : marks.trailingZeroBitCount / 8
                index &+= clean
                out += clean
                if marks == 0 { continue }
            }
            let byte = utf8[index]
            index &+= 1
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                out.storeBytes(of: byte, as: UInt8.self)
                out += 1
            } else {
                count = out - UnsafeMutableRawPointer(bytes)
                escape(byte)
                reserve(utf8.count &- index &+ 1)
                out = UnsafeMutableRawPointer(bytes + count)
            }
        }
        count = out - UnsafeMutableRawPointer(bytes)
        put("\"")
    }

    /// The high bit of each byte that must be escaped, the first byte lowest. A borrow may mark bytes after the first
    /// that is marked rightly, but none before it.
    @inline(__always)
    private static func escapes(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let marks = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- ones &* 0x20) & ~word)
        return marks & (ones &* 0x80)
    }

    private func escape(_ byte: UInt8) {
        put("\\")
        switch byte {
        case 0x08: put("b")
        case 0x09: put("t")
        case 0x0A: put("n")
        case 0x0C: put("f")
        case 0x0D: put("r")
        case 0..<0x20:
            write(literal: "u00")
            put(hex: byte)
        default: put(byte)
        }
    }

    @inline(__always)
    func put(hex byte: UInt8) {
        func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
        put(digit(byte >> 4))
        put(digit(byte & 15))
    }
}

// MARK: Shared values

extension JSONText {
    /// A value that was written, and its place in the text. The reference keeps the object's identity.
    private struct SharedText {
        let object: AnyObject
        let place: Range<Int>
    }

    /// Writes a value, or copies its text if the same object was written before.
    @inlinable
    package func write<Value: Encodable>(_ shared: Shared<Value>) throws {
        if copy(textOf: shared.box) { return }
        let start = count
        try write(shared.box.value)
        keep(shared.box, from: start)
    }

    /// Writes the text of an object again, and returns whether there is one.
    @usableFromInline
    func copy(textOf object: AnyObject) -> Bool {
        guard let text = shared[ObjectIdentifier(object)] else { return false }
        copy(text.place)
        return true
    }

    @usableFromInline
    func keep(_ object: AnyObject, from start: Int) {
        shared[ObjectIdentifier(object)] = SharedText(object: object, place: start..<count)
    }

    /// Writes a part of the text again.
    private func copy(_ place: Range<Int>) {
        reserve(place.count)
        (bytes + count).update(from: bytes + place.lowerBound, count: place.count)
        count &+= place.count
    }
}

// MARK: Types without an encoding of their own

extension JSONText {
    /// Writes the types whose own `encode(to:)` is not what a client expects, and timestamps, which are many. The
    /// comparison proves each bit cast.
    func writeDirectly<T: Encodable>(_ value: T) throws -> Bool {
        switch ObjectIdentifier(T.self) {
        case milliseconds: write(unsafeBitCast(value, to: Timestamp<Milliseconds>.self))
        case seconds: write(unsafeBitCast(value, to: Timestamp<Seconds>.self))
        case uuid:
            write(unsafeBitCast(value, to: UUID.self))
        case date:
            throw error(value, at: here, "a Date has no format: encode a type that has one")
        case url:
            write(unsafeBitCast(value, to: URL.self).absoluteString)
        case data:
            write(unsafeBitCast(value, to: Data.self).base64EncodedString())
        case decimal:
            let number = unsafeBitCast(value, to: Decimal.self)
            guard number.isFinite else { throw error(value, at: here, "JSON has no \(number)") }
            write(ascii: number.description)
        default:
            return false
        }
        return true
    }

    @inlinable
    package func write<Precision>(_ timestamp: Timestamp<Precision>) {
        write(time: timestamp.milliseconds, fractionDigits: Precision.fractionDigits)
    }

    @usableFromInline
    func write(time milliseconds: Int64, fractionDigits: Int) {
        reserve(DigitWriter.timeCapacity + 2)
        put("\"")
        var writer = DigitWriter(UnsafeMutableBufferPointer(start: bytes + count, count: DigitWriter.timeCapacity))
        let day = milliseconds.quotientAndRemainderFlooring(dividingBy: 86_400_000).0
        let known = lastDay.flatMap { $0.number == day ? UnsafePointer(bytes + $0.place) : nil }
        lastDay = (day, count)
        writer.write(time: milliseconds, fractionDigits: fractionDigits, date: known)
        count &+= writer.count
        put("\"")
    }

    private func write(_ uuid: UUID) {
        put("\"")
        withUnsafeBytes(of: uuid.uuid) { bytes in
            for index in bytes.indices {
                if index == 4 || index == 6 || index == 8 || index == 10 { put("-") }
                put(hex: bytes[index])
            }
        }
        put("\"")
    }
}

// MARK: Errors

extension JSONText {
    func error(_ value: Any, at position: JSONPosition, _ reason: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: path(to: position), debugDescription: reason))
    }

    private func misuse(at position: JSONPosition) -> EncodingError {
        error((), at: position, "a value is written as it is encoded: exactly once, and before its parent goes on")
    }

    private func fail(_ error: any Error) -> JSONPosition {
        if failure == nil { failure = error }
        return .nowhere
    }

    /// The keys and indices around the value at `position`, each read back from where the next container begins:
    /// `"key":{`. Keys stay escaped, as the path is only for people to read.
    func path(to position: JSONPosition) -> [any CodingKey] {
        let levels = levels.prefix(max(position.depth, 0))
        let values = levels.dropFirst().map(\.start) + [position.offset]
        return zip(levels, values).compactMap { level, value in
            if bytes[level.start] == UInt8(ascii: "[") { return Key(intValue: level.members - 1) }
            guard level.start + 2 < value, value <= count, bytes[value - 1] == UInt8(ascii: ":") else { return nil }
            var start = value - 2
            // A quote within the key has a backslash before it.
            while bytes[start - 1] != UInt8(ascii: "\"") || bytes[start - 2] == UInt8(ascii: "\\") { start -= 1 }
            let key = UnsafeBufferPointer(start: bytes + start, count: value - 2 - start)
            return Key(stringValue: String(decoding: key, as: UTF8.self))
        }
    }
}
