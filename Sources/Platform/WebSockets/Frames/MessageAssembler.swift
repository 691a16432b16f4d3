import NIOCore
import NIOWebSocket

/// Checks a client's frames against RFC 6455 and joins fragments into messages. NIO's decoder checks the size of a
/// frame and the form of control frames; masks, reserved bits, opcodes, order, UTF-8 and close codes are checked here.
struct MessageAssembler {
    enum Event {
        case text(ByteBuffer)
        case binary(Int)
        case ping(ByteBuffer)
        case pong
        /// A close frame; `nil` when it has no code.
        case close(SocketCloseCode?)
    }

    struct Violation: Error {
        let code: SocketCloseCode
        let reason: String
    }

    private let maximumSize: Int
    /// The opcode of an incomplete message: text or binary.
    private var kind: WebSocketOpcode?
    private var size = 0
    /// The text of the message; empty for a binary message, of which only the size is kept.
    private var text = ByteBuffer()

    init(maximumSize: Int) {
        self.maximumSize = maximumSize
    }

    /// Accepts a frame.
    ///
    /// - Returns: The event; `nil` for a fragment that does not end its message.
    mutating func accept(_ frame: WebSocketFrame) throws(Violation) -> Event? {
        guard frame.maskKey != nil else { throw .protocolError("Frames must be masked") }
        guard frame.reservedBits.isEmpty else { throw .protocolError("Reserved bits are set") }
        switch frame.opcode {
        case .text, .binary, .continuation: return try join(frame)
        case .ping: return .ping(frame.unmaskedData)
        case .pong: return .pong
        case .connectionClose: return .close(try closeCode(frame.unmaskedData))
        default: throw .protocolError("Unknown opcode")
        }
    }

    private mutating func join(_ frame: WebSocketFrame) throws(Violation) -> Event? {
        if frame.opcode == .continuation {
            guard kind != nil else { throw .protocolError("Nothing to continue") }
        } else {
            guard kind == nil else { throw .protocolError("The last message is not complete") }
            kind = frame.opcode
        }
        size += frame.length
        guard size <= maximumSize else { throw .tooBig }
        if kind == .text {
            text.writeImmutableBuffer(frame.unmaskedData)
        }
        guard frame.fin else { return nil }

        defer { (kind, size, text) = (nil, 0, ByteBuffer()) }
        if kind == .binary { return .binary(size) }
        guard text.isValidUTF8 else { throw Violation(code: .invalidData, reason: "Text must be UTF-8") }
        return .text(text)
    }

    private func closeCode(_ payload: ByteBuffer) throws(Violation) -> SocketCloseCode? {
        var payload = payload
        if payload.readableBytes == 0 { return nil }
        guard let code = payload.readInteger(as: UInt16.self).map(SocketCloseCode.init), code.isAllowedOnWire else {
            throw .protocolError("Invalid close code")
        }
        guard payload.isValidUTF8 else { throw Violation(code: .invalidData, reason: "Reasons must be UTF-8") }
        return code
    }
}

extension MessageAssembler.Violation {
    static let tooBig = Self(code: .messageTooBig, reason: "Message too big")

    static func protocolError(_ reason: String) -> Self {
        Self(code: .protocolError, reason: reason)
    }
}
