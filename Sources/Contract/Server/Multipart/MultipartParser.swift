import Contract
import Foundation
import NIOCore

/// Parses a multipart body as it arrives (RFC 2046 §5.1). It keeps no more of a part than a delimiter's length.
struct MultipartParser {
    struct Part: Sendable {
        var name: String
        var filename: String?
        var contentType: String?
    }

    enum Event {
        case begin(Part)
        case data(ByteBuffer)
        case end
    }

    struct Malformed: Error {}

    private enum State {
        /// The bytes before the first delimiter.
        case preamble
        /// The bytes after a delimiter: `--` ends the body, a line break begins a part.
        case delimiter
        case headers
        case content
        case complete
    }

    static let maximumHeaders = 16_384

    private let delimiter: [UInt8]
    private var buffer: ByteBuffer
    private var state = State.preamble

    init(boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter has no line break before it; this one makes it look like the others.
        buffer = ByteBuffer(string: "\r\n")
    }

    /// Whether the closing delimiter has arrived.
    var isComplete: Bool { state == .complete }

    mutating func append(_ chunk: ByteBuffer) {
        if isComplete { return }
        buffer.discardReadBytes()
        buffer.writeImmutableBuffer(chunk)
    }

    /// Returns the next event, or nil when more bytes are needed.
    mutating func next() throws -> Event? {
        while true {
            switch state {
            case .preamble:
                guard let index = find(delimiter) else {
                    keepTail()
                    return nil
                }
                buffer.moveReaderIndex(forwardBy: index + delimiter.count)
                state = .delimiter
            case .delimiter:
                // White space may follow a delimiter, then the line ends.
                guard let line = find([13, 10]) else {
                    if buffer.readableBytesView.starts(with: [45, 45]) { return finish() }
                    if buffer.readableBytes > Self.maximumHeaders { throw Malformed() }
                    return nil
                }
                if buffer.readableBytesView.starts(with: [45, 45]) { return finish() }
                guard buffer.readableBytesView.prefix(line).allSatisfy({ $0 == 32 || $0 == 9 }) else {
                    throw Malformed()
                }
                buffer.moveReaderIndex(forwardBy: line)
                state = .headers
            case .headers:
                guard let end = find([13, 10, 13, 10]) else {
                    if buffer.readableBytes > Self.maximumHeaders { throw Malformed() }
                    return nil
                }
                let lines = String(decoding: buffer.readableBytesView.prefix(end), as: UTF8.self)
                buffer.moveReaderIndex(forwardBy: end + 4)
                state = .content
                return .begin(try Self.part(lines))
            case .content:
                if let index = find(delimiter) {
                    if index > 0, let data = buffer.readSlice(length: index) { return .data(data) }
                    buffer.moveReaderIndex(forwardBy: delimiter.count)
                    state = .delimiter
                    return .end
                }
                let safe = buffer.readableBytes - (delimiter.count - 1)
                guard safe > 0, let data = buffer.readSlice(length: safe) else { return nil }
                return .data(data)
            case .complete:
                return nil
            }
        }
    }

    private mutating func finish() -> Event? {
        state = .complete
        buffer.clear()
        return nil
    }

    private mutating func keepTail() {
        let surplus = buffer.readableBytes - (delimiter.count - 1)
        if surplus > 0 { buffer.moveReaderIndex(forwardBy: surplus) }
    }

    /// Returns the offset of a pattern among the readable bytes.
    private func find(_ pattern: [UInt8]) -> Int? {
        buffer.withUnsafeReadableBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, let first = pattern.first else { return nil }
            return pattern.withUnsafeBytes { pattern in
                var offset = 0
                while offset + pattern.count <= bytes.count {
                    let window = bytes.count - pattern.count - offset + 1
                    guard let hit = memchr(base + offset, Int32(first), window) else { return nil }
                    offset = UnsafeRawPointer(hit) - base
                    if memcmp(hit, pattern.baseAddress!, pattern.count) == 0 { return offset }
                    offset += 1
                }
                return nil
            }
        }
    }

    // MARK: Headers

    /// Returns the boundary of `multipart/form-data; boundary=…`: 1 to 70 characters.
    static func boundary(_ contentType: String?) -> String? {
        guard let contentType else { return nil }
        let header = HeaderParameters(contentType)
        guard header.value.lowercased() == "multipart/form-data", let boundary = header.parameters["boundary"],
            1...70 ~= boundary.utf8.count
        else { return nil }
        return boundary
    }

    private static func part(_ lines: String) throws -> Part {
        var part: Part?
        var contentType: String?
        for line in lines.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            switch line[..<colon].lowercased() {
            case "content-disposition":
                let header = HeaderParameters(value)
                guard header.value.lowercased() == "form-data", let name = header.parameters["name"] else {
                    throw Malformed()
                }
                part = Part(name: name, filename: header.formFilename)
            case "content-type":
                contentType = value
            default:
                break
            }
        }
        guard var part else { throw Malformed() }
        part.contentType = contentType
        return part
    }
}
