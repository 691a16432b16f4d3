import Foundation

// MARK: Repeated values

/// The places of values in the text.
@usableFromInline
package final class Repeats<Value: Identifiable> {
    // These are not one dictionary of tuples: in code that is generic the type of a tuple is looked up with each access.
    @usableFromInline package var indices: [Value.ID: Int] = [:]
    @usableFromInline package var values: [Value] = []
    @usableFromInline package var places: [Range<Int>] = []

    @inlinable
    package init() {}
}

extension JSONText {
    /// Writes a value, or copies the text of an equal one that was written before.
    @inlinable
    package func write<Value: Encodable & Equatable & Identifiable>(repeating value: Value) throws {
        let known: Repeats<Value>
        if let repeats, type(of: repeats) == Repeats<Value>.self {
            known = unsafeDowncast(repeats, to: Repeats<Value>.self)
        } else {
            known = Repeats()
            repeats = known
        }
        if let index = known.indices[value.id], known.values[index] == value { return copy(known.places[index]) }
        let start = count
        try write(value)
        known.indices[value.id] = known.values.count
        known.values.append(value)
        known.places.append(start..<count)
    }

    /// Writes a part of the text again.
    @usableFromInline
    package func copy(_ place: Range<Int>) {
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

    func write<Precision>(_ timestamp: Timestamp<Precision>) {
        reserve(Timestamp<Precision>.textCapacity + 2)
        put("\"")
        let day = timestamp.day
        let known = lastDay.flatMap { $0.number == day ? UnsafePointer(bytes + $0.place) : nil }
        lastDay = (day, count)
        let rest = UnsafeMutableBufferPointer(start: bytes + count, count: Timestamp<Precision>.textCapacity)
        count &+= timestamp.write(to: rest, date: known)
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
