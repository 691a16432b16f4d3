import NIOCore
import Testbed
import Testing

@testable import WebSockets

/// The server makes the checks of RFC 6455 §5 that NIO's decoder omits, over a real connection.
@Suite(.timeLimit(.minutes(30)))
struct FrameTests {
    struct Breach: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let code: Int

        init(_ name: String, _ bytes: [UInt8]..., code: Int) {
            testDescription = name
            self.bytes = bytes.flatMap { $0 }
            self.code = code
        }
    }

    static let breaches = [
        Breach("unmasked", frame(0x81, Array("Hi".utf8), masked: false), code: 1002),
        Breach("RSV1", frame(0xC1, "Hi"), code: 1002),
        Breach("RSV3 on a control frame", frame(0x99), code: 1002),
        Breach("opcode 3", frame(0x83, "Hi"), code: 1002),
        Breach("opcode 11", frame(0x8B, "Hi"), code: 1002),
        Breach("fragmented ping", frame(0x09), code: 1002),
        Breach("ping of 126 bytes", frame(0x89, String(repeating: "x", count: 126)), code: 1002),
        Breach("continuation of nothing", frame(0x80, "Hi"), code: 1002),
        Breach("text within a text", frame(0x01, "Hi"), frame(0x81, "Hi"), code: 1002),
        Breach("binary within a text", frame(0x01, "Hi"), frame(0x82, "Hi"), code: 1002),
        Breach("continuation after the end", frame(0x01, "H"), frame(0x80, "i"), frame(0x80, "!"), code: 1002),
        Breach("not UTF-8", frame(0x81, [0xFF]), code: 1007),
        Breach("overlong UTF-8", frame(0x81, [0xC0, 0xAF]), code: 1007),
        Breach("a surrogate", frame(0x81, [0xED, 0xA0, 0x80]), code: 1007),
        Breach("cut character", frame(0x01, [0xE2, 0x82]), frame(0x80, "x"), code: 1007),
        Breach("close of one byte", frame(0x88, [3]), code: 1002),
        Breach("close 1005", frame(0x88, [0x03, 0xED]), code: 1002),
        Breach("close 1006", frame(0x88, [0x03, 0xEE]), code: 1002),
        Breach("close 999", frame(0x88, [0x03, 0xE7]), code: 1002),
        Breach("close 2999", frame(0x88, [0x0B, 0xB7]), code: 1002),
        Breach("close 5000", frame(0x88, [0x13, 0x88]), code: 1002),
        Breach("close reason not UTF-8", frame(0x88, [0x03, 0xE8, 0xFF]), code: 1007),
        Breach("frame too big", frame(0x81, String(repeating: "x", count: 65_537)), code: 1009),
        Breach("only the header of a frame too big", [0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1, 1, 2, 3, 4], code: 1009),
        Breach("a length with its highest bit", [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], code: 1009),
        Breach(
            "message too big", frame(0x01, String(repeating: "x", count: 65_536)), frame(0x80, "x"), code: 1009),
        Breach(
            "binary too big", frame(0x02, String(repeating: "x", count: 65_536)), frame(0x80, "x"), code: 1009),
    ]

    @Test(arguments: breaches)
    func aBreachClosesWithItsCode(_ breach: Breach) async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send(breach.bytes)
            var close = try await connection.readFrame()
            while close.opcode != 8 { close = try await connection.readFrame() }
            #expect(close.closeCode == breach.code)
            // Bytes after the close frame are ignored, and the server closes its half.
            try? await connection.send(frame(0x81, "more"))
            #expect(await connection.readToEnd().isEmpty)
            await connection.close()
            await events.wait(for: "closed")
        }
    }

    @Test func fragmentsAreJoinedAroundControlFrames() async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send(
                frame(0x01, [0xE2, 0x82]) + frame(0x89, "beat") + frame(0x00, [0xAC]) + frame(0x8A, "unasked")
                    + frame(0x00) + frame(0x80, "!"))
            #expect(try await connection.readFrame() == .init(opcode: 10, payload: Array("beat".utf8)))
            #expect(try await connection.readFrame() == .text("€!"))
            try await connection.send(frame(0x02, "12") + frame(0x80, "345"))
            #expect(try await connection.readFrame() == .text("binary 5"))
            try await connection.send(frame(0x81) + frame(0x01) + frame(0x80))
            #expect(try await connection.readFrame() == .text(""))
            #expect(try await connection.readFrame() == .text(""))
            await connection.close()
        }
    }

    @Test func theLargestMessageIsTaken() async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            let text = String(repeating: "x", count: 65_536)
            try await connection.send(frame(0x81, text))
            #expect(try await connection.readFrame() == .text(text))
            await connection.close()
        }
    }

    @Test(arguments: [[], [0x03, 0xE8], [0x0B, 0xB8], [0x13, 0x87], [0x03, 0xF5] + Array("bye".utf8)] as [[UInt8]])
    func aCloseIsAnsweredWithItsCode(_ payload: [UInt8]) async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send(frame(0x88, payload))
            #expect(try await connection.readFrame() == .init(opcode: 8, payload: Array(payload.prefix(2))))
            #expect(await connection.readToEnd().isEmpty)
            await events.wait(for: "closed")
            await connection.close()
        }
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 100_000])
    func textFramesCarryTheirLength(_ count: Int) {
        let text = String(repeating: "x", count: count)
        let made = TextFrame(text)
        #expect(Array(made.bytes.readableBytesView) == frame(0x81, Array(text.utf8), masked: false))
        #expect(String(buffer: made.payload) == text)
    }

    @Test func reasonsAreCutAtACharacter() {
        let bytes = ByteBuffer(closing: .normal, reason: String(repeating: "€", count: 60))
        #expect(bytes.readableBytes == 2 + 2 + 41 * 3)
    }

    @Test func textIsValidatedAsTheStandardLibraryDecodesIt() {
        var generator = SplitMix64(state: 7)
        let seeds = [
            "", "plain ASCII of more than eight bytes", "é€😀", "日本語テキスト", "\u{FFFD}\u{10FFFF}\u{D7FF}\u{E000}",
        ]
        for seed in seeds {
            for _ in 0..<2_000 {
                var bytes = Array(seed.utf8)
                for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
                    let index = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[index] = UInt8.random(in: 0x70...0xFF, using: &generator)
                }
                let isValid = String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
                #expect(ByteBuffer(bytes: bytes).isValidUTF8 == isValid, "\(bytes)")
            }
        }
    }
}

private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
