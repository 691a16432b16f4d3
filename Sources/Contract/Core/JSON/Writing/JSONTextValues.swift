import Foundation

// MARK: Shared values

extension JSONText {
    /// A value that was written, and its place in the text. The reference keeps the object's identity.
    struct SharedText {
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
