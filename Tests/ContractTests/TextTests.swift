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

    @Test(arguments: [
        "", " ", "\t\r\n", "\u{85}", "\u{A0}", "\u{3000}", "\u{2028}", "\u{200B}", "\u{FEFF}", "\u{2800}", "\u{3164}",
        "\u{115F}",
        "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{FFA0}", "\u{AD}", "\u{34F}", "\u{61C}", "\u{180B}", "\u{180E}",
        "\u{200D}",
        "\u{200F}", "\u{202E}", "\u{2066}", "\u{FE0F}", "\u{FFF0}", "\u{1D173}", "\u{1BCA0}", "\u{E0001}", "\u{E0020}",
        "\u{E0100}", " \u{200B}\u{2800}\n",
    ])
    func aTextThatShowsNothingIsBlank(_ text: String) {
        #expect(text.isBlank)
        #expect(text.trimmed == "")
    }

    @Test(arguments: [
        ("a", "a"), (" a ", "a"), ("\u{FE0F}a", "\u{FE0F}a"), ("❤️", "❤️"), ("\u{3164}ㅏ", "\u{3164}ㅏ"), ("⠁", "⠁"),
        ("\u{301}", "\u{301}"),
        ("\u{7}", "\u{7}"), ("\u{FFFC}", "\u{FFFC}"), ("\u{E000}", "\u{E000}"), (" 👩‍👩‍👧\n", "👩‍👩‍👧"),
    ])
    func anyOtherTextIsKeptWithoutSpaceAtItsEnds(_ text: String, _ kept: String) {
        #expect(!text.isBlank)
        #expect(text.trimmed == kept)
    }

    @Test(arguments: texts) func aNULIsNoticed(_ text: String) {
        #expect(text.containsNUL == text.unicodeScalars.contains("\0"))
    }
}
