import Contract
import Testbed
import Testing

@testable import ContractServer

/// Queries are decoded in the forms that browsers and people write.
@Suite(.timeLimit(.minutes(30))) struct FormURLEncodedTests {
    @Test(arguments: [
        ("", []),
        ("a=1", ["a", "1"]),
        ("a=1&b=2", ["a", "1", "b", "2"]),
        ("b=2&a=1&b=3", ["b", "2", "a", "1", "b", "3"]),
        ("a", ["a", ""]),
        ("a=", ["a", ""]),
        ("=a", ["", "a"]),
        ("=", ["", ""]),
        ("&&a=1&&", ["a", "1"]),
        ("a=b=c", ["a", "b=c"]),
        ("a==", ["a", "="]),
        ("a=1;b=2", ["a", "1;b=2"]),
        ("q=two+words", ["q", "two words"]),
        ("q=1%2B1%3D2", ["q", "1+1=2"]),
        ("%71=%61%26%62", ["q", "a&b"]),
        ("q=%C3%A9%e2%82%ac%F0%9F%98%80", ["q", "é€😀"]),
        ("q=é€", ["q", "é€"]),
        ("q=%00", ["q", "\0"]),
        // A percent sign that begins no escape stays.
        ("q=%", ["q", "%"]),
        ("q=100%&r=%4", ["q", "100%", "r", "%4"]),
        ("q=%zz%4g%%41", ["q", "%zz%4g%A"]),
        // Escapes are decoded once.
        ("q=%2541", ["q", "%41"]),
        // Invalid UTF-8 becomes the replacement character.
        ("q=%FF", ["q", "\u{FFFD}"]),
        ("q=a%C3", ["q", "a\u{FFFD}"]),
    ])
    func items(_ query: String, _ expected: [String]) {
        #expect(FormURLEncoded.items(query).flatMap { [$0.name, $0.value] } == expected)
    }

    @Test func aPlusInAPathIsAPlus() {
        #expect(FormURLEncoded.percentDecode("a+b%2Bc%20d", plusIsSpace: false) == "a+b+c d")
    }

    @Test func theServerReadsTheSDKsForms() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let pairs = (0..<3).map { _ in (name: random.text(), value: random.text()) }
            let query = pairs.map {
                RequestCoding.percentEncoded($0.name) + "=" + RequestCoding.percentEncoded($0.value)
            }
            let items = FormURLEncoded.items(query.joined(separator: "&"))
            #expect(items.map(\.name) == pairs.map(\.name))
            #expect(items.map(\.value) == pairs.map(\.value))
            let step = RequestCoding.percentEncoded(pairs[0].value)
            #expect(FormURLEncoded.percentDecode(step, plusIsSpace: false) == pairs[0].value)
        }
    }
}
