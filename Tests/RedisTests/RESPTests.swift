import NIOCore
import Testing

@testable import Redis

@Suite(.timeLimit(.minutes(30))) struct RESPTests {
    private static let values: [(String, RESPValue)] = [
        ("+OK\r\n", .text("OK")), ("-ERR no\r\n", .error("ERR no")), (":-7\r\n", .integer(-7)),
        ("$5\r\na\r\nbc\r\n", .bulk("a\r\nbc")), ("$0\r\n\r\n", .bulk("")), ("$-1\r\n", .bulk(nil)),
        ("*0\r\n", .array([])), ("*-1\r\n", .array(nil)), ("$4\r\né é\r\n".replacing("$4", with: "$5"), .bulk("é é")),
        (
            "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n",
            .array([.bulk("message"), .bulk("c"), .bulk("hi")])
        ),
        ("*2\r\n:1\r\n*1\r\n+x\r\n", .array([.integer(1), .array([.text("x")])])),
    ]

    /// Values arrive in pieces of any size.
    @Test(arguments: [1, 2, 3, 7, 1000])
    func valuesAreRead(_ piece: Int) throws {
        let bytes = Array(Self.values.map(\.0).joined().utf8)
        var reader = RESPReader()
        var found: [RESPValue] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            reader.append(ByteBuffer(bytes: bytes[start..<min(start + piece, bytes.count)]))
            while let value = try reader.next() { found.append(value) }
        }
        #expect(found == Self.values.map(\.1))
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n", "+OK\n", "$x\r\n", "$-2\r\n", "$9999999999\r\n", "*9999999\r\n",
        "$1\r\nabc\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", ":\r\n", "\r\n",
        String(repeating: "x", count: 70_000),
    ])
    func whatIsNoRedisIsRefused(_ text: String) {
        var reader = RESPReader()
        reader.append(ByteBuffer(string: text))
        #expect(throws: RedisError.self) { while try reader.next() != nil {} }
    }

    @Test func commandsAreArraysOfBulkStrings() {
        var bytes = ByteBuffer()
        bytes.write(command: ["PUBLISH", "c", "é\r\n"])
        #expect(String(buffer: bytes) == "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$4\r\né\r\n\r\n")
    }

    @Test func urlsAreRead() throws {
        let whole = try #require(RedisServer("rediss://anna:se%40cret@[::1]:7000/3?ca=/etc/ca.pem"))
        #expect(whole.host == "::1" && whole.port == 7000 && whole.database == 3 && whole.isEncrypted)
        #expect(whole.user == "anna" && whole.password == "se@cret" && whole.trustedCertificates == "/etc/ca.pem")
        #expect("\(whole)" == "rediss://[::1]:7000/3")
        let short = try #require(RedisServer("redis://host"))
        #expect(short.port == 6379 && short.database == 0 && short.user == nil && short.password == nil)
        let alone = try #require(RedisServer("redis://:secret@host/"))
        #expect(alone.user == nil && alone.password == "secret")
        for text in [
            "", "redis", "redis://", "http://host", "redis://host/x", "redis://host/-1", "redis://host?ca=/x",
            "rediss://host?tls=none", "redis://anna@host", "redis://host#1",
        ] {
            #expect(RedisServer(text) == nil, "\(text)")
        }
    }
}
