import Contract
import Foundation
import NIOCore
import Testing

@testable import ContractServer

@Suite(.timeLimit(.minutes(30))) struct JSONBodyTests: JSONTests {
    // MARK: Strings

    @Test(arguments: [
        ("", #""""#),
        (#"""#, #""\"""#),
        (#"\"#, #""\\""#),
        ("/", #""/""#),
        ("\n\t\r\u{8}\u{C}", #""\n\t\r\b\f""#),
        ("\u{0}\u{1}\u{B}\u{1F}", #""\u0000\u0001\u000b\u001f""#),
        ("\u{7F}\u{80}\u{2028}\u{2029}", "\"\u{7F}\u{80}\u{2028}\u{2029}\""),
        ("e\u{301} \u{301} 👩‍👩‍👧 𝄞 ﷽", "\"e\u{301} \u{301} 👩‍👩‍👧 𝄞 ﷽\""),
        (#"{"a":[1]}"#, #""{\"a\":[1]}""#),
    ])
    func strings(_ string: String, _ expected: String) throws {
        #expect(try text(string) == expected)
    }

    /// Escapes are placed at every position of the eight-byte words and of the remainder.
    @Test func escapesEverywhere() throws {
        let ordinary: [String] = ["!", "#", "[", "]", " ", "é", "\u{7F}", "…", "🎉"]
        let special = (0..<0x20).map { String(UnicodeScalar($0)) } + ["\"", "\\"]
        for length in 0...20 {
            for place in 0...length {
                for character in special {
                    var string = ""
                    for index in 0..<length { string += ordinary[(index + length + place) % ordinary.count] }
                    let ascii = String(repeating: "a", count: place) + character
                    let end = String(repeating: "b", count: length - place)
                    for candidate in [ascii + end, ascii + character + end, ascii + string, string + ascii + string] {
                        let json = try text(candidate)
                        #expect(json.utf8.allSatisfy { $0 >= 0x20 })
                        #expect(try JSONDecoder().decode(String.self, from: Data(json.utf8)) == candidate)
                    }
                }
            }
        }
    }

    @Test func everyByteOfAWord() throws {
        for scalar in (0..<0x100).compactMap(UnicodeScalar.init(_:)) {
            for place in 0..<9 {
                let string =
                    String(repeating: "~", count: place) + String(scalar) + String(repeating: "~", count: 9 - place)
                #expect(try roundTrip(string) == string)
            }
        }
    }

    @Test func sampledStrings() throws {
        var random = SplitMix(state: 7)
        let alphabet = Array("\u{0}\u{1F}\"\\/ aZ~\u{7F}éß漢🎉\u{301}\r\n").map(String.init)
        for _ in 0..<2000 {
            let string = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
                alphabet.randomElement(using: &random)!
            }.joined()
            #expect(Array(try roundTrip(string).utf8) == Array(string.utf8))
        }
    }

    @Test func stringsThatAreNotContiguous() throws {
        let base = "say \"hello\" to everyone in the room"
        #expect(try text(NSString(string: base) as String) == #""say \"hello\" to everyone in the room""#)
        #expect(try text(String(base.dropFirst(4).prefix(7))) == #""\"hello\"""#)
        #expect(try text(String(base.reversed()).reversed().map(String.init)).count > base.count)
    }

    @Test func growth() throws {
        let long = String(repeating: "0123456789\n", count: 100_000)
        #expect(try roundTrip(long) == long)
        let controls = String(repeating: "\u{1}", count: 50_000)
        #expect(try text(controls).utf8.count == 300_002)
        // The text ends at every distance from the end of the first block of memory.
        for length in 16_350...16_400 {
            let string = String(repeating: "x", count: length)
            #expect(try text([string, "\"", string]) == "[\"\(string)\",\"\\\"\",\"\(string)\"]")
        }
    }

    // MARK: Numbers

    @Test func integers() throws {
        #expect(
            try text([Int.min, -10, -9, -1, 0, 1, 9, 10, 99, 100, Int.max])
                == "[-9223372036854775808,-10,-9,-1,0,1,9,10,99,100,9223372036854775807]")
        #expect(
            try text([UInt64.max, UInt64.max - 1, 10_000_000_000_000_000_000, 9_999_999_999_999_999_999])
                == "[18446744073709551615,18446744073709551614,10000000000000000000,9999999999999999999]")
        #expect(try text([Int8.min, .max]) == "[-128,127]")
        #expect(try text([Int16.min, .max]) == "[-32768,32767]")
        #expect(try text([Int32.min, .max]) == "[-2147483648,2147483647]")
        #expect(try text([Int64.min, .max]) == "[-9223372036854775808,9223372036854775807]")
        #expect(try text([UInt.max, .min]) == "[18446744073709551615,0]")
        #expect(try text([UInt8.max, .min]) == "[255,0]")
        #expect(try text([UInt16.max, .min]) == "[65535,0]")
        #expect(try text([UInt32.max, .min]) == "[4294967295,0]")
        var power: UInt64 = 1
        for _ in 0..<20 {
            #expect(try text([power - 1, power, power + 1]) == "[\(power - 1),\(power),\(power + 1)]")
            power &*= 10
        }
    }

    @Test(
        arguments: [
            (0.0, "0"), (-0.0, "-0.0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (-2.5, "-2.5"), (1e-7, "1e-07"),
            (9_007_199_254_740_992, "9007199254740992"), (-9_007_199_254_740_992, "-9007199254740992"),
            (1e21, "1e+21"), (.leastNonzeroMagnitude, "5e-324"), (.pi, "3.141592653589793"),
        ] as [(Double, String)])
    func doubles(_ value: Double, _ expected: String) throws {
        #expect(try text(value) == expected)
        #expect(try roundTrip(value) == value)
    }

    @Test func sampledFloatingPoint() throws {
        var random = SplitMix(state: 42)
        var doubles: [Double] = [
            .greatestFiniteMagnitude, .leastNormalMagnitude, .ulpOfOne, 0x1p53 + 2, 0x1p63, -0x1p63,
        ]
        var floats: [Float] = [.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, 16_777_216]
        while doubles.count < 4000 {
            let pattern = random.next()
            doubles.append(Double(bitPattern: pattern))
            doubles.append(Double(Int64(truncatingIfNeeded: pattern) >> 8) / 100)
            floats.append(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
        }
        doubles.removeAll { !$0.isFinite }
        floats.removeAll { !$0.isFinite }
        #expect(try roundTrip(doubles).map(\.bitPattern) == doubles.map(\.bitPattern))
        #expect(try roundTrip(floats) == floats)
    }

    @Test func numbersWithoutJSON() throws {
        struct Sample: Encodable {
            var name = "a"
            var values: [Double]
        }
        for value in [Double.nan, .infinity, -.infinity] {
            #expect(failure([Sample(values: []), Sample(values: [1, value])])?.path == "1.values.1")
            #expect(failure(value)?.reason == "JSON has no \(value)")
        }
        #expect(failure(["ratio": Float.nan])?.path == "ratio")
        #expect(failure(Decimal.nan)?.reason == "JSON has no NaN")
    }

    // MARK: Structure

    struct Everything: Codable, Equatable {
        enum Kind: String, Codable { case text, image }
        enum Level: Int, Codable {
            case low = 1
            case high
        }
        enum Shape: Codable, Equatable {
            case circle(radius: Double)
            case nothing
        }
        struct Point: Codable, Equatable { var x, y: Int }
        struct Nothing: Codable, Equatable {}

        var zebra = "z"
        var apple: String?
        var kind = Kind.image
        var level = Level.high
        var shapes = [Shape.circle(radius: 1.5), .nothing]
        var point = Point(x: 1, y: -1)
        var points = [[Point(x: 1, y: 2)], [], [Point(x: 3, y: 4), Point(x: 5, y: 6)]]
        var optionals: [Int?] = [1, nil, 3]
        var counts = ["a \"b\"": 1, "c": 2]
        var byNumber = [7: ["x"]]
        var flags = [true, false]
        var nothing = Nothing()
        var empty: [Nothing] = []
        var bytes: Set<UInt8> = [200]
        var range = 1..<5
        var uuid = UUID()
        var url = URL(string: "https://example.com/a?b=c#d")!
        var amount = Decimal(string: "-123.45")!
        var data = Data([0, 255, 7])
        var optionalID: UUID? = UUID()
    }

    @Test func roundTrips() throws {
        let value = Everything()
        #expect(try roundTrip(value) == value)
        #expect(try roundTrip([value, value]) == [value, value])
    }

    @Test func declarationOrder() throws {
        var value = Everything()
        value.counts = ["only": 1]
        value.uuid = UUID(uuidString: "DEADBEEF-0123-4567-89AB-CDEF01234567")!
        value.optionalID = value.uuid
        #expect(
            try text(value) == """
                {"zebra":"z","kind":"image","level":2,"shapes":[{"circle":{"radius":1.5}},{"nothing":{}}],\
                "point":{"x":1,"y":-1},"points":[[{"x":1,"y":2}],[],[{"x":3,"y":4},{"x":5,"y":6}]],\
                "optionals":[1,null,3],"counts":{"only":1},"byNumber":{"7":["x"]},"flags":[true,false],"nothing":{},\
                "empty":[],"bytes":[200],"range":[1,5],"uuid":"deadbeef-0123-4567-89ab-cdef01234567",\
                "url":"https://example.com/a?b=c#d","amount":-123.45,"data":"AP8H",\
                "optionalID":"deadbeef-0123-4567-89ab-cdef01234567"}
                """)
    }

    @Test func fragments() throws {
        #expect(try text(true) == "true")
        #expect(try text("a") == #""a""#)
        #expect(try text(Int?.none) == "null")
        #expect(try text([Int]()) == "[]")
        #expect(try text([String: Int]()) == "{}")
        #expect(try text(Everything.Kind.text) == #""text""#)
        #expect(try text([[[Int]]]()) == "[]")
        #expect(try text([[[1], []]]) == "[[[1],[]]]")
    }

    @Test func nullsAndOmissions() throws {
        struct Nulls: Encodable {
            var omitted: String?
            var written: String?

            enum CodingKeys: CodingKey { case omitted, written, direct }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encodeIfPresent(omitted, forKey: .omitted)
                try container.encode(written, forKey: .written)
                try container.encodeNil(forKey: .direct)
            }
        }
        #expect(try text(Nulls()) == #"{"written":null,"direct":null}"#)
        #expect(try text(Nulls(omitted: "a", written: "b")) == #"{"omitted":"a","written":"b","direct":null}"#)
    }

    @Test func nestedContainers() throws {
        let json = try written { encoder in
            var object = encoder.container(keyedBy: JSONText.Key.self)
            var list = object.nestedUnkeyedContainer(forKey: "list")
            try list.encode(1)
            #expect(list.count == 1)
            var inner = list.nestedContainer(keyedBy: JSONText.Key.self)
            try inner.encode("a\nb", forKey: "text")
            var deepest = inner.nestedUnkeyedContainer(forKey: "deepest")
            #expect(deepest.codingPath.map(\.stringValue) == ["list", "1", "deepest"])
            try deepest.encodeNil()
            try deepest.encode([1.5])
            try inner.encode(true, forKey: "after")
            var empty = list.nestedUnkeyedContainer()
            _ = empty.nestedContainer(keyedBy: JSONText.Key.self)
            #expect(list.count == 3 && empty.count == 1)
            try list.encode(UInt8(2))
            var last = object.nestedContainer(keyedBy: JSONText.Key.self, forKey: "quo\"te")
            try last.encode(1, forKey: "a")
            #expect(last.codingPath.map(\.stringValue) == [#"quo\"te"#])
            #expect(object.codingPath.isEmpty && encoder.codingPath.isEmpty && encoder.userInfo.isEmpty)
        }
        #expect(json == #"{"list":[1,{"text":"a\nb","deepest":[null,[1.5]],"after":true},[{}],2],"quo\"te":{"a":1}}"#)
    }

    @Test func inheritance() throws {
        class Animal: Encodable {
            var name = "Rex"
            var tags = ["a"]
        }
        class Dog: Animal {
            var tail = true

            enum CodingKeys: CodingKey { case tail, base }

            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(tail, forKey: .tail)
                try super.encode(to: encoder)
                try container.encodeNil(forKey: .base)
            }
        }
        final class Puppy: Dog {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try super.encode(to: container.superEncoder())
                try super.encode(to: container.superEncoder(forKey: .base))
                try container.encode(false, forKey: .tail)
            }
        }
        let dog = #"{"tail":true,"name":"Rex","tags":["a"],"base":null}"#
        #expect(try text(Dog()) == dog)
        #expect(try text([Puppy()]) == #"[{"super":\#(dog),"base":\#(dog),"tail":false}]"#)
        #expect(
            try written { encoder in
                var list = encoder.unkeyedContainer()
                try Dog().encode(to: list.superEncoder())
                try 5.encode(to: list.superEncoder())
                var again = encoder.unkeyedContainer()
                try again.encode(6)
            } == "[\(dog),5,6]")
    }

    @Test func anyEncodable() throws {
        let values: [any Encodable] = [
            1, "a", UUID?.none, [true], UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        ]
        let json = try written { encoder in
            var list = encoder.unkeyedContainer()
            for value in values { try list.encode(value) }
        }
        #expect(json == #"[1,"a",null,[true],"01020304-0506-0708-090a-0b0c0d0e0f10"]"#)
    }
}

/// A seeded generator (SplitMix64), so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
