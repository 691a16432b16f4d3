// A server may answer with any number, and arithmetic that overflows, a division by zero or a range that ends before it begins
// would end the whole run. So in files that import this module with `@_spi(Scenarios)` the operators below stand in front of the
// standard library's: they return the nearest number that there is, and the comparison behind them fails in words.

extension FixedWidthInteger {
    fileprivate func sum(_ other: Self) -> Self {
        let (value, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : value
    }

    fileprivate func difference(_ other: Self) -> Self {
        let (value, isOver) = subtractingReportingOverflow(other)
        return isOver ? (other < 0 ? .max : .min) : value
    }

    fileprivate func product(_ other: Self) -> Self {
        let (value, isOver) = multipliedReportingOverflow(by: other)
        return isOver ? ((self < 0) == (other < 0) ? .max : .min) : value
    }

    /// The quotient; zero for a division by zero.
    fileprivate func quotient(_ other: Self) -> Self {
        let (value, isOver) = dividedReportingOverflow(by: other)
        return other == 0 ? 0 : isOver ? .max : value
    }

    /// The remainder; zero for a division by zero.
    fileprivate func remainder(_ other: Self) -> Self {
        other == 0 ? 0 : remainderReportingOverflow(dividingBy: other).partialValue
    }

    /// The nearest whole number; zero for what is not a number.
    fileprivate init(nearest number: Double) {
        self = Self(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}

@_spi(Scenarios) extension Int {
    public static func + (left: Self, right: Self) -> Self { left.sum(right) }
    public static func - (left: Self, right: Self) -> Self { left.difference(right) }
    public static func * (left: Self, right: Self) -> Self { left.product(right) }
    public static func / (left: Self, right: Self) -> Self { left.quotient(right) }
    public static func % (left: Self, right: Self) -> Self { left.remainder(right) }
    public static func += (left: inout Self, right: Self) { left = left.sum(right) }
    public static func -= (left: inout Self, right: Self) { left = left.difference(right) }
    public static func *= (left: inout Self, right: Self) { left = left.product(right) }
    public static func /= (left: inout Self, right: Self) { left = left.quotient(right) }
    public static func %= (left: inout Self, right: Self) { left = left.remainder(right) }
    public init(_ number: Double) { self.init(nearest: number) }
    public init<Number: BinaryInteger>(_ number: Number) { self.init(clamping: number) }
}

@_spi(Scenarios) extension Int64 {
    public static func + (left: Self, right: Self) -> Self { left.sum(right) }
    public static func - (left: Self, right: Self) -> Self { left.difference(right) }
    public static func * (left: Self, right: Self) -> Self { left.product(right) }
    public static func / (left: Self, right: Self) -> Self { left.quotient(right) }
    public static func % (left: Self, right: Self) -> Self { left.remainder(right) }
    public static func += (left: inout Self, right: Self) { left = left.sum(right) }
    public static func -= (left: inout Self, right: Self) { left = left.difference(right) }
    public static func *= (left: inout Self, right: Self) { left = left.product(right) }
    public static func /= (left: inout Self, right: Self) { left = left.quotient(right) }
    public static func %= (left: inout Self, right: Self) { left = left.remainder(right) }
    public init(_ number: Double) { self.init(nearest: number) }
    public init<Number: BinaryInteger>(_ number: Number) { self.init(clamping: number) }
}

@_spi(Scenarios) extension UInt8 {
    public init<Number: BinaryInteger>(_ number: Number) { self.init(clamping: number) }
}

@_spi(Scenarios) extension UInt32 {
    public init<Number: BinaryInteger>(_ number: Number) { self.init(clamping: number) }
}

@_spi(Scenarios) extension UInt64 {
    public init<Number: BinaryInteger>(_ number: Number) { self.init(clamping: number) }
}

@_spi(Scenarios) extension Comparable {
    /// Returns the range; an empty one at the first bound when the second one is less.
    public static func ..< (first: Self, second: Self) -> Range<Self> {
        Range(uncheckedBounds: (first, second < first ? first : second))
    }

    /// Returns the range; one of the first bound alone when the second one is less.
    public static func ... (first: Self, second: Self) -> ClosedRange<Self> {
        ClosedRange(uncheckedBounds: (first, second < first ? first : second))
    }
}
