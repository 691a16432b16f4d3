import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStore

extension Routes {
    /// Serves a store's small objects to anybody, at `path` with the rest of a request's path behind it as their key.
    /// They never change, so that whoever has one need not ask again.
    ///
    /// - Parameters:
    ///   - path: Such as `/uploads`. Of the store's objects only those whose key begins with it are served.
    ///   - contentType: Of all of them.
    ///   - limit: In bytes; a larger object is none.
    public mutating func serve(
        publicly store: any ObjectStore, under path: String, as contentType: String, upTo limit: Int
    ) {
        let headers: HTTPFields = [
            .contentType: contentType, .xContentTypeOptions: "nosniff",
            .cacheControl: "public, max-age=31536000, immutable",
        ]
        for method in [HTTPRequest.Method.get, .head] {
            plain(method, path + "/{name*}") { _, captures in
                let name = captures.first?.value ?? ""
                guard let key = ObjectKey("\(path.dropFirst())/\(name)"),
                    let content = try await store.content(of: key, upTo: limit)
                else { throw Problem(.notFound, API.phrases.notFound) }
                var headers = headers
                headers[.contentLength] = String(content.count)
                guard method == .get else { return Response(status: .ok, headers: headers) }
                return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: content)))
            }
        }
    }
}
