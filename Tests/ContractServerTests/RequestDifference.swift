import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import ContractServer

/// The requests that a parser has found in the bytes of a connection.
struct ParsedRequests: Equatable {
    struct Request: Equatable {
        var method: String
        var target: String
        var authority: String?
        /// The names, in lower case, and the values, in the order of the request and without `Host`.
        var fields: [[String]] = []
        var body: [UInt8] = []
        var isComplete = false
        /// What else the server's parser has found in the head.
        var remarks: [String] = []
        /// Whether a parser may treat what follows the request as something else than another request.
        var mayBeLast = false
    }

    var requests: [Request] = []
    var refusal: ConnectionRefusal?
    /// The client's own id of the request that was refused.
    var refusedID: String?
    /// The bytes that belong to no event yet.
    var rest: [UInt8] = []
    var isAmidRequest = false
    /// The error of NIO's decoder.
    var error: HTTPParserError?

    /// Parses bytes with the server's own parser.
    ///
    /// - Parameters:
    ///   - sizes: Returns the number of bytes that arrive next; by default all arrive at once.
    ///   - isLazy: Returns whether the next bytes are added before those so far have been parsed.
    init(
        _ bytes: [UInt8], sizes: (_ left: Int) -> Int = { $0 }, isLazy: () -> Bool = { false }
    ) {
        var parser = RequestParser()
        var all = ByteBuffer(bytes: bytes)
        do throws(RequestParser.Violation) {
            while let piece = all.readSlice(length: min(all.readableBytes, max(1, sizes(all.readableBytes)))),
                piece.readableBytes > 0
            {
                parser.append(piece)
                if all.readableBytes > 0, isLazy() { continue }
                while let event = try parser.next() { note(event) }
            }
            isAmidRequest = parser.isAmidRequest
            rest = Array(parser.takeBytes().readableBytesView)
        } catch {
            refusal = error.refusal
            // A request without an id of its own gets a random one.
            refusedID = error.requestID.flatMap { $0.count == 36 ? nil : $0 }
        }
    }

    private mutating func note(_ event: RequestParser.Event) {
        switch event {
        case .head(let head):
            requests.append(Request(head))
        case .body(let piece):
            requests[requests.count - 1].body += Array(piece.readableBytesView)
        case .end:
            requests[requests.count - 1].isComplete = true
        }
    }

    /// Parses bytes with NIO's decoder, which is made of llhttp.
    init(nio bytes: [UInt8]) {
        let channel = EmbeddedChannel()
        do {
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        } catch {
            self.error = error as? HTTPParserError ?? .unknown
        }
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head):
                requests.append(Request(head))
            case .body(let piece):
                requests[requests.count - 1].body += Array(piece.readableBytesView)
            case .end(let trailers):
                requests[requests.count - 1].isComplete = true
                let mayEnd = trailers?.contains { Self.isAboutConnection($0.name.lowercased()) } ?? false
                if mayEnd { requests[requests.count - 1].mayBeLast = true }
            }
        }
        _ = try? channel.finish()
    }

    fileprivate static func isAboutConnection(_ name: String) -> Bool {
        ["connection", "proxy-connection", "upgrade"].contains(name)
    }
}

extension ParsedRequests.Request {
    fileprivate init(_ head: RequestHead) {
        method = head.method.rawValue
        target = head.target
        authority = head.authority
        fields = head.fields.map { [$0.name.canonicalName, $0.value] }
        remarks = [
            (head.isOld, "old"), (head.isLast, "last"), (head.awaitsContinue, "waits"), (head.offersUpgrade, "upgrade"),
        ].filter(\.0).map(\.1)
        mayBeLast =
            head.isLast || head.method == .connect
            || fields.contains { field in
                field[0] != "connection" && ParsedRequests.isAboutConnection(field[0])
                    || field[0] == "connection" && field[1].lowercased().contains("close")
            }
    }

