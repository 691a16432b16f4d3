import HTTPTypes
import NIOCore
import NIOHTTP1

/// Encodes the answers of a connection (RFC 9112), and collects their parts so that a small answer is one buffer.
struct ResponseEncoder {
    /// The size in bytes up to which a part of a body is copied behind what precedes it. A larger one is written as it
    /// is.
    private static let copied = 16_384

    private var collected: ByteBuffer?
    /// The large part behind what is collected.
    private var large: ByteBuffer?
    /// Completed when what is collected has been handed to the network.
    private var promise: EventLoopPromise<Void>?
    private var isChunked = false

    /// Adds a promise that is completed when all that has been encoded so far is with the network.
    mutating func note(_ other: EventLoopPromise<Void>?) { promise.setOrCascade(to: other) }

    /// Adds the head of an answer.
    ///
    /// - Parameter isOld: Whether the client speaks HTTP/1.0. It gets a body of unknown length up to the end of the
    ///   connection, and others get it in chunks.
    mutating func append(_ response: HTTPResponse, isOld: Bool, to context: ChannelHandlerContext) {
        let framing = Framing.of(response, isOld: isOld)
        collect(256, in: context) { bytes in
            bytes.writeStaticString(framing == .close ? "HTTP/1.0 " : "HTTP/1.1 ")
            bytes.writeDecimal(response.status.code)
            bytes.writeStaticString(" ")
            let phrase = response.status.reasonPhrase
            bytes.writeString(
                phrase.isEmpty ? HTTPResponseStatus(statusCode: response.status.code).reasonPhrase : phrase)
            bytes.writeStaticString("\r\n")
            for field in response.headerFields where framing.keeps(field.name) { bytes.write(field) }
            switch framing {
            case .chunked: bytes.writeStaticString("Transfer-Encoding: chunked\r\n")
            case .close: bytes.writeStaticString("Connection: close\r\n")
            case .length, .none: break
            }
            bytes.writeStaticString("\r\n")
        }
        isChunked = framing == .chunked
    }

    /// Adds a part of a body.
    mutating func append(_ body: ByteBuffer, to context: ChannelHandlerContext) {
        let size = body.readableBytes
        guard size > 0 else { return }
        if isChunked {
            collect(16, in: context) { bytes in
                bytes.writeString(String(size, radix: 16))
                bytes.writeStaticString("\r\n")
            }
        }
        if size > Self.copied {
            if large != nil { write(to: context) }
            large = body
        } else {
            collect(size, in: context) { $0.writeImmutableBuffer(body) }
        }
        if isChunked { collect(2, in: context) { $0.writeStaticString("\r\n") } }
    }

    /// Adds the end of a body.
    mutating func appendEnd(_ trailers: HTTPFields?, to context: ChannelHandlerContext) {
        guard isChunked else { return }
        isChunked = false
        collect(64, in: context) { bytes in
            bytes.writeStaticString("0\r\n")
            for field in trailers ?? [:] { bytes.write(field) }
            bytes.writeStaticString("\r\n")
        }
    }

    /// Ends an answer without the end of its body.
    mutating func skipEnd() { isChunked = false }

    /// Writes what is collected.
    mutating func write(to context: ChannelHandlerContext) {
        let (first, second, promise) = (collected.take(), large.take(), promise.take())
        if let first { context.write(NIOAny(first), promise: second == nil ? promise : nil) }
        if let second { context.write(NIOAny(second), promise: promise) }
        // The promise is completed behind what was written before.
        if first == nil, second == nil, let promise { context.write(NIOAny(ByteBuffer()), promise: promise) }
    }

    private mutating func collect(_ size: Int, in context: ChannelHandlerContext, _ add: (inout ByteBuffer) -> Void) {
        if large != nil { write(to: context) }
        var bytes = collected.take() ?? context.channel.allocator.buffer(capacity: max(size, 512))
        add(&bytes)
        collected = bytes
    }

    /// The way in which a client finds the end of a body.
    private enum Framing {
        /// The answer has no body.
        case none
        case length
        case chunked
        /// The body ends with the connection.
        case close

        static func of(_ response: HTTPResponse, isOld: Bool) -> Framing {
            switch response.status.code {
            case 100..<200, 204, 304: .none
            default:
                response.headerFields.contains(.contentLength) ? .length : isOld ? .close : .chunked
            }
        }

        /// Returns whether a field of the answer is sent: those that say how the body ends are the server's own.
        func keeps(_ name: HTTPField.Name) -> Bool {
            switch name {
            case .transferEncoding: false
            case .contentLength: self == .length
            case .connection: self != .close
            default: true
            }
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ field: HTTPField) {
        writeString(field.name.rawName)
        writeStaticString(": ")
        writeString(field.value)
        writeStaticString("\r\n")
    }

    /// Writes a status, which has three digits.
    fileprivate mutating func writeDecimal(_ status: Int) {
        let zero = Int(UInt8(ascii: "0"))
        writeMultipleIntegers(
            UInt8(truncatingIfNeeded: zero + status / 100), UInt8(truncatingIfNeeded: zero + status / 10 % 10),
            UInt8(truncatingIfNeeded: zero + status % 10))
    }
}
