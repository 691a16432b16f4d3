@_spi(Scenarios) import CheckedLists
import Testing

/// Arithmetic in scenarios returns the nearest number that there is.
@Suite(.timeLimit(.minutes(30))) struct CheckedArithmeticTests {
    @Test func sumsAndProductsEndAtTheLargestNumber() {
        let (largest, smallest) = (Int.max, Int.min)
        #expect(largest + 1 == .max && smallest + -1 == .min)
        #expect(largest - -1 == .max && smallest - 1 == .min)
        #expect(largest * 200 + 16 == .max && largest * -2 == .min && smallest * -1 == .max)
        let (long, short) = (Int64.max, Int64.min)
        #expect(long + 1 == .max && short - 1 == .min && long * 2 == .max && short * 2 == .min)
        var number = Int.max
        number += 5
        #expect(number == .max)
        number -= 2
        #expect(number == .max - 2)
        #expect((1...4).reduce(0, +) == 10 && 7 - 2 * 3 == 1 && -7 / 2 == -3 && -7 % 2 == -1)
    }

    @Test func aDivisionByZeroIsZero() {
        let zero = [Int]().count
        #expect(5 % zero == 0 && 5 / zero == 0 && Int.min / -1 == .max && Int.min % -1 == 0)
        var number: Int64 = 7
        number %= Int64(zero)
        #expect(number == 0)
    }

    @Test func conversionsReturnTheNearestNumber() {
        #expect(Int(1e308) == .max && Int(-1e308) == .min && Int(Double.nan) == 0 && Int(2.9) == 2)
        #expect(Int64(Double.infinity) == .max && Int64(-2.9) == -2 && Int64(9_007_199_254_740_992.0) == 1 << 53)
        let (negative, large) = (-1, 300)
        #expect(UInt8(negative) == 0 && UInt8(large) == 255 && UInt64(negative) == 0 && Int(UInt64.max) == .max)
    }

    @Test func aRangeThatEndsBeforeItBeginsHasNoMore() {
        let negative = -3
        #expect((0..<negative).isEmpty && Array(1...negative) == [1] && Array(0..<2) == [0, 1])
    }
}
