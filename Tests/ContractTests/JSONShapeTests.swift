import Contract
import Foundation
import Testbed
import Testing

/// A body's shape is checked before the parser sees it.
@Suite(.timeLimit(.minutes(30))) struct JSONShapeTests {
    private func isObject(_ text: String) -> Bool { JSONShape.isObject(Array(text.utf8)) }

    @Test(arguments: [
        "{}", " {}", "\t\r\n {\n}\n ", #"{"a":1}"#, #"{"a":[1,{"b":null}]}"#,
        // Brackets and quotes inside a string are text.
        #"{"a":"}]{["}"#, #"{"a":"\""}"#, #"{"a":"\\"}"#, #"{"a":"\\\"}"}"#, #"{"\"{":"\\\\"}"#,
        #"{"a":"é漢🎉"}"#,
        #"{"a":-0,"b":0.5,"c":-1.25E+10,"d":1e-2,"e":120,"f":true,"g":false,"h":null,"i":[],"j":{}}"#,
        #" { "a" : [ 1 , { "b" : "c" } , [ ] ] , "d" : { } } "#,
        #"{"":"","a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}"#,
        #"{"\uD83D\ude00":"\uD800\uDC00 \uDBFF\uDFFF \uD7FF\uE000"}"#,
        // The same key in different objects is no repetition.
        #"{"a":{"a":{"a":1}},"b":{"a":1},"c":[{"a":1},{"a":1}]}"#, #"{"a":1,"A":2,"á":3,"aa":4,"":5}"#,
        // An escaped NUL is checked with the field, not with the shape.
        #"{"a":"\u0000"}"#,
    ])
    func objects(_ text: String) {
        #expect(isObject(text))
    }

    @Test(arguments: [
        // A lenient parser overlooks these errors, also in members that no operation reads.
        #"{"a":1,}"#, #"{"a":[1,]}"#, #"{,}"#, #"{"a":1,,"b":2}"#, #"{"a":[,1]}"#, #"{"a":[1 2]}"#, #"{"a":1 "b":2}"#,
        #"{"a"}"#, #"{"a":}"#, #"{"a"1}"#, #"{a:1}"#, #"{'a':1}"#, #"{1:1}"#, #"{"a":1]"#, #"{"a":[1}}"#, "{}{}",
        "{} x",
        #"{"a":tru}"#, #"{"a":True}"#, #"{"a":nulll}"#, #"{"a":undefined}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#,
        #"{"a":01}"#, #"{"a":-}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":1e+}"#, #"{"a":0x1}"#,
        #"{"a":"\q"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\"}"#, #"{"a":"b}"#, "{\"a\":\"\n\"}",
        "{\"a\":\"\u{1F}\"}", "{\"a\":\"\t\"}", "{/**/}", "{}//", "{", #"{"a":{"#, #"{"a":["#, #"{"a":"#, #"{"a""#,
        "", " ", "\n", "[]", "[{}]", "\"{}\"", "1", "null", "true", "x{}", ",{}", "}{", "]",
        // Half of a surrogate pair is not a character.
        #"{"a":"\uD800"}"#, #"{"a":"\udfff"}"#, #"{"a":"\uDC00\uD800"}"#, #"{"a":"\uD800x\uDC00"}"#,
        #"{"a":"\uD800\uD800\uDC00"}"#, #"{"a":"\uD800\u12"}"#, #"{"a":"\uD800\n"}"#, #"{"\uD800":1}"#,
        // JSON allows no other white space.
        "\u{C}{}", "\u{A0}{}", "\u{2028}{}",
        // JSON allows no byte order mark.
        "\u{FEFF}{}",
        // A key that comes twice has two values, wherever the object is and however the key is written.
        #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"x":{"a":1,"a":2}}"#, #"{"x":[1,{"a":{},"b":[],"a":0}]}"#,
        #"{"":1,"":2}"#, #"{"a":1,"\u0061":2}"#, #"{"\/":1,"/":2}"#, #"{"é":1,"\u00e9":2}"#, #"{"é":1,"e\u0301":2}"#,
        #"{"\uD83D\ude00":1,"😀":2}"#, #"{"K":1,"\u212a":2}"#,
        "{\u{0}}", "{}\u{0}", "{\"a\":\"\u{0}\"}", "\u{0}{}",
    ])
    func others(_ text: String) {
        #expect(!isObject(text))
    }

    @Test(arguments: [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian, .utf32])
    func otherEncodings(_ encoding: String.Encoding) throws {
        let bytes = try #require(#"{"a":"b"}"#.data(using: encoding))
        #expect(!JSONShape.isObject([UInt8](bytes)))
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0xC3, 0x28], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0x80],
        ] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
        #expect(!JSONShape.isObject(text))
        #expect(!JSONShape.isObject(Array(#"{"a":1}"#.utf8) + bytes))
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func depth(_ open: String, _ close: String) {
        func nested(_ count: Int) -> String {
            let inner = String(repeating: open, count: count - 1) + "1" + String(repeating: close, count: count - 1)
            return #"{"a":"# + inner + "}"
        }
        #expect(isObject(nested(64)))
        #expect(!isObject(nested(65)))
        #expect(!isObject(nested(100_000)))
        // Elements of a list are not nested.
        let wide = #"{"a":["# + Array(repeating: open + "1" + close, count: 1000).joined(separator: ",") + "]}"
        #expect(isObject(wide))
    }

    @Test func hostileBytesAreScannedOnce() {
        #expect(!JSONShape.isObject(Array(repeating: UInt8(ascii: "{"), count: 1_048_576)))
        #expect(!JSONShape.isObject(Array(repeating: UInt8(ascii: " "), count: 1_048_576)))
        let text = Array("{\"a\":\"".utf8) + Array(repeating: UInt8(ascii: "["), count: 1_048_576)
        #expect(!JSONShape.isObject(text))
        #expect(JSONShape.isObject(text + Array("\"}".utf8)))
    }

    /// Many keys take a time that grows with their number.
    @Test(arguments: [2, 16, 17, 33, 100_000]) func aKeyIsFoundAmongMany(_ count: Int) {
        let members = (0..<count).map { #""key\#($0)":[{"key\#($0)":1}]"# }
        func object(_ members: [String]) -> [UInt8] { Array("{\(members.joined(separator: ","))}".utf8) }
        #expect(JSONShape.isObject(object(members)))
        for place in [0, count / 2, count - 1] {
            #expect(!JSONShape.isObject(object(members + [#""key\#(place)":0"#])))
            #expect(!JSONShape.isObject(object([#""\u006Bey\#(place)":0"#] + members)))
        }
    }

    /// Every object that Foundation writes passes; every list is refused.
    @Test func agreesWithFoundation() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<300 {
            let object = [random.text(): [random.text(), random.text()]]
            let json = [UInt8](try JSONEncoder().encode(object))
            #expect(JSONShape.isObject(json))
            // An object that was cut short or has a byte too many is refused.
            let cut = Int.random(in: 0..<json.count, using: &random)
            #expect(!JSONShape.isObject(json[..<cut]))
            #expect(!JSONShape.isObject(json + [UInt8(ascii: "}")]))
            #expect(!JSONShape.isObject([UInt8](try JSONEncoder().encode([object]))))
        }
    }
}
