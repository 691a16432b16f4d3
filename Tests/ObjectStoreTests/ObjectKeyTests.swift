import ObjectStore
import Testing

@Suite(.timeLimit(.minutes(30))) struct ObjectKeyTests {
    @Test(arguments: [
        "a", "Z9", "a/b/c", "...", "..a", "a..", ".a", "-", "_", "a/.../b", "a/..b/c", "00000000_cat.jpg",
        String(repeating: "a", count: 512),
    ])
    func `allowed names`(name: String) {
        #expect(ObjectKey(name)?.rawValue == name)
    }

    @Test(arguments: [
        "", "/", "/a", "a/", "a//b", ".", "..", "./a", "../a", "a/..", "a/../b", "a/./b", "a/.", "//", "a\\b", "a b",
        "a%2Fb", "%2e%2e/a", "a\0", "a\nb", "ä", "a\u{301}", "~", "a+b", "a?b", "a#b", "C:a",
        String(repeating: "a", count: 513),
    ])
    func `names that are refused`(name: String) {
        #expect(ObjectKey(name) == nil)
    }

    @Test func `every other byte is refused`() {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".utf8)
        for byte in UInt8.min...127 {
            let name = "a" + String(UnicodeScalar(byte)) + "b"
            #expect((ObjectKey(name) != nil) == (allowed.contains(byte) || byte == UInt8(ascii: "/")))
        }
    }
}
