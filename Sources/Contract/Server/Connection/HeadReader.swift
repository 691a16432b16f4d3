import HTTPTypes

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

let carriageReturn = UInt8(ascii: "\r")
let lineFeed = UInt8(ascii: "\n")
let space = UInt8(ascii: " ")
private let tab = UInt8(ascii: "\t")

/// Reads the request line and the fields of one request from memory, from the first byte to the empty line.
struct HeadReader {
    /// The fields of a request, and what they say about it.
    struct Section {
        var fields = HTTPFields()
        fileprivate var fieldCount = 0
        fileprivate var size = 0
        fileprivate var hosts = 0
        fileprivate var authority: String?
        fileprivate var length: Int?
        fileprivate var isChunked = false
        fileprivate var closes = false
        fileprivate var awaitsContinue = false
        fileprivate var offersUpgrade = false
    }

    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    private var section = Section()

    /// - Parameter bytes: Bytes whose last one is the LF of the empty line.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// - Parameter known: The fields of the connection's last request. They become those of this one.
    mutating func readHead(_ known: inout KnownFields?) throws(RequestParser.Violation) -> RequestHead {
        let method = try readMethod()
        let target = try readTarget()
        let isOld = try readVersion()
        let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
        if let same = known?.section(of: rest) {
            section = same
        } else {
            try readFields()
            known = KnownFields(rest, section)
        }
        return try head(method, target, isOld)
    }

    private func head(
        _ method: HTTPRequest.Method, _ target: String, _ isOld: Bool
    ) throws(RequestParser.Violation) -> RequestHead {
        if let refusal = refusal(isOld) {
            throw RequestParser.Violation(refusal, requestID: RequestID.make(for: section.fields))
        }
        // The bytes behind a CONNECT may be meant for another server (RFC 9110 §9.3.6).
        return RequestHead(
            method: method, target: target, authority: section.authority, fields: section.fields,
            body: section.isChunked ? .chunked : section.length.map { .length($0) } ?? .none, isOld: isOld,
            isLast: isOld || section.closes || method == .connect,
            // HTTP/1.0 does not know `Expect`.
            awaitsContinue: section.awaitsContinue && !isOld, offersUpgrade: section.offersUpgrade)
    }

    /// Reads fields that are checked and dropped.
    mutating func readTrailers() throws(RequestParser.Violation) {
        try readFields()
        guard section.length == nil, !section.isChunked, section.hosts == 0 else {
            throw RequestParser.Violation(.malformed)
        }
    }

    private func refusal(_ isOld: Bool) -> ConnectionRefusal? {
        if section.hosts > 1 || (section.hosts == 0 && !isOld) { return .host }
        return isOld && (section.isChunked || section.offersUpgrade) ? .oldVersion : nil
    }

    // MARK: The request line

    private mutating func readMethod() throws(RequestParser.Violation) -> HTTPRequest.Method {
        let start = index
        while isTokenByte(bytes[index]) { index += 1 }
        let count = index - start
        guard 1...24 ~= count, bytes[index] == space else { throw RequestParser.Violation(.malformed) }
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
        index += 1
        switch count {
        case 3 where text.isEqual(to: "GET"): return .get
        case 3 where text.isEqual(to: "PUT"): return .put
        case 4 where text.isEqual(to: "POST"): return .post
        case 4 where text.isEqual(to: "HEAD"): return .head
        case 5 where text.isEqual(to: "PATCH"): return .patch
        case 6 where text.isEqual(to: "DELETE"): return .delete
        default: break
        }
        guard let method = HTTPRequest.Method(String(decoding: text, as: UTF8.self)) else {
            throw RequestParser.Violation(.malformed)
        }
        return method
    }

    /// Reads the target: a path, an absolute URL of which the path is taken, `*`, or another one that no route has.
    private mutating func readTarget() throws(RequestParser.Violation) -> String {
        let start = index
        while 0x21...0x7E ~= bytes[index] { index += 1 }
        let target = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
        guard !target.isEmpty, bytes[index] == space else { throw RequestParser.Violation(.malformed) }
        guard target.count <= RequestHeadLimits.field else { throw RequestParser.Violation(.headTooLarge) }
        index += 1
        let text = String(decoding: target, as: UTF8.self)
        return target[0] == UInt8(ascii: "/") ? text : Self.path(of: text)
    }

    private static func path(of target: String) -> String {
        guard let scheme = target.firstRange(of: "://"),
            ["http", "https"].contains(target[..<scheme.lowerBound].lowercased())
        else { return target }
        let rest = target[scheme.upperBound...]
        let path = rest.firstIndex { $0 == "/" || $0 == "?" }.map { String(rest[$0...]) } ?? "/"
        return path.hasPrefix("/") ? path : "/" + path
    }

    /// Reads the version with the end of the line, and returns whether it is HTTP/1.0.
    private mutating func readVersion() throws(RequestParser.Violation) -> Bool {
        let end = index + 10
        guard end <= bytes.count else { throw RequestParser.Violation(.malformed) }
        let text = UnsafeRawBufferPointer(rebasing: bytes[index..<end])
        index = end
        if text.isEqual(to: "HTTP/1.1\r\n") { return false }
        guard text.isEqual(to: "HTTP/1.0\r\n") else { throw RequestParser.Violation(.malformed) }
        return true
    }

    // MARK: Fields

    private mutating func readFields() throws(RequestParser.Violation) {
        section.fields.reserveCapacity(8)
        while bytes[index] != carriageReturn { try readField() }
        // The empty line is the end of the bytes. They have another line that ends with LF alone if it is not.
        guard index + 2 == bytes.count, bytes[index + 1] == lineFeed else { throw RequestParser.Violation(.malformed) }
    }

