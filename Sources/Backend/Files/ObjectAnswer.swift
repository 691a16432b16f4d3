import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import ObjectStore

extension ObjectStore {
    /// Answers a GET or HEAD with an object, whole or in a range (RFC 9110 §14), or with 304 where the client has it
    /// already (§13). An object never changes, so its key is its entity tag.
    ///
    /// - Parameter fields: The headers that say how the object is presented; at least its type.
    /// - Throws: A `Problem` with 404 when there is no such object, with 416 for a range outside of it.
    func answer(
        _ request: Request, with key: ObjectKey, _ fields: HTTPFields, errorMessages: ErrorMessages
    ) async throws -> Response {
        guard let object = try await attributes(of: key) else { throw Problem(.notFound, errorMessages.notFound) }
        let validators = Validators(tag: "\"\(key)\"", modified: object.modified.map(HTTPDate.text))
        var headers = fields
        headers[.xContentTypeOptions] = "nosniff"
        // An uploaded file must not run scripts in this origin if a browser is tricked into displaying it.
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        headers[.acceptRanges] = "bytes"
        headers[.eTag] = validators.tag
        headers[.lastModified] = validators.modified
        if validators.match(request.headers) {
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        }
        var (status, range) = (HTTPResponse.Status.ok, 0..<object.size)
        // Ranges are defined for GET alone.
        let asked = request.method == .get && validators.allowRange(request.headers) ? request.headers[.range] : nil
        switch ByteRange(header: asked, size: object.size) {
        case .whole:
            break
        case .partial(let lower, let upper):
            (status, range) = (.partialContent, lower..<(upper + 1))
            headers[.contentRange] = "bytes \(lower)-\(upper)/\(object.size)"
        case .unsatisfiable:
            let unsatisfied: HTTPFields = [.contentRange: "bytes */\(object.size)"]
            throw Problem(.rangeNotSatisfiable, "Range not satisfiable", headers: unsatisfied)
        }
        headers[.contentLength] = String(range.count)
        guard request.method == .get else { return Response(status: status, headers: headers) }
        // The object is opened before the answer begins, so that an unreachable store becomes a 503.
        guard let content = try await open(key, in: range) else { throw Problem(.notFound, errorMessages.notFound) }
        let body = ResponseBody(contentLength: range.count) { writer in
            // A failure half way ends the connection, so that no client takes the part for the whole.
            try await content.send { piece in try await writer.write(piece) }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }
}

/// The values by which a client finds out whether it has an object already.
private struct Validators {
    let tag: String
    let modified: String?

    /// Returns whether the client has the object, by `If-None-Match`, or else by `If-Modified-Since`.
    func match(_ headers: HTTPFields) -> Bool {
        if let tags = headers[.ifNoneMatch] {
            return tags.split(separator: ",").contains { element in
                let element = element.trimming(while: { $0 == " " || $0 == "\t" })
                // The comparison is weak, because a proxy that compresses makes a tag weak.
                return element == "*" || element == tag || element == "W/" + tag
            }
        }
        guard let modified = modified.flatMap(HTTPDate.seconds),
            let since = headers[.ifModifiedSince].flatMap(HTTPDate.seconds)
        else { return false }
        return modified <= since
    }

    /// Returns whether a range may be answered with a part: the parts that the client has are of the same object.
    func allowRange(_ headers: HTTPFields) -> Bool {
        guard let condition = headers[.ifRange] else { return true }
        return condition == tag || condition == modified
    }
}

extension Substring {
    fileprivate func trimming(while isSpace: (Character) -> Bool) -> Substring {
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}

extension HTTPField.Name {
    static let contentDisposition = Self("Content-Disposition")!
}
