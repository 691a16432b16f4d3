import Foundation

/// A TCP connection to a server on this machine, by system calls. It is blocking by default.
struct Socket: Sendable {
    let descriptor: Int32

    init(to port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed("socket: \(String(cString: strerror(errno)))") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            let reason = String(cString: strerror(errno))
            close()
            throw Failed("port \(port): \(reason)")
        }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Connects, and sends a text.
    init(to port: Int, saying text: String) throws {
        try self.init(to: port)
        try send(text)
    }

    func close() { Foundation.close(descriptor) }

    func setNonBlocking() { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }

    /// Sends all bytes. They are few enough for the kernel's buffer.
    func send(_ bytes: [UInt8]) throws {
        guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw Failed("a connection took no more bytes: \(String(cString: strerror(errno)))")
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Waits for bytes, and returns them. They are empty at the end of the connection.
    func receive() -> [UInt8] {
        let limit = 65_536
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, limit))
        }
    }

    /// Waits until the received bytes contain a text.
    @discardableResult
    func receive(until text: String) throws -> [UInt8] {
        let wanted = Data(text.utf8)
        var received: [UInt8] = []
        while Data(received).range(of: wanted) == nil {
            let bytes = receive()
            guard !bytes.isEmpty else {
                throw Failed("no \(text), but: \(String(decoding: received, as: UTF8.self))")
            }
            received += bytes
        }
        return received
    }

    // MARK: WebSockets

    /// Opens `/ws`, signs in and subscribes.
    static func subscribed(to server: MessengerServer) throws -> Socket {
        let socket = try Socket(to: server.port)
        try socket.send(
            """
            GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
            """)
        try socket.receive(until: "\r\n\r\n")
        try socket.send(frame(#"{"type":"auth","token":"\#(server.token)"}"#))
        try socket.receive(until: "auth_ok")
        try socket.send(frame(#"{"type":"subscribe","chat_id":\#(server.chat)}"#))
        try socket.receive(until: "subscribed")
        return socket
    }

    /// Returns a text frame as a client sends it: masked (RFC 6455 §5.3).
    private static func frame(_ text: String) -> [UInt8] {
        let key: [UInt8] = (0..<4).map { _ in .random(in: .min ... .max) }
        let length = text.utf8.count
        let header: [UInt8] =
            length < 126 ? [0x81, 0x80 | UInt8(length)] : [0x81, 0x80 | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        return header + key + text.utf8.enumerated().map { $1 ^ key[$0 % 4] }
    }
}
