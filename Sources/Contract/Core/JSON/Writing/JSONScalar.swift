/// A type that is written without calling its `encode(to:)`.
package protocol JSONScalar: Encodable {
    var hasJSON: Bool { get }
    func writeJSON(to text: JSONText)
}

extension JSONScalar {
    package var hasJSON: Bool { true }
}

extension JSONScalar where Self: FixedWidthInteger {
    @inline(__always)
    package func writeJSON(to text: JSONText) { text.write(digitsOf: self) }
}

extension JSONScalar where Self: BinaryFloatingPoint & CustomStringConvertible {
    package var hasJSON: Bool { isFinite }

    package func writeJSON(to text: JSONText) {
        // Every whole number up to 2⁵³ is exact. Minus zero goes the other way and keeps its sign.
        if let whole = Int64(exactly: self), whole.magnitude <= 1 << 53, whole != 0 || sign == .plus {
            text.write(digitsOf: whole)
        } else {
            text.write(ascii: description)
        }
    }
}

extension Bool: JSONScalar {
    package func writeJSON(to text: JSONText) { text.write(literal: self ? "true" : "false") }
}

extension String: JSONScalar {
    package func writeJSON(to text: JSONText) { text.write(self) }
}

extension Double: JSONScalar {}
extension Float: JSONScalar {}
extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
