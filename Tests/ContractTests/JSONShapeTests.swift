import Contract
import Foundation
import Testbed
import Testing

/// The look at a body before the parser sees it.
@Suite(.timeLimit(.minutes(30))) struct JSONShapeTests {
    private func isObject(_ text: String) -> Bool { JSONShape.isObject(Array(text.utf8)) }

    @Test(arguments: [
        "{}", " {}", "\t\r\n {\n}\n ", #"{"a":1}"#, #"{"a":[1,{"b":null}]}"#,
        // What looks like structure inside a string is text.
        #"{"a":"}]{["}"#, #"{"a":"\""}"#, #"{"a":"\\"}"#, #"{"a":"\\\"}"}"#, #"{"\"{":"\\\\"}"#,
        #"{"a":"é漢🎉"}"#,
        #"{"a":-0,"b":0.5,"c":-1.25E+10,"d":1e-2,"e":120,"f":true,"g":false,"h":null,"i":[],"j":{}}"#,
        #" { "a" : [ 1 , { "b" : "c" } , [ ] ] , "d" : { } } "#,
        #"{"":"","a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}"#,
        #"{"\uD83D\ude00":"\uD800\uDC00 \uDBFF\uDFFF \uD7FF\uE000"}"#,
        // An escaped NUL is a field's business, not the shape's.
        #"{"a":"\u0000"}"#,
    ])
    func objects(_ text: String) {
        #expect(isObject(text))
    }

    @Test(arguments: [
        // What a lenient parser overlooks, in what nobody reads too.
        #"{"a":1,}"#, #"{"a":[1,]}"#, #"{,}"#, #"{"a":1,,"b":2}"#, #"{"a":[,1]}"#, #"{"a":[1 2]}"#, #"{"a":1 "b":2}"#,
        #"{"a"}"#, #"{"a":}"#, #"{"a"1}"#, #"{a:1}"#, #"{'a':1}"#, #"{1:1}"#, #"{"a":1]"#, #"{"a":[1}}"#, "{}{}",
        "{} x",
        #"{"a":tru}"#, #"{"a":True}"#, #"{"a":nulll}"#, #"{"a":undefined}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#,
        #"{"a":01}"#, #"{"a":-}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":1e+}"#, #"{"a":0x1}"#,
        #"{"a":"\q"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\"}"#, #"{"a":"b}"#, "{\"a\":\"\n\"}",
        "{\"a\":\"\u{1F}\"}", "{\"a\":\"\t\"}", "{/**/}", "{}//", "{", #"{"a":{"#, #"{"a":["#, #"{"a":"#, #"{"a""#,
        "", " ", "\n", "[]", "[{}]", "\"{}\"", "1", "null", "true", "x{}", ",{}", "}{", "]",
        // Half of a surrogate pair is no character.
        #"{"a":"\uD800"}"#, #"{"a":"\udfff"}"#, #"{"a":"\uDC00\uD800"}"#, #"{"a":"\uD800x\uDC00"}"#,
        #"{"a":"\uD800\uD800\uDC00"}"#, #"{"a":"\uD800\u12"}"#, #"{"a":"\uD800\n"}"#, #"{"\uD800":1}"#,
        // Other white space is none in JSON.
        "\u{C}{}", "\u{A0}{}", "\u{2028}{}",
        // A byte order mark is no JSON either.
        "\u{FEFF}{}",
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
        // One after the other is not within each other.
        let wide = #"{"a":["# + Array(repeating: open + "1" + close, count: 1000).joined(separator: ",") + "]}"
        #expect(isObject(wide))
    }

    @Test func hostileBytesAreLookedAtOnce() {
        #expect(!JSONShape.isObject(Array(repeating: UInt8(ascii: "{"), count: 1_048_576)))
        #expect(!JSONShape.isObject(Array(repeating: UInt8(ascii: " "), count: 1_048_576)))
        let text = Array("{\"a\":\"".utf8) + Array(repeating: UInt8(ascii: "["), count: 1_048_576)
        #expect(!JSONShape.isObject(text))
        #expect(JSONShape.isObject(text + Array("\"}".utf8)))
    }

    /// Whatever Foundation writes for an object passes; whatever it writes for a list does not.
    @Test func agreesWithFoundation() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<300 {
            let object = [random.text(): [random.text(), random.text()]]
            let json = [UInt8](try JSONEncoder().encode(object))
            #expect(JSONShape.isObject(json))
            // Cut short anywhere it is no object, and neither is it with a byte too many.
            let cut = Int.random(in: 0..<json.count, using: &random)
            #expect(!JSONShape.isObject(json[..<cut]))
            #expect(!JSONShape.isObject(json + [UInt8(ascii: "}")]))
            #expect(!JSONShape.isObject([UInt8](try JSONEncoder().encode([object]))))
        }
    }
}
