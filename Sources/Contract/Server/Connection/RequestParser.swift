import HTTPTypes
import NIOCore

/// Parses the requests of a connection, as RFC 9112 defines them for HTTP/1.0 and HTTP/1.1.
///
/// Where the RFC leaves a choice, it refuses: lines end with CR LF, fields are not folded, a length is given once, and the
/// only coding is `chunked`. Two recipients of one request can therefore not disagree on where it ends.
package struct RequestParser {
    package enum Event: Sendable {
        case head(RequestHead)
        case body(ByteBuffer)
        case end
    }

    /// The error for bytes that are not a request, or a request that the server refuses.
    package struct Violation: Error {
        package let refusal: ConnectionRefusal
        /// The client's own id of the request, if its head could be read.
        let requestID: String?

        init(_ refusal: ConnectionRefusal, requestID: String? = nil) {
            self.refusal = refusal
            self.requestID = requestID
        }
    }

    private enum Phase {
        case head
        /// The number of bytes of the body that are missing.
        case body(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
    }

    /// The maximum size in bytes of the line before a chunk, with its extensions.
    private static let chunkLine = 1024
    /// The maximum size in bytes of a head: the request line, the fields, and four bytes around each of them.
    private static let head =
        RequestHeadLimits.field + 64 + RequestHeadLimits.list + 4 * (RequestHeadLimits.fieldCount + 1)

    private var bytes = ByteBuffer()
    private var known: KnownFields?
    private var phase = Phase.head
    /// The number of bytes of an incomplete head or line that contain no end of it.
    private var scanned = 0

    package init() {}

    /// Whether bytes have arrived that belong to no event yet.
    package var hasBytes: Bool { bytes.readableBytes > 0 }

    /// Whether the bytes so far end in the middle of a request.
    package var isAmidRequest: Bool {
        if case .head = phase { return hasBytes }
        return true
    }

    /// Adds bytes of the connection.
    package mutating func append(_ other: ByteBuffer) {
        if bytes.readableBytes == 0 {
            bytes = other
        } else {
            // What has been parsed is dropped, so that the buffer of a busy connection does not grow.
            bytes.discardReadBytes()
            bytes.writeImmutableBuffer(other)
        }
    }

    /// Removes and returns the bytes that belong to no event yet.
    package mutating func takeBytes() -> ByteBuffer {
        defer { bytes = ByteBuffer() }
        return bytes
    }

    /// Returns what the bytes so far contain next; nil when more of them are needed.
    ///
    /// - Throws: ``Violation``, after which the parser must not be used.
    package mutating func next() throws(Violation) -> Event? {
        while true {
            switch phase {
            case .head:
                guard let head = try nextHead() else { return nil }
                return .head(head)
            case .body(0):
                // Between its requests a connection keeps no buffer, only the fields of the last one.
                if bytes.readableBytes == 0 { bytes = ByteBuffer() }
                phase = .head
                return .end
            case .body(let left):
                guard let piece = takePiece(of: left) else { return nil }
                phase = .body(left - piece.readableBytes)
                return .body(piece)
            case .chunkSize:
                guard let size = try nextChunkSize() else { return nil }
                phase = size == 0 ? .trailers : .chunk(size)
            case .chunk(let left):
                guard let piece = takePiece(of: left) else { return nil }
                phase = piece.readableBytes == left ? .chunkEnd : .chunk(left - piece.readableBytes)
                return .body(piece)
            case .chunkEnd:
                guard bytes.readableBytes >= 2 else {
                    if let first = bytes.readableBytesView.first, first != carriageReturn {
                        throw Violation(.malformed)
                    }
                    return nil
                }
                guard bytes.readInteger(as: UInt16.self) == 0x0D0A else { throw Violation(.malformed) }
                phase = .chunkSize
            case .trailers:
                guard try skipTrailers() else { return nil }
                phase = .body(0)
            }
        }
    }

    private mutating func takePiece(of left: Int) -> ByteBuffer? {
        let count = min(left, bytes.readableBytes)
        return count > 0 ? bytes.readSlice(length: count) : nil
    }

    // MARK: Heads

    private mutating func nextHead() throws(Violation) -> RequestHead? {
        // Empty lines before a request are ignored (RFC 9112 §2.2).
        while skipEmptyLine() {}
        let end = endOfFields()
        // The size is limited in the same way whether the head arrives at once or in pieces.
        guard let size = end, size <= Self.head else {
            // What cannot become a request is refused at once: a client that speaks TLS would wait.
            let method = bytes.readableBytesView.prefix(25).prefix { $0 != space }
            guard method.allSatisfy(isTokenByte) && method.count < 25 || method.elementsEqual([carriageReturn]) else {
                throw Violation(.malformed)
            }
            guard end == nil, bytes.readableBytes <= Self.head else { throw Violation(.headTooLarge) }
            return nil
        }
        let result = bytes.withUnsafeReadableBytes { all -> Result<RequestHead, Violation> in
            var reader = HeadReader(UnsafeRawBufferPointer(rebasing: all[..<size]))
            do throws(Violation) { return .success(try reader.readHead(&known)) } catch { return .failure(error) }
        }
        let head = try result.get()
        bytes.moveReaderIndex(forwardBy: size)
        scanned = 0
        switch head.body {
        case .none: phase = .body(0)
        case .length(let length): phase = .body(length)
        case .chunked: phase = .chunkSize
        }
        return head
    }

    /// Skips an empty line, and returns whether there was one.
    private mutating func skipEmptyLine() -> Bool {
        guard bytes.readableBytes >= 2, bytes.getInteger(at: bytes.readerIndex, as: UInt16.self) == 0x0D0A else {
            return false
        }
        bytes.moveReaderIndex(forwardBy: 2)
        scanned = 0
        return true
    }

    /// Returns the number of bytes up to and including the next empty line.
    private mutating func endOfFields() -> Int? {
        let (found, seen) = bytes.withUnsafeReadableBytes { all -> (Int?, Int) in
            // An end may lie across what was seen before: the last two bytes may begin one.
            var start = max(0, scanned - 2)
            while start < all.count, let line = all.firstIndex(of: lineFeed, from: start) {
                if line + 1 < all.count, all[line + 1] == lineFeed { return (line + 2, 0) }
                if line + 2 < all.count, all[line + 1] == carriageReturn, all[line + 2] == lineFeed {
                    return (line + 3, 0)
                }
                start = line + 1
            }
            return (nil, all.count)
        }
        scanned = seen
        return found
    }

    // MARK: Chunks

    private mutating func nextChunkSize() throws(Violation) -> Int? {
        let result = bytes.withUnsafeReadableBytes { all -> Result<(size: Int, line: Int)?, Violation> in
            guard let end = all.firstIndex(of: lineFeed, from: scanned) else {
                scanned = all.count
                let digits = all.prefix { hexadecimal($0) != nil }
                let next = digits.count < all.count ? all[digits.count] : nil
                let mayFollow =
                    next == nil || (!digits.isEmpty && (next == carriageReturn || next == UInt8(ascii: ";")))
                return mayFollow && all.count <= Self.chunkLine ? .success(nil) : .failure(Violation(.malformed))
            }
            guard end <= Self.chunkLine, let size = chunkSize(UnsafeRawBufferPointer(rebasing: all[...end])) else {
                return .failure(Violation(.malformed))
            }
            return .success((size, end + 1))
        }
        guard let (size, line) = try result.get() else { return nil }
        bytes.moveReaderIndex(forwardBy: line)
        scanned = 0
        return size
    }

    /// Skips the fields behind the last chunk, which no operation reads. Returns false when more bytes are needed.
    private mutating func skipTrailers() throws(Violation) -> Bool {
        if skipEmptyLine() { return true }
        let end = endOfFields()
        guard let size = end, size <= Self.head else {
            guard end == nil, bytes.readableBytes <= Self.head else { throw Violation(.headTooLarge) }
            return false
        }
        let result = bytes.withUnsafeReadableBytes { all -> Result<Void, Violation> in
            var reader = HeadReader(UnsafeRawBufferPointer(rebasing: all[..<size]))
            do throws(Violation) { return .success(try reader.readTrailers()) } catch { return .failure(error) }
        }
        try result.get()
        bytes.moveReaderIndex(forwardBy: size)
        scanned = 0
        return true
    }
}

/// Returns the number at the beginning of a chunk's line, which ends with CR LF; nil when the line has another form.
private func chunkSize(_ line: UnsafeRawBufferPointer) -> Int? {
    guard line.count >= 3, line[line.count - 2] == carriageReturn else { return nil }
    var size = 0
    var index = 0
    while let digit = hexadecimal(line[index]) {
        // Fifteen digits are far more than any body may have, and fit into a number.
        guard index < 15 else { return nil }
        size = size << 4 | digit
        index += 1
    }
    guard index > 0 else { return nil }
    return endOfExtensions(line, from: index) == line.count - 2 ? size : nil
}

/// Returns the index behind a chunk's extensions, which are ignored (RFC 9112 §7.1.1); nil when they are malformed.
///
/// - Parameter line: Bytes whose last one is LF.
private func endOfExtensions(_ line: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    while line[index] == UInt8(ascii: ";") {
        index += 1
        let name = index
        while isTokenByte(line[index]) { index += 1 }
        guard index > name else { return nil }
        guard line[index] == UInt8(ascii: "=") else { continue }
        index += 1
        let value = index
        if line[index] == UInt8(ascii: "\"") {
            index += 1
            while line[index] != UInt8(ascii: "\"") {
                // A backslash quotes the next byte.
                if line[index] == UInt8(ascii: "\\") { index += 1 }
                guard isFieldByte(line[index]) else { return nil }
                index += 1
            }
            index += 1
        } else {
            while isTokenByte(line[index]) { index += 1 }
        }
        guard index > value else { return nil }
    }
    return index
}

private func hexadecimal(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 48
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 87
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte) - 55
    default: nil
    }
}
