/// Reads numbers of a known length from the start of a text, as dates and times are written. A regular expression would be
/// parsed anew for each text, which took more than half of the time of an import.
struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: some StringProtocol) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads a number of exactly so many ASCII digits; without them it reads nothing and returns nil.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ Self.digits ~= $0 }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - Self.digits.lowerBound) }
    }

    /// Reads a character if it is next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads at least one digit.
    mutating func skipDigits() -> Bool {
        let digits = rest.prefix { Self.digits ~= $0 }
        rest = rest.dropFirst(digits.count)
        return !digits.isEmpty
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}

extension DigitReader {
    /// Reads a date such as `2024-10-26` or `20241026`.
    mutating func date() -> (year: Int, month: Int, day: Int)? {
        guard let year = number(4) else { return nil }
        _ = skip("-")
        guard let month = number(2) else { return nil }
        _ = skip("-")
        return number(2).map { (year, month, $0) }
    }
}
