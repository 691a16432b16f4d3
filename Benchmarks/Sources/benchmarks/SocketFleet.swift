import Foundation

/// Many connections that only listen, and a few that publish. A bare `poll` loop with one buffer on the caller's thread
/// makes receiving about as cheap as the kernel allows. Most connections have something to read each time, so `epoll`
/// would not be faster.
final class SocketFleet {
    /// The deliveries of one turn.
    struct Turn {
        let frames: Int
        let duration: Duration

        var perSecond: Double { Double(frames) / duration.inSeconds }
    }

    private static let bufferSize = 65_536

    private let sockets: [Socket]
    private var readers: [FrameReader]
    private let publishers: [Socket]
    private var message: KeyedRequest
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
    private var polled: [pollfd]
    private var published = 0
    private var delivered = 0

    /// - Parameters:
    ///   - publishers: The connections on which each `message` makes the server publish once.
    init(sockets: [Socket], publishers: [Socket] = [], message: String = "") {
        self.sockets = sockets
        self.publishers = publishers
        self.message = KeyedRequest(message)
        readers = Array(repeating: FrameReader(), count: sockets.count)
        polled = (sockets + publishers).map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        for socket in sockets + publishers { socket.setNonBlocking() }
    }

    deinit {
        for socket in sockets + publishers { socket.close() }
        buffer.deallocate()
    }

    /// Publishes for a while, and waits until every connection has received everything.
    ///
    /// - Parameter window: The number of messages that may be in flight at a time.
    func run(for duration: Duration, window: Int) throws -> Turn {
        let (start, before) = (ContinuousClock.now, delivered)
        while ContinuousClock.now - start < duration {
            while published * sockets.count - delivered < window * sockets.count {
                try publishers[published % publishers.count].send(Array(message.next().readableBytesView))
                published += 1
            }
            try receive()
        }
        let patience = ContinuousClock.now + .seconds(10)
        while delivered < published * sockets.count {
            guard ContinuousClock.now < patience else {
                throw Failed("\(published * sockets.count - delivered) frames were not delivered")
            }
            try receive()
        }
        return Turn(frames: delivered - before, duration: ContinuousClock.now - start)
    }

    private func receive() throws {
        guard poll(&polled, nfds_t(polled.count), 100) > 0 else { return }
        for index in polled.indices where polled[index].revents != 0 {
            if index < sockets.count {
                try receive(index)
            } else {
                try receiveAnswer(publishers[index - sockets.count])
            }
        }
    }

    private func receive(_ index: Int) throws {
        let count = read(sockets[index].descriptor, buffer.baseAddress, Self.bufferSize)
        guard count > 0 else { throw Failed("the server closed a socket") }
        let (texts, pings) = readers[index].read(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        delivered += texts
        // This is a pong, masked with a key of zeros.
        for _ in 0..<pings { try sockets[index].send([0x8A, 0x80, 0, 0, 0, 0]) }
    }

    /// Reads an answer, and fails if it is a refusal.
    private func receiveAnswer(_ publisher: Socket) throws {
        let count = read(publisher.descriptor, buffer.baseAddress, Self.bufferSize)
        guard count > 0 else { throw Failed("the server closed a publisher's connection") }
        let text = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        if count > 10, text.starts(with: "HTTP/1.1 ".utf8), text[9] != UInt8(ascii: "2") {
            throw Failed("the server refused: \(String(decoding: text, as: UTF8.self))")
        }
    }
}

/// Counts a server's frames, wherever reads split them.
private struct FrameReader {
    /// The remaining bytes of the payload.
    private var remaining = 0
    private var header: (first: UInt8, second: UInt8) = (0, 0)
    /// The number of received bytes of the header.
    private var headerCount = 0
    private var length = 0

    mutating func read(_ bytes: UnsafeRawBufferPointer) -> (texts: Int, pings: Int) {
        var (texts, pings, index) = (0, 0, 0)
        while index < bytes.count {
            if remaining > 0 {
                let taken = min(remaining, bytes.count - index)
                remaining -= taken
                index += taken
                continue
            }
            take(bytes[index])
            index += 1
            guard isHeaderComplete else { continue }
            if header.first == 0x81 { texts += 1 }
            if header.first == 0x89 { pings += 1 }
            (remaining, length, headerCount) = (length, 0, 0)
        }
        return (texts, pings)
    }

    private mutating func take(_ byte: UInt8) {
        switch headerCount {
        case 0: header.first = byte
        case 1:
            header.second = byte
            if byte < 126 { length = Int(byte) }
        default: length = length << 8 | Int(byte)
        }
        headerCount += 1
    }

    /// Whether the header is complete. The lengths of all frames here fit into 16 bits.
    private var isHeaderComplete: Bool { headerCount == (header.second == 126 ? 4 : 2) && headerCount >= 2 }
}
