import Contract
import Testbed
import Testing

/// The names of uploaded files are safe to store and to show, and keep their extensions.
@Suite(.timeLimit(.minutes(30))) struct FileNameTests {
    private static let a = String(repeating: "a", count: 300)
    private static let party = String(repeating: "🎉", count: 70)
    private static let family = "👩‍👩‍👧"

    @Test(arguments: [
        ("photo.jpg", "photo.jpg"), ("", "file"), (".", "file"), ("..", "file"), ("/", "file"), ("a/..", "file"),
        ("../../etc/passwd", "passwd"), ("../\u{301}a", "\u{301}a"), (#"C:\x\y.png"#, "y.png"), (" a.txt ", "a.txt"),
        ("a\r\nb\0\u{85}.txt", "ab.txt"),
        ("\u{202E}gpj.exe", "gpj.exe"), ("a\u{202A}\u{202B}\u{202C}\u{202D}\u{2066}\u{2067}\u{2068}\u{2069}b", "ab"),
        ("a\u{200E}\u{200F}\u{61C}\u{2028}\u{2029}b", "ab"), ("\u{200B}\u{2800}", "file"),
        ("❤️ \(family).png", "❤️ \(family).png"),
        ("می‌خواهم.pdf", "می‌خواهم.pdf"),
        // A long name loses the end of its stem.
        (a + ".jpeg", String(repeating: "a", count: 250) + ".jpeg"), (a, String(repeating: "a", count: 255)),
        (party + ".png", String(repeating: "🎉", count: 62) + ".png"), (party, String(repeating: "🎉", count: 63)),
        (String(repeating: family, count: 20) + ".png", String(repeating: family, count: 13) + ".png"),
        ("." + a, "." + String(repeating: "a", count: 254)), (a + "." + a, String(repeating: "a", count: 255)),
        (a + ".", String(repeating: "a", count: 254) + "."),
        ("e" + String(repeating: "\u{301}", count: 200) + ".png", "file.png"),
    ])
    func clean(_ declared: String, _ name: String) { #expect(FileName.clean(declared) == name) }

    @Test func noNameIsTooLongOrChangesAgain() {
        var random = SeededGenerator(seed: 12)
        let pieces = ["a", ".", "é", "🎉", Self.family, "\u{301}", " ", "\u{202E}", "/", "\n", "\u{200D}", "漢", ".jpeg"]
        for _ in 0..<2000 {
            let count = Int.random(in: 0...120, using: &random)
            let name = FileName.clean((0..<count).map { _ in pieces.randomElement(using: &random)! }.joined())
            #expect(1...255 ~= name.utf8.count)
            #expect(FileName.clean(name) == name, "\(name.debugDescription)")
        }
    }
}