    private mutating func readField() throws(RequestParser.Violation) {
        let start = index
        while isTokenByte(bytes[index]) { index += 1 }
        let name = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
        guard !name.isEmpty, bytes[index] == UInt8(ascii: ":") else { throw RequestParser.Violation(.malformed) }
        index += 1
        while bytes[index] == space || bytes[index] == tab { index += 1 }
        let first = index
        while isFieldByte(bytes[index]) { index += 1 }
        var last = index
        while last > first, bytes[last - 1] == space || bytes[last - 1] == tab { last -= 1 }
        guard bytes[index] == carriageReturn, bytes[index + 1] == lineFeed else {
            throw RequestParser.Violation(.malformed)
        }
        index += 2
        let value = UnsafeRawBufferPointer(rebasing: bytes[first..<last])
        section.fieldCount += 1
        section.size += name.count + value.count
        guard section.fieldCount <= RequestHeadLimits.fieldCount, name.count + value.count <= RequestHeadLimits.field,
            section.size <= RequestHeadLimits.list
        else { throw RequestParser.Violation(.headTooLarge) }
        // NIO's parser refuses a length with a tab behind it, and takes `chunked` with a tab for another coding.
        if name.count == 14 && name.isField("content-length") || name.count == 17 && name.isField("transfer-encoding"),
            bytes[last..<(index - 2)].contains(tab)
        {
            throw RequestParser.Violation(.malformed)
        }
        try add(name, value)
    }

    private mutating func add(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(RequestParser.Violation) {
        if name.count == 4, name.isField("host") {
            section.hosts += 1
            section.authority = String(decoding: value, as: UTF8.self)
            return
        }
        guard let name = FieldNames.usual.name(name) else { throw RequestParser.Violation(.malformed) }
        switch name {
        case .contentLength:
            guard section.length == nil, !section.isChunked, let number = Self.length(value) else {
                throw RequestParser.Violation(.malformed)
            }
            section.length = number
        case .transferEncoding:
            guard section.length == nil, !section.isChunked, value.count == 7, value.isField("chunked") else {
                throw RequestParser.Violation(.malformed)
            }
            section.isChunked = true
        case .connection: section.closes = section.closes || Self.hasClose(value)
        case .expect: section.awaitsContinue = value.count == 12 && value.isField("100-continue")
        case .upgrade: section.offersUpgrade = true
        default: break
        }
        let text = String(decoding: value, as: UTF8.self)
        // A single field is set much faster than appended. Setting cookies would split them.
        if name != .cookie, !section.fields.contains(name) {
            section.fields[name] = text
        } else {
            section.fields.append(HTTPField(name: name, value: text))
        }
    }

    /// Returns the number of a `Content-Length` (RFC 9110 §8.6).
    private static func length(_ value: UnsafeRawBufferPointer) -> Int? {
        // An Int64 holds any number of 18 digits.
        guard 1...18 ~= value.count, value.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return value.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }

    /// Returns whether the options of a `Connection` contain `close` (RFC 9112 §9.6).
    private static func hasClose(_ value: UnsafeRawBufferPointer) -> Bool {
        if value.count == 10, value.isField("keep-alive") { return false }
        return value.split(separator: UInt8(ascii: ",")).contains { option in
            let option = option.drop { $0 == space || $0 == tab }.prefix { $0 != space && $0 != tab }
            return option.count == 5 && UnsafeRawBufferPointer(rebasing: option).isField("close")
        }
    }
}

/// Holds the fields of a connection's last request. Most clients send the same ones with each request, and those are not read
/// again.
struct KnownFields {
    /// The maximum size in bytes of the fields that a connection keeps.
    private static let largest = 2048

    private let bytes: [UInt8]
    private let section: HeadReader.Section

    /// - Parameter bytes: The fields with the empty line. Nil is returned for more than a connection keeps.
    init?(_ bytes: UnsafeRawBufferPointer, _ section: HeadReader.Section) {
        guard bytes.count <= Self.largest else { return nil }
        self.bytes = Array(bytes)
        self.section = section
    }

    /// Returns the fields that some bytes are; nil unless they are the same bytes.
    func section(of other: UnsafeRawBufferPointer) -> HeadReader.Section? {
        guard bytes.count == other.count, let baseAddress = other.baseAddress else { return nil }
        return memcmp(bytes, baseAddress, bytes.count) == 0 ? section : nil
    }
}

// MARK: Bytes

/// Returns whether a byte may be in a token (RFC 9110 §5.6.2).
@inline(__always)
func isTokenByte(_ byte: UInt8) -> Bool {
    // A bit for each of the characters ! # $ % & ' * + - . 0–9, and for A–Z ^ _ ` a–z | ~
    let mask: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
    return byte < 128 && mask >> UInt64(byte & 63) & 1 == 1
}

/// Returns whether a byte may be in the value of a field (RFC 9110 §5.5).
@inline(__always)
func isFieldByte(_ byte: UInt8) -> Bool { byte >= 0x20 ? byte != 0x7F : byte == tab }

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func isEqual(to text: StaticString) -> Bool {
        guard let baseAddress else { return text.utf8CodeUnitCount == 0 }
        return count == text.utf8CodeUnitCount && memcmp(baseAddress, text.utf8Start, count) == 0
    }

    /// Returns whether the bytes are a text of the same number of characters, in any letter case.
    ///
    /// - Parameter text: Lower-case letters, digits and hyphens.
    @inline(__always)
    fileprivate func isField(_ text: StaticString) -> Bool {
        for index in 0..<count where self[index] | 0x20 != text.utf8Start[index] { return false }
        return true
    }

    /// Returns the index of the next byte of a value.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let baseAddress, let found = memchr(baseAddress + start, CInt(byte), count - start) else {
            return nil
        }
        return UnsafeRawPointer(found) - baseAddress
    }
}
