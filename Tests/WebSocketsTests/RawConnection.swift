import NIOCore
import Testbed

extension RawConnection {
    static let handshake = handshake()

    /// Returns the handshake of RFC 6455 §1.3.
    static func handshake(_ path: String = "/ws", extra: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(extra)\r\n"
    }

    /// Returns a connection whose handshake is done.
    static func upgraded(port: Int) async throws -> RawConnection {
        let connection = try await RawConnection(port: port)
        try await connection.send(handshake)
        let response = try await connection.readResponse()
        guard response.status == 101 else { throw Ended(received: "\(response)") }
        return connection
    }

    // MARK: WebSocket

    struct Frame: Equatable {
        var opcode: UInt8
        var payload: [UInt8]

        static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }

        /// The code of a close frame; 0 if it has none.
        var closeCode: Int { payload.count < 2 ? 0 : Int(payload[0]) << 8 | Int(payload[1]) }
    }

    /// Reads one unfragmented, unmasked frame.
    func readFrame() async throws -> Frame {
        let header = try await read(2)
        var length = Int(header[1])
        if length == 126 { length = try await read(2).reduce(0) { $0 << 8 | Int($1) } }
        if length == 127 { length = try await read(8).reduce(0) { $0 << 8 | Int($1) } }
        return Frame(opcode: header[0] & 0x0F, payload: try await read(length))
    }
}

/// Returns a client's frame, masked unless `masked` is false.
func frame(_ firstByte: UInt8, _ payload: [UInt8] = [], masked: Bool = true) -> [UInt8] {
    let mask: UInt8 = masked ? 0x80 : 0
    var bytes = [firstByte]
    switch payload.count {
    case 0..<126: bytes.append(mask | UInt8(payload.count))
    case 126..<65536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [mask | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
    }
    guard masked else { return bytes + payload }
    let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

func frame(_ firstByte: UInt8, _ text: String) -> [UInt8] {
    frame(firstByte, Array(text.utf8))
}
