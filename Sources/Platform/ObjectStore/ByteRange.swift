/// The result of a `Range` header (RFC 9110 §14) for a representation of a certain size.
public enum ByteRange: Sendable, Equatable {
    /// The whole representation: there is no header, or one that a server ignores (another unit, wrong syntax), or it
    /// names several ranges, which a server may answer with the whole.
    case whole
    /// The bytes `lower` to `upper`, both included: a 206.
    case partial(lower: Int64, upper: Int64)
    /// No byte of the range exists: a 416.
    case unsatisfiable

    /// Reads the value of the header for a representation of `size` bytes.
    ///
    /// Numbers too large for 64 bits count as beyond the end. For an empty representation, which has no bytes to count,
    /// a suffix range is the whole.
    public init(header: String?, size: Int64) {
        guard let header, let specifier = Self.onlySpecifier(in: header) else {
            self = .whole
            return
        }
        let bounds = specifier.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            self = .whole
            return
        }
        switch (Self.number(bounds[0]), Self.number(bounds[1])) {
        case (nil, nil): self = .whole
        case (nil, 0): self = .unsatisfiable
        case (nil, let length?): self = size == 0 ? .whole : .partial(lower: max(0, size - length), upper: size - 1)
        case (let lower?, let upper?) where upper < lower: self = .whole
        case (let lower?, _) where lower >= size: self = .unsatisfiable
        case (let lower?, let upper): self = .partial(lower: lower, upper: min(upper ?? .max, size - 1))
        }
    }

    /// Returns the text after `bytes=` if it is one range; the list may have empty elements (RFC 9110 §5.6.1.2).
    private static func onlySpecifier(in header: String) -> Substring? {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let specifiers = parts[1].split(separator: ",").map { $0.trimmingOptionalWhitespace }.filter { !$0.isEmpty }
        return specifiers.count == 1 ? specifiers[0] : nil
    }

    /// Parses digits; nil when there are none, and the largest number when 64 bits do not suffice.
    private static func number(_ digits: Substring) -> Int64? {
        digits.isEmpty ? nil : Int64(digits) ?? .max
    }
}
