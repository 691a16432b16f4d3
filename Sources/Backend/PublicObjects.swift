import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStore

extension Routes {
    /// Serves a store's objects to anybody, at `path` with the rest of a request's path behind it as their key, whole or
    /// in ranges (RFC 9110 §14). They never change, so that whoever has one need not ask again.
    ///
    /// - Parameters:
    ///   - path: Such as `/uploads`. Of the store's objects only those whose key begins with it are served.
    ///   - contentType: Of the object of a name; nil when there is none of such a name.
    public mutating func serve(
        publicly store: any ObjectStore, under path: String,
        as contentType: @escaping @Sendable (_ name: String) -> String?
    ) {
        for method in [HTTPRequest.Method.get, .head] {
            plain(method, path + "/{name*}") { request, captures in
                let name = captures.first?.value ?? ""
                guard let key = ObjectKey("\(path.dropFirst())/\(name)"), let type = contentType(name),
                    let size = try await store.size(of: key)
                else { throw Problem(.notFound, API.phrases.notFound) }
                return try store.respond(to: request, with: key, of: size, as: type)
            }
        }
    }
}

extension ObjectStore {
    fileprivate func respond(
        to request: Request, with key: ObjectKey, of size: Int64, as contentType: String
    ) throws -> Response {
        var headers: HTTPFields = [
            .contentType: contentType, .xContentTypeOptions: "nosniff", .acceptRanges: "bytes",
            .cacheControl: "public, max-age=31536000, immutable",
            // What somebody has uploaded must not act in this origin.
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        var (status, range) = (HTTPResponse.Status.ok, 0..<size)
        switch ByteRange(header: request.headers[.range], size: size) {
        case .whole:
            break
        case .partial(let lower, let upper):
            (status, range) = (.partialContent, lower..<(upper + 1))
            headers[.contentRange] = "bytes \(lower)-\(upper)/\(size)"
        case .unsatisfiable:
            throw Problem(
                .rangeNotSatisfiable, "Range not satisfiable", headers: [.contentRange: "bytes */\(size)"])
        }
        headers[.contentLength] = String(range.count)
        guard request.method == .get else { return Response(status: status, headers: headers) }
        let body = ResponseBody(contentLength: range.count) { [range] writer in
            var lower = range.lowerBound
            while lower < range.upperBound {
                let piece = lower..<min(range.upperBound, lower + pieceSize)
                guard let bytes = try await content(of: key, in: piece), bytes.count == piece.count else {
                    throw ObjectCutShort()
                }
                try await writer.write(ByteBuffer(bytes: bytes))
                lower = piece.upperBound
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }
}

/// In bytes.
private let pieceSize: Int64 = 1 << 18

/// An object was deleted while it was sent: the connection ends, so that nobody takes the part for the whole.
private struct ObjectCutShort: Error {}
