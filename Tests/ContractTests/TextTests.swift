import Contract
import Foundation
import Testing

/// Texts are measured and searched by their UTF-8.
@Suite(.timeLimit(.minutes(30))) struct TextTests {
    private static let texts = ["", "a", "é", "e\u{301}", "😀 and 👩‍👩‍👧", "\0", "a\0b", String(repeating: "ü", count: 1000)]

    @Test(arguments: texts) func aLengthIsThatOfTheUnicodeScalars(_ text: String) {
        #expect(text.length == text.unicodeScalars.count)
        #expect((text + "x").dropLast().description.length == text.unicodeScalars.count)
        #expect(String(NSString(string: text)).length == text.unicodeScalars.count)
    }

    @Test func aByteIsFoundWhereItIs() {
        #expect("".firstIndex(of: UInt8(ascii: "?")) == nil)
        #expect("/path".firstIndex(of: UInt8(ascii: "?")) == nil)
        #expect("?".firstIndex(of: UInt8(ascii: "?")) == 0)
        #expect("/ü?a?".firstIndex(of: UInt8(ascii: "?")) == 3)
    }

    @Test(arguments: texts) func aNULIsNoticed(_ text: String) {
        #expect(text.containsNUL == text.unicodeScalars.contains("\0"))
    }
}
