import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

@testable import ContractServer

/// Answers are encoded as RFC 9112 has it.
@Suite(.timeLimit(.minutes(30)))
struct ResponseEncoderTests {
    private final class Encoding: ChannelOutboundHandler {
        typealias OutboundIn = Never
        typealias OutboundOut = ByteBuffer

        var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
    }

    /// Encodes an answer, and returns its bytes, and the sizes of the buffers.
    private func encode(
        _ response: HTTPResponse, _ pieces: [String] = [], isOld: Bool = false, hasEnd: Bool = true,
        trailers: HTTPFields? = nil
    ) throws -> (text: String, sizes: [Int]) {
        let (channel, encoding) = (EmbeddedChannel(), Encoding())
        try channel.pipeline.syncOperations.addHandler(encoding)
        let context = try #require(encoding.context)
        var encoder = ResponseEncoder()
        encoder.append(response.status, response.headerFields, isOld: isOld, to: context)
        for piece in pieces { encoder.append(ByteBuffer(string: piece), to: context) }
        if hasEnd { encoder.appendEnd(trailers, to: context) } else { encoder.skipEnd() }
        var (text, sizes) = ("", [Int]())
        for buffer in encoder.take() {
            text += String(buffer: buffer)
            sizes.append(buffer.readableBytes)
        }
        _ = try channel.finish()
        return (text, sizes)
    }

    @Test func aSmallAnswerIsOneBuffer() throws {
        let answer = try encode(
            HTTPResponse(status: .created, headerFields: [.contentLength: "4", .contentType: "text/plain"]),
            ["a", "b", "", "cd"])
        #expect(
            answer.text == "HTTP/1.1 201 Created\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\nabcd")
        #expect(answer.sizes.count == 1)
    }

    /// A head that is too large for the usual memory is written whole, and once.
    @Test(arguments: [1, 250, 280, 281, 282, 283, 284, 285, 286, 400, 5000]) func aLargeHeadIsWhole(_ size: Int) throws
    {
        let value = String(repeating: "x", count: size)
        let answer = try encode(
            HTTPResponse(status: .ok, headerFields: [.contentLength: "1", .server: value, .location: value]), ["a"])
        let fields = "Content-Length: 1\r\nServer: \(value)\r\nLocation: \(value)"
        #expect(answer.text == "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\na")
        #expect(answer.sizes.count == 1)
    }

    @Test func aLargePieceIsNotCopied() throws {
        let large = String(repeating: "x", count: 100_000)
        let answer = try encode(
            HTTPResponse(status: .ok, headerFields: [.contentLength: "200001"]), [large, "y", large])
        #expect(answer.text.hasSuffix("\r\n\r\n\(large)y\(large)"))
        #expect(answer.sizes.filter { $0 == 100_000 }.count == 2)
    }

    @Test func aBodyOfUnknownLengthIsSentInChunks() throws {
        let large = String(repeating: "x", count: 0x5000)
        let answer = try encode(
            HTTPResponse(status: .ok, headerFields: [.transferEncoding: "gzip"]), ["hello", "", large],
            trailers: [.eTag: "x"])
        #expect(
            answer.text
                == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5000\r\n\(large)\r\n0\r\nETag: x\r\n\r\n"
        )
    }

    @Test func anAnswerToHEADHasNoEndOfChunks() throws {
        let answer = try encode(HTTPResponse(status: .ok), hasEnd: false)
        #expect(answer.text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    /// HTTP/1.0 has no chunks: the body ends with the connection.
    @Test func anOldClientGetsNoChunks() throws {
        let answer = try encode(HTTPResponse(status: .ok, headerFields: [.connection: "x"]), ["hello"], isOld: true)
        #expect(answer.text == "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nhello")
        let framed = try encode(HTTPResponse(status: .ok, headerFields: [.contentLength: "5"]), ["hello"], isOld: true)
        #expect(framed.text == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    }

    @Test(arguments: [
        (HTTPResponse.Status.continue, "100 Continue"), (.noContent, "204 No Content"),
        (.notModified, "304 Not Modified"),
    ])
    func anAnswerWithoutABodyHasNoLength(_ status: HTTPResponse.Status, _ text: String) throws {
        for isOld in [true, false] {
            let answer = try encode(HTTPResponse(status: status, headerFields: [.contentLength: "0"]), isOld: isOld)
            #expect(answer.text == "HTTP/1.1 \(text)\r\n\r\n")
        }
    }

    @Test func aStatusWithoutAPhraseGetsItsOwn() throws {
        let answer = try encode(HTTPResponse(status: .init(code: 429), headerFields: [.contentLength: "0"]))
        #expect(answer.text.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
    }
}
