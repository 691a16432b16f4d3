import Contract
import HTTPTypes
import Hummingbird
import NIOCore

/// The headers that every answer has, whatever its route: this is the one place for them. Headers that a route sets
/// stay.
extension Reply {
    /// The size from which an answer is compressed, in bytes: a smaller answer would not take fewer packets.
    private static let compressedFrom = 1024

    private static let nosniff = HTTPField(name: .xContentTypeOptions, value: "nosniff")
    private static let bearer = HTTPField(name: .wwwAuthenticate, value: "Bearer")
    private static let json = HTTPField(name: .contentType, value: "application/json")
    private static let noStore = HTTPField(name: .cacheControl, value: "no-store")
    private static let revalidated = HTTPField(name: .cacheControl, value: "private, no-cache")

    /// Adds the rest of the headers of the answer to a request, and encodes the content as the client takes it.
    ///
    /// - Parameters:
    ///   - isSecret: Whether the answer may contain credentials.
    ///   - credentials: The form of the API's credentials.
    ///   - tags: Makes the tag of an answer that may be kept.
    mutating func finish(
        for request: ReceivedRequest, isSecret: Bool, credentials: CredentialForm, tags: EntityTags
    ) {
        headers.set(Self.nosniff)
        if status == .unauthorized, credentials == .bearer, !headers.contains(.wwwAuthenticate) {
            headers.append(Self.bearer)
        }
        if isJSON { headers.set(Self.json) }
        let isJSON = isJSON || headers.value(of: .contentType)?.hasPrefix("application/json") == true
        let isPersonal = isJSON || streamed != nil
        if headers.contains(.setCookie) || (isSecret && !headers.contains(.cacheControl)) {
            headers.set(Self.noStore)
        } else if isPersonal, !headers.contains(.cacheControl) {
            headers.append(Self.revalidated)
        }
        if case .cookie = credentials, isPersonal { headers.vary(by: "Cookie") }
        let isHead = request.method == .head
        switch content {
        case .streamed(let body):
            // The length of an operation's answer is not known, and so it is compressed whatever its length.
            if let streamed {
                headers.vary(by: "Accept-Encoding")
                if Gzip.isAccepted(by: request.headers) {
                    headers[.contentEncoding] = "gzip"
                    content = .streamed(streamed.responseBody(isCompressed: true))
                }
            }
            headers.frame(body.contentLength)
            if isHead { content = .bytes(ByteBuffer()) }
        case .bytes(var bytes):
            let isKept = (isJSON || isDocument) && headers.value(of: .cacheControl) != "no-store"
            if isKept, status == .ok, request.changesNothing, !headers.contains(.eTag) {
                let tag = tags.tag(of: bytes)
                headers[.eTag] = tag
                if request.headers[values: .ifNoneMatch].contains(where: { $0.matches(tag) }) {
                    status = .notModified
                    headers[.contentType] = nil
                }
            }
            if isKept, bytes.readableBytes > Self.compressedFrom {
                headers.vary(by: "Accept-Encoding")
                if status != .notModified, Gzip.isAccepted(by: request.headers), let fewer = Gzip.compress(bytes) {
                    bytes = fewer
                    headers[.contentEncoding] = "gzip"
                }
            }
            if status == .notModified { bytes = ByteBuffer() }
            headers.frame(bytes.readableBytes)
            content = .bytes(isHead ? ByteBuffer() : bytes)
        }
    }
}

extension Response {
    init(_ reply: Reply) {
        switch reply.content {
        case .bytes(let bytes):
            self.init(
                status: reply.status, headers: reply.headers,
                body: bytes.readableBytes == 0 ? ResponseBody() : ResponseBody(byteBuffer: bytes))
        case .streamed(let body):
            self.init(status: reply.status, headers: reply.headers, body: body)
        }
        // An answer to HEAD has the length of the body that GET would have, or none when that is unknown.
        headers[.contentLength] = reply.headers.value(of: .contentLength)
    }
}

extension HTTPFields {
    /// Sets a field of which there is at most one. The subscript costs twice as much.
    mutating func set(_ field: HTTPField) {
        if let index = firstIndex(where: { $0.name == field.name }) { self[index] = field } else { append(field) }
    }

    /// Adds a name to `Vary`.
    fileprivate mutating func vary(by name: String) {
        guard let names = value(of: .vary) else {
            self[.vary] = name
            return
        }
        let isThere = names.split(separator: ",").contains { $0.drop { $0 == " " }.lowercased() == name.lowercased() }
        if !isThere { self[.vary] = "\(names), \(name)" }
    }

    /// Adds the length of the body, if it is known.
    fileprivate mutating func frame(_ length: Int?) {
        if let length, !contains(.contentLength) { append(HTTPField(name: .contentLength, value: String(length))) }
    }
}

extension String {
    /// Returns whether a value of `If-None-Match` contains the tag, or any (RFC 9110 §13.1.2).
    fileprivate func matches(_ tag: String) -> Bool {
        let opaque = tag.dropFirst(2)
        return split(separator: ",").contains { element in
            var text = element.drop { $0 == " " || $0 == "\t" }
            while text.last == " " || text.last == "\t" { text.removeLast() }
            return text == "*" || text == opaque || (text.hasPrefix("W/") && text.dropFirst(2) == opaque)
        }
    }
}
