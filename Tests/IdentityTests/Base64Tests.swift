import Testing

@testable import Identity

@Suite(.timeLimit(.minutes(30))) struct Base64Tests {
    @Test(
        arguments: [
            ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("-_-_", [0xFB, 0xFF, 0xBF]),
        ] as [(String, [UInt8])])
    func `known values of RFC 4648 in both directions`(text: String, bytes: [UInt8]) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test(arguments: ["Zg==", "Zh", "Z", "Zm9v\n", " Zm9v", "+/+/", "Zm9v=", "Zm 9v", "Zm9ü", "====", "Zg=="])
    func `other spellings are refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `random tokens have the stated length and differ`() {
        let tokens = (0..<1000).map { _ in RandomToken.make() }
        #expect(tokens.allSatisfy { $0.utf8.count == 43 && Base64URL.decode($0)?.count == 32 })
        #expect(Set(tokens).count == tokens.count)
        #expect(Base64URL.decode(RandomToken.make(bytes: 16))?.count == 16)
    }

    @Test func `the digest is SHA-256`() {
        let digest = Digest.sha256("abc").map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
