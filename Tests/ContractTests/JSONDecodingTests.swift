import Foundation
import Testbed
import Testing

@testable import Contract

/// Requests are decoded by a decoder of Concord's own, which must do what Foundation's does.
@Suite(.timeLimit(.minutes(30))) struct JSONDecodingTests {
    private typealias Value = Codable & Equatable & Sendable

    private struct NoObject: Error {}

    private func decode<T: Decodable>(_: T.Type, _ text: String) throws -> T {
        guard let document = JSONDocument(object: Array(text.utf8)) else { throw NoObject() }
        return try T(from: JSONValueDecoder(document: document, index: 0))
    }

    /// The kind and the path of an error, or the JSON of a value, in which equal strings have equal bytes.
    private func outcome<T: Value>(_ decode: () throws -> T) throws -> String {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(try decode()), as: UTF8.self)
        } catch DecodingError.typeMismatch(_, let context) {
            return "another type at \(path(context))"
        } catch DecodingError.valueNotFound(_, let context) {
            return "no value at \(path(context))"
        } catch DecodingError.keyNotFound(let key, let context) {
            return "no \(key.stringValue) at \(path(context))"
        } catch DecodingError.dataCorrupted(let context) {
            return "no such value at \(path(context))"
        }
    }

    private func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "/")
    }

    /// Returns whether both decode a value.
    private func compare<T: Value>(_ type: T.Type, _ text: String, isOrdered: Bool) throws -> Bool {
        // An object of random names may have one twice, which Foundation accepts.
        if !JSONShape.isObject(text.utf8) { return false }
        let ours = try outcome { try decode(type, text) }
        let theirs = try outcome { try JSONDecoder().decode(type, from: Data(text.utf8)) }
        let areErrors = !ours.hasPrefix("{") && !theirs.hasPrefix("{")
        // Foundation does not say where a number is that its type does not have.
        let isAlike = theirs == "no such value at " && ours.hasPrefix(theirs)
        #expect(ours == theirs || isAlike || areErrors && !isOrdered, "\(type) of \(text): \(ours), \(theirs)")
        return ours.hasPrefix("{")
    }

    // MARK: Random types and texts

    /// A type, and texts of values that it can have, and of some that it cannot.
    private struct Kind {
        let type: any Value.Type
        /// Whether members are decoded in an order that is always the same, so that the first error is, too.
        var isOrdered = true
        let text: (inout SeededGenerator) -> String
    }

    private struct Pair<First: Value>: Value {
        var a: First
        var other: First?
        var name: String?

        enum CodingKeys: String, CodingKey {
            case a
            case other = "K"
            case name = "\u{E9}"
        }
    }

    private static let numbers = [
        "0", "-0", "1", "-1", "7", "127", "128", "-129", "255", "256", "65536", "4294967296", "9007199254740991",
        "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "123456789012345678901234567890",
        "1.0", "1.5", "-2.0", "1e2", "1E+2", "100e-2", "1e18", "1e19", "1e400", "-1e400", "1e-400", "0.0", "-0.0",
        "0e5", "0.00e-3", "9007199254740993.0", "9007199254740992.0", "9223372036854775807.0", "5e-324",
        "1.7976931348623157e308", "3.5e38", "1e-46", "0.1", "1.0000000000000000001", "3.141592653589793238462643",
    ]

    private static func string(_ random: inout SeededGenerator) -> String {
        var text = "\""
        for scalar in random.text(upTo: 8).unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || Int.random(in: 0..<4, using: &random) == 0:
                text += UTF16.encode(scalar)!.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + ["", "", "\\b\\f\\/", "\\u0000"].randomElement(using: &random)! + "\""
    }

    private static func one(_ texts: [String]) -> (inout SeededGenerator) -> String {
        { random in texts.randomElement(using: &random)! }
    }

    private static var leaves: [Kind] {
        ([
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt32.self, UInt64.self,
            Double.self, Float.self, Decimal.self, Identifier<Int>.self, JSONValue.self,
        ] as [any Value.Type]).map { Kind(type: $0, text: one(numbers)) } + [
            Kind(type: Bool.self, text: one(["true", "false"])), Kind(type: String.self, text: string),
            Kind(type: TextIdentifier<Int>.self, text: string), Kind(type: JSONValue.self, text: anything),
            Kind(type: Day.self, text: one([#""2026-02-23""#, #""2026-02-30""#, #""2026\u002d02-23""#])),
            Kind(type: Timestamp<Seconds>.self, text: one([#""2026-02-23T10:00:00Z""#, #""soon""#])),
            Kind(type: URL.self, text: one([#""https://example.com/\u00e9""#, #""""#, #""http://[""#])),
            Kind(type: Data.self, text: one([#""aGk=""#, #""aGk""#, #""?""#])),
            Kind(type: UUID.self, text: one([#""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#, #""E621""#])),
            Kind(type: Date.self, text: one(numbers)),
        ]
    }

    private static func anything(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: "null"
        case 1: "true"
        case 2: "[]"
        case 3: "{}"
        case 4: "[\(anything(&random)), \(anything(&random))]"
        case 5: "{\(string(&random)):\(anything(&random)),\"a\":1}"
        case 6, 7: string(&random)
        default: numbers.randomElement(using: &random)!
        }
    }

    private static func space(_ random: inout SeededGenerator) -> String {
        ["", "", "", " ", "\n", "\t\r "].randomElement(using: &random)!
    }

    /// Joins texts by commas, with space around them.
    private static func list(_ texts: [String], _ random: inout SeededGenerator) -> String {
        texts.map { space(&random) + $0 + space(&random) }.joined(separator: ",")
    }

    private static func pairs<T: Value>(of type: T.Type, _ text: @escaping (inout SeededGenerator) -> String) -> Kind {
        Kind(type: Pair<T>.self) { random in
            // Names that are equal to Swift, though not byte for byte, of which an object has one.
            let names = [
                ["a", "\\u0061"], ["K", "\u{212A}", "\\u212a"], ["\u{E9}", "e\u{301}", "\\u00e9", "e\\u0301"], [""],
                ["b"], ["A"],
            ].map { $0.randomElement(using: &random)! }
            var members = ["\"\(names[0])\":" + text(&random)]
            for name in names.dropFirst().shuffled(using: &random).prefix(Int.random(in: 0..<4, using: &random)) {
                let isText = name.contains("e") || name.contains("\u{E9}")
                members.append(#""\#(name)""# + space(&random) + ":" + (isText ? string(&random) : text(&random)))
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                members += (0..<40).map { #""member\#($0)":\#($0)"# }
            }
            return "{\(list(members.shuffled(using: &random), &random))}"
        }
    }

    private static func lists<T: Value>(of _: T.Type, _ text: @escaping (inout SeededGenerator) -> String) -> Kind {
        Kind(type: [T].self) { random in
            let count = Int.random(in: 0..<4, using: &random)
            return "[\(list((0..<count).map { _ in text(&random) }, &random))]"
        }
    }

    private static func tables<T: Value>(of _: T.Type, _ text: @escaping (inout SeededGenerator) -> String) -> Kind {
        Kind(type: [String: T].self) { random in
            let count = [0, 1, 2, 40].randomElement(using: &random)!
            return "{\(list((0..<count).map { _ in string(&random) + ":" + text(&random) }, &random))}"
        }
    }

    private static func optionals<T: Value>(of _: T.Type, _ text: @escaping (inout SeededGenerator) -> String) -> Kind {
        Kind(type: T?.self) { Bool.random(using: &$0) ? "null" : text(&$0) }
    }

    private static func nullables<T: Value>(of _: T.Type, _ text: @escaping (inout SeededGenerator) -> String) -> Kind {
        Kind(type: OrNull<T>.self) { Bool.random(using: &$0) ? "null" : text(&$0) }
    }

    private static func kind(_ random: inout SeededGenerator) -> Kind {
        var kind = leaves.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            let (inner, isOrdered) = (kind.text, kind.isOrdered)
            let text = { (random: inout SeededGenerator) in
                Int.random(in: 0..<24, using: &random) == 0 ? anything(&random) : inner(&random)
            }
            let choice = Int.random(in: 0..<5, using: &random)
            switch choice {
            case 0: kind = pairs(of: kind.type, text)
            case 1: kind = lists(of: kind.type, text)
            case 2: kind = tables(of: kind.type, text)
            case 3: kind = nullables(of: kind.type, text)
            default: kind = optionals(of: kind.type, text)
            }
            kind.isOrdered = isOrdered && choice != 2
        }
        var whole = pairs(of: kind.type, kind.text)
        whole.isOrdered = kind.isOrdered
        return whole
    }

    @Test(arguments: 0..<4) func `decodes and refuses what Foundation does`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var decoded = 0
        for _ in 0..<200 {
            let kind = Self.kind(&random)
            if try compare(kind.type, kind.text(&random), isOrdered: kind.isOrdered) { decoded += 1 }
            // Other tests need the thread, too.
            await Task.yield()
        }
        // Neither values nor errors are rare.
        #expect(40...160 ~= decoded)
    }

    @Test(arguments: [
        #"{"a": null}"#, #"{"a": 1}"#, #"{"a": []}"#, #"{"a": {}}"#, #"{"a": true}"#, #"{"a": "x"}"#, "{}",
    ]) func `a value of another type is refused as Foundation does`(_ text: String) throws {
        let types: [any Value.Type] = [
            Pair<Bool>.self, Pair<String>.self, Pair<Int>.self, Pair<Double>.self, Pair<Float>.self, Pair<URL>.self,
            Pair<Decimal>.self, Pair<Data>.self, Pair<UUID>.self, Pair<[Int]>.self, Pair<Pair<Int>>.self,
            Pair<[String: Int]>.self, Pair<Identifier<Int>>.self, Pair<OrNull<Bool>>.self, Pair<Bool?>.self,
        ]
        for type in types { _ = try compare(type, text, isOrdered: true) }
    }
}
