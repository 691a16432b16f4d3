import Testbed

/// A generator of requests that are almost valid.
struct RequestGenerator {
    private static let valid = RequestTexts.valid.map { Array($0.text.utf8) }
    private static let others = (RequestTexts.incomplete + RequestTexts.malformed).map { Array($0.utf8) }
    private static let tokens = [
        "\r\n", "\n", "\r", "\r\n\r\n", "\n\n", " ", "\t", ":", ",", ";", "\u{0}", "\u{B}", "\u{7F}", "\u{E9}", "0",
        "5", "-",
        "+", "0x", "/", "http://", "HTTP/1.1", "HTTP/1.0", "GET ", "Host: b\r\n", "Content-Length: 5\r\n",
        "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n", "chunked", "identity",
        "Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: Upgrade\r\n", "Upgrade: h2c\r\n",
        "Expect: 100-continue\r\n", "X: y\r\n", " z\r\n", "0\r\n\r\n", "5\r\nhello\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ].map { Array($0.utf8) }

    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns one to three requests with up to four changes.
    mutating func next() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let texts = Int.random(in: 0..<8, using: &random) > 0 ? RequestGenerator.valid : RequestGenerator.others
            bytes += texts.randomElement(using: &random) ?? []
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let index = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, index + Int.random(in: 1...8, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: bytes.replaceSubrange(index..<min(end, index + 1), with: [UInt8.random(in: 0...255, using: &random)])
        case 1: bytes.removeSubrange(index..<min(end, index + 1))
        case 2: bytes.removeSubrange(index..<end)
        case 3: bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 4: repeatLine(at: index, in: &bytes)
        default: insertToken(at: index, in: &bytes)
        }
    }

    /// Inserts a token, most often at the beginning of a line.
    private mutating func insertToken(at index: Int, in bytes: inout [UInt8]) {
        guard let token = RequestGenerator.tokens.randomElement(using: &random) else { return }
        let line = bytes[index...].firstIndex(of: 0x0A).map { $0 + 1 } ?? index
        bytes.insert(contentsOf: token, at: Int.random(in: 0..<3, using: &random) > 0 ? line : index)
    }

    private func repeatLine(at index: Int, in bytes: inout [UInt8]) {
        guard let end = bytes[index...].firstIndex(of: 0x0A) else { return }
        let start = bytes[..<index].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        bytes.insert(contentsOf: bytes[start...end], at: end + 1)
    }
}
