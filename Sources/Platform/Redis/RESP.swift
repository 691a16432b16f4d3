import NIOCore

/// A value of the Redis serialization protocol, version 2 (redis.io, "Redis serialization protocol specification"), which
/// a connection speaks that does not ask for another version with `HELLO`.
enum RESPValue: Equatable, Sendable {
    case text(String)
    case error(String)
    case integer(Int64)
    /// A bulk string, as UTF-8; nil is the null value.
    case bulk(String?)
    /// Nil is the null value.
    case array([RESPValue]?)

    /// The text of a simple or a bulk string.
    var string: String? {
        switch self {
        case .text(let text): text
        case .bulk(let text): text
        default: nil
        }
    }
}

/// Reads values from a stream of bytes.
struct RESPReader {
    /// The largest length of a bulk string, which is far above what nodes send.
    static let maximumLength = 1 << 20
    /// The largest number of values in an array.
    static let maximumCount = 1024
    /// The longest line, which is that of an error.
    static let maximumLine = 65_536
    /// How deep arrays may be nested.
    static let maximumDepth = 4

    private var buffer = ByteBuffer()

    mutating func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        buffer.discardReadBytes()
        buffer.writeBuffer(&bytes)
    }

    /// Returns the next value; nil when it has not arrived completely.
    ///
    /// - Throws: ``RedisError`` for bytes that are no value of the protocol.
    mutating func next() throws -> RESPValue? {
        let start = buffer.readerIndex
        if let value = try value(depth: 0) { return value }
        buffer.moveReaderIndex(to: start)
        return nil
    }

    private mutating func value(depth: Int) throws -> RESPValue? {
        guard let line = try line() else { return nil }
        let text = String(line.dropFirst())
        switch line.first {
        case "+": return .text(text)
        case "-": return .error(text)
        case ":": return .integer(try number(text, in: Int64.min...Int64.max))
        case "$":
            let length = Int(try number(text, in: -1...Int64(Self.maximumLength)))
            guard length >= 0 else { return .bulk(nil) }
            guard buffer.readableBytes >= length + 2 else { return nil }
            let content = buffer.readString(length: length)
            guard buffer.readString(length: 2) == "\r\n" else { throw RedisError("a string has another length") }
            return .bulk(content)
        case "*":
            guard depth < Self.maximumDepth else { throw RedisError("arrays are nested too deeply") }
            let count = Int(try number(text, in: -1...Int64(Self.maximumCount)))
            guard count >= 0 else { return .array(nil) }
            var values: [RESPValue] = []
            for _ in 0..<count {
                guard let value = try value(depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        default: throw RedisError("this is no Redis: \(line.prefix(60).debugDescription)")
        }
    }

    private func number(_ text: String, in range: ClosedRange<Int64>) throws -> Int64 {
        guard let number = Int64(text), range ~= number else {
            throw RedisError("this is no number of Redis: \(text.prefix(60).debugDescription)")
        }
        return number
    }

    /// Reads up to the end of a line.
    private mutating func line() throws -> String? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else {
            guard view.count <= Self.maximumLine else { throw RedisError("a line is too long") }
            return nil
        }
        let count = end - view.startIndex
        guard count > 0, count <= Self.maximumLine, view[end - 1] == UInt8(ascii: "\r") else {
            throw RedisError("a line does not end as in Redis")
        }
        let text = buffer.readString(length: count - 1)
        buffer.moveReaderIndex(forwardBy: 2)
        return text
    }
}

extension ByteBuffer {
    /// Writes a command: an array of bulk strings.
    mutating func write(command words: [String]) {
        writeString("*\(words.count)\r\n")
        for word in words {
            writeString("$\(word.utf8.count)\r\n")
            writeString(word)
            writeString("\r\n")
        }
    }
}
