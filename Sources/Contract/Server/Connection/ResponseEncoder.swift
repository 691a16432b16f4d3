import Contract
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Encodes the answers of a connection (RFC 9112), and collects their parts so that a small answer is one buffer.
struct ResponseEncoder {
    /// The size in bytes up to which a part of a body is copied behind what precedes it. A larger one is written as it
    /// is.
    private static let copied = 16_384
    /// The size in bytes of the memory in which heads are written. A larger head is written once more, with room for it.
    private static let usualHead = 640

    private var collected: ByteBuffer?
    /// The large part behind what is collected.
    private var large: ByteBuffer?
    /// The buffers in front of the large part that is collected, when there are several.
    private var earlier: [ByteBuffer] = []
    private var isChunked = false

    /// Adds the head of an answer.
    ///
    /// - Parameters:
    ///   - date: The value of `Date`; nil for none.
    ///   - closes: Whether the answer is the last of its connection, and says so.
    ///   - isOld: Whether the client speaks HTTP/1.0. It gets a body of unknown length up to the end of the
    ///     connection, and others get it in chunks.
    ///   - body: The number of bytes of the whole body, if it is to be added next. There is then room for it.
    mutating func append(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, date: String? = nil, closes: Bool = false, isOld: Bool,
        body: Int = 0, to context: ChannelHandlerContext
    ) {
        let framing = Framing.of(status, fields, isOld: isOld)
        let closes = closes || framing == .close
        let phrase =
            status.reasonPhrase.isEmpty ? HTTPResponseStatus(statusCode: status.code).reasonPhrase : status.reasonPhrase
        func write(to writer: inout HeadWriter) {
            writer.write(framing == .close ? "HTTP/1.0 " : "HTTP/1.1 ")
            writer.write(threeDigits: status.code)
            writer.write(" ")
            writer.write(phrase)
            writer.write("\r\n")
            for field in fields where framing.keeps(field.name, closes: closes) { writer.write(field) }
            if let date {
                writer.write("Date: ")
                writer.write(date)
                writer.write("\r\n")
            }
            if framing == .chunked { writer.write("Transfer-Encoding: chunked\r\n") }
            if closes { writer.write("Connection: close\r\n") }
            writer.write("\r\n")
        }
        var (room, isWritten) = (Self.usualHead, false)
        collect(room + min(body, Self.copied), in: context) { bytes in
            while !isWritten {
                bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
                    var writer = HeadWriter(memory)
                    write(to: &writer)
                    (room, isWritten) = (writer.count, writer.count <= memory.count)
                    return isWritten ? writer.count : 0
                }
            }
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
            if large != nil { earlier = take() }
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
            for field in trailers ?? [:] { bytes.writeString("\(field.name.rawName): \(field.value)\r\n") }
            bytes.writeStaticString("\r\n")
        }
    }

    /// Ends an answer without the end of its body.
    mutating func skipEnd() { isChunked = false }

    /// Whether nothing is collected.
    var isEmpty: Bool { collected == nil && large == nil && earlier.isEmpty }

    /// Removes and returns what is collected: the buffers to send, in their order.
    mutating func take() -> [ByteBuffer] {
        var buffers = earlier
        earlier = []
        if let collected = collected.take() { buffers.append(collected) }
        if let large = large.take() { buffers.append(large) }
        return buffers
    }

    /// Removes and returns what is collected, if it is one buffer.
    mutating func takeSingle() -> ByteBuffer? {
        guard earlier.isEmpty, large == nil else { return nil }
        return collected.take()
    }

    @inline(__always)
    private mutating func collect(_ size: Int, in context: ChannelHandlerContext, _ add: (inout ByteBuffer) -> Void) {
        if large != nil { earlier = take() }
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

        static func of(_ status: HTTPResponse.Status, _ fields: HTTPFields, isOld: Bool) -> Framing {
            switch status.code {
            case 100..<200, 204, 304: .none
            default: fields.contains(.contentLength) ? .length : isOld ? .close : .chunked
            }
        }

        /// Returns whether a field of the answer is sent: those that say how the body ends are the server's own.
        func keeps(_ name: HTTPField.Name, closes: Bool) -> Bool {
            switch name.canonicalName.utf8.count {
            case 10 where name == .connection: !closes
            case 14 where name == .contentLength: self == .length
            case 17 where name == .transferEncoding: false
            default: true
            }
        }
    }
}

/// Writes the head of an answer into memory, and counts its bytes. Those that do not fit are counted only.
private struct HeadWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    @inline(__always)
    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        if count + bytes.count <= memory.count, let source = bytes.baseAddress, let start = memory.baseAddress {
            (start + count).copyMemory(from: source, byteCount: bytes.count)
        }
        count += bytes.count
    }

    @inline(__always)
    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func write(_ text: String) {
        text.withBytes { write(UnsafeRawBufferPointer($0)) }
    }

    private mutating func write(_ byte: UInt8) { withUnsafeBytes(of: byte) { write($0) } }

    mutating func write(_ field: HTTPField) {
        write(field.name.rawName)
        write(": ")
        write(field.value)
        write("\r\n")
    }

    /// Writes a status.
    mutating func write(threeDigits number: Int) {
        for power in [100, 10, 1] { write(UInt8(truncatingIfNeeded: number / power % 10 + 48)) }
    }
}
