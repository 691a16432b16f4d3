import ObjectStore
import Testing

@Suite(.timeLimit(.minutes(30))) struct HTTPDateTests {
    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] as [(Int64, String)])
    func `a time is written and read`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(seconds) == text)
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nom 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "784111777",
    ])
    func `other texts are none`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
