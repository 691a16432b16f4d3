import ObjectStore
import Testing

@Suite(.timeLimit(.minutes(30))) struct ByteRangeTests {
    @Test(
        arguments: [
            (nil, 100, .whole),
            ("bytes=0-99", 100, .partial(lower: 0, upper: 99)),
            ("bytes=0-0", 100, .partial(lower: 0, upper: 0)),
            ("bytes=0-", 100, .partial(lower: 0, upper: 99)),
            ("bytes=99-", 100, .partial(lower: 99, upper: 99)),
            ("bytes=50-1000", 100, .partial(lower: 50, upper: 99)),
            ("bytes=007-010", 100, .partial(lower: 7, upper: 10)),
            ("bytes=-1", 100, .partial(lower: 99, upper: 99)),
            ("bytes=-100", 100, .partial(lower: 0, upper: 99)),
            ("bytes=-500", 100, .partial(lower: 0, upper: 99)),
            ("BYTES=1-2", 100, .partial(lower: 1, upper: 2)),
            ("bytes= 1-2 ", 100, .partial(lower: 1, upper: 2)),
            ("bytes=,1-2,\t,", 100, .partial(lower: 1, upper: 2)),
            // These begin after the end.
            ("bytes=100-", 100, .unsatisfiable),
            ("bytes=100-200", 100, .unsatisfiable),
            ("bytes=-0", 100, .unsatisfiable),
            ("bytes=0-", 0, .unsatisfiable),
            ("bytes=0-0", 0, .unsatisfiable),
            ("bytes=-0", 0, .unsatisfiable),
            ("bytes=-5", 0, .whole),
            // These exceed 64 bits.
            ("bytes=0-99999999999999999999", 100, .partial(lower: 0, upper: 99)),
            ("bytes=99999999999999999999-", 100, .unsatisfiable),
            ("bytes=99999999999999999999-99999999999999999999", 100, .unsatisfiable),
            ("bytes=-99999999999999999999", 100, .partial(lower: 0, upper: 99)),
            ("bytes=9223372036854775807-", 100, .unsatisfiable),
            ("bytes=0-", .max, .partial(lower: 0, upper: .max - 1)),
            ("bytes=-9223372036854775807", .max, .partial(lower: 0, upper: .max - 1)),
            // These are ignored: several ranges, another unit, wrong syntax.
            ("bytes=0-1,3-4", 100, .whole),
            ("bytes=0-1,x", 100, .whole),
            ("items=0-1", 100, .whole),
            ("bytes", 100, .whole), ("", 100, .whole), ("bytes=", 100, .whole), ("bytes=-", 100, .whole),
            ("bytes=,", 100, .whole), ("bytes=5", 100, .whole), ("bytes=2-1", 100, .whole), ("bytes=a-b", 100, .whole),
            ("bytes=1-2-3", 100, .whole), ("bytes=+1-2", 100, .whole), ("bytes=1-+2", 100, .whole),
            ("bytes=--1", 100, .whole), ("bytes=0x1-2", 100, .whole), ("bytes=1 -2", 100, .whole),
            ("bytes =1-2", 100, .whole), ("bytes:1-2", 100, .whole), ("bytes=1.0-2", 100, .whole),
            ("bytes=١-٢", 100, .whole), ("0-1", 100, .whole),
        ] as [(String?, Int64, ByteRange)])
    func `the table`(header: String?, size: Int64, expected: ByteRange) {
        #expect(ByteRange(header: header, size: size) == expected)
    }

    @Test func `every range lies within the representation`() {
        var generator = SeededGenerator(state: 11)
        let pieces = ["bytes=", "-", "0", "1", "9", ",", " ", "99999999999999999999", "x", "=", "7"]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...6, using: &generator)
            let header = "bytes=" + (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let size = Int64.random(in: 0...20, using: &generator)
            if case .partial(let lower, let upper) = ByteRange(header: header, size: size) {
                #expect(0 <= lower && lower <= upper && upper < size, "\(header) of \(size)")
            }
        }
    }
}
