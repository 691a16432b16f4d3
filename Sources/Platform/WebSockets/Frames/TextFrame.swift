public import NIOCore

/// The bytes of a text message with its header, built once and written to any number of sockets.
public struct TextFrame: Sendable {
    /// The unmasked, unfragmented frame (RFC 6455 §5.2).
    public let bytes: ByteBuffer

    /// Makes a frame.
    ///
    /// - Parameter payload: The text in UTF-8. It is copied behind the header, so that a socket writes one buffer.
    public init(_ payload: ByteBuffer) {
        bytes = ByteBuffer(frame: 0x81, payload: payload)
    }

    public init(_ text: String) {
        self.init(ByteBuffer(string: text))
    }

    /// - Parameter bytes: A frame's bytes.
    init(bytes: ByteBuffer) { self.bytes = bytes }

    /// The message without the frame's header, which shares its storage.
    public var payload: ByteBuffer {
        var payload = bytes
        switch bytes.getInteger(at: bytes.readerIndex + 1, as: UInt8.self) {
        case 126: payload.moveReaderIndex(forwardBy: 4)
        case 127: payload.moveReaderIndex(forwardBy: 10)
        default: payload.moveReaderIndex(forwardBy: 2)
        }
        return payload
    }
}

extension ByteBuffer {
    /// Makes a frame as a server sends it: never masked (RFC 6455 §5.1).
    ///
    /// - Parameter firstByte: The FIN bit and the opcode.
    init(frame firstByte: UInt8, payload: ByteBuffer) {
        self.init()
        reserveCapacity(10 + payload.readableBytes)
        writeInteger(firstByte)
        switch payload.readableBytes {
        case let length where length < 126:
            writeInteger(UInt8(length))
        case let length where length <= Int(UInt16.max):
            writeInteger(126 as UInt8)
            writeInteger(UInt16(length))
        case let length:
            writeInteger(127 as UInt8)
            writeInteger(UInt64(length))
        }
        writeImmutableBuffer(payload)
    }

    /// Makes a close frame. The reason is cut at a character so that the payload fits a control frame's 125 bytes.
    init(closing code: SocketCloseCode?, reason: String) {
        var payload = ByteBuffer()
        if let code {
            payload.writeInteger(code.rawValue)
            for character in reason.unicodeScalars where payload.readableBytes + character.utf8.count <= 125 {
                payload.writeBytes(character.utf8)
            }
        }
        self.init(frame: 0x88, payload: payload)
    }
}