    fileprivate init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        target = Self.path(of: head.uri)
        authority = head.headers.first(name: "host").map(Self.trimmed)
        fields = head.headers.map { [$0.name.lowercased(), Self.trimmed($0.value)] }.filter { $0[0] != "host" }
    }

    /// The request as one line: the remarks say what is out of the ordinary.
    var summary: String {
        var parts = ["\(method) \(target)"]
        if let authority { parts.append("@\(authority)") }
        parts += fields.map { $0.joined(separator: "=") } + remarks
        if !body.isEmpty { parts.append("|" + String(decoding: body, as: UTF8.self)) }
        return parts.joined(separator: " ") + (isComplete ? "" : "…")
    }

    private static func trimmed(_ value: String) -> String {
        let bytes = Array(value.utf8)
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns the path of an absolute target. It is written in another way than the parser's on purpose.
    private static func path(of target: String) -> String {
        let lower = target.lowercased()
        guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else { return target }
        let rest = target.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
            .drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let path = String(decoding: Array(rest), as: UTF8.self)
        return path.hasPrefix("/") ? path : "/" + path
    }

    /// Whether llhttp, which knows a list of methods and examines absolute targets, may refuse a request that the server
    /// leaves to its routes.
    fileprivate func mayBeRefused(_ error: HTTPParserError, _ bytes: [UInt8]) -> Bool {
        switch error {
        case .invalidMethod:
            !["GET", "PUT", "POST", "HEAD", "PATCH", "DELETE", "OPTIONS", "TRACE"].contains(method)
        case .invalidURL:
            !target.hasPrefix("/") || bytes.indices.contains { bytes[$0...].starts(with: Array("://".utf8)) }
        default: false
        }
    }
}

/// Returns what the server's parser accepts in another way than NIO's; nil when it accepts nothing but what NIO's does.
///
/// The server's may refuse more, because it is stricter. What it accepts, NIO's must accept with the same method, target,
/// fields and body, and it must not accept what NIO's refuses.
func differenceFromNIO(_ bytes: [UInt8]) -> String? {
    let (ours, theirs) = (ParsedRequests(bytes), ParsedRequests(nio: bytes))
    for (index, own) in ours.requests.enumerated() {
        guard index < theirs.requests.count else {
            guard let error = theirs.error else { return "NIO does not see request \(index): \(own)" }
            return own.mayBeRefused(error, bytes) ? nil : "NIO refuses request \(index): \(own), \(error)"
        }
        let other = theirs.requests[index]
        guard own.method == other.method, own.target == other.target, own.authority == other.authority,
            own.fields == other.fields
        else { return "NIO has another head: \(own), \(other)" }
        // What follows such a head may belong to another protocol.
        if own.method == "CONNECT" || own.fields.contains(where: { $0[0] == "upgrade" }) { return nil }
        let mayGoOn = ours.refusal != nil && index == ours.requests.count - 1
        guard mayGoOn ? other.body.starts(with: own.body) : own.body == other.body else {
            return "NIO has another body: \(own), \(other)"
        }
        guard !own.isComplete || other.isComplete else { return "NIO's request has no end: \(own), \(other)" }
        guard own.isComplete || !other.isComplete || mayGoOn else {
            return "NIO's request has an end: \(own), \(other)"
        }
        if own.mayBeLast || other.mayBeLast { return nil }
    }
    guard ours.refusal == nil else { return nil }
    if theirs.requests.count > ours.requests.count {
        return "NIO has another request: \(theirs.requests[ours.requests.count])"
    }
    // The server's parser looks at a head, or at a line, when all of it is there.
    if let error = theirs.error, ours.rest.isEmpty { return "NIO refuses what was accepted: \(error)" }
    return nil
}

/// Returns what the server's parser does otherwise when bytes arrive in pieces; nil when it makes no difference.
func differenceInPieces(_ bytes: [UInt8], _ generator: inout some RandomNumberGenerator) -> String? {
    let whole = ParsedRequests(bytes)
    let single = ParsedRequests(bytes, sizes: { _ in 1 })
    if single != whole { return "byte by byte: \(single), at once: \(whole)" }
    let isLazy = Bool.random(using: &generator)
    let most = [2, 7, 64, 4096].randomElement(using: &generator) ?? 1
    var random = generator
    let pieces = ParsedRequests(
        bytes, sizes: { _ in Int.random(in: 1...most, using: &random) },
        isLazy: { isLazy && Bool.random(using: &random) })
    _ = generator.next()
    return pieces == whole ? nil : "in pieces of up to \(most): \(pieces), at once: \(whole)"
}
