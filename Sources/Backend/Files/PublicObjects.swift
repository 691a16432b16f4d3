import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import ObjectStore

extension Routes {
    /// Serves a store's objects without credentials, at `path` with the rest of a request's path behind it as their key,
    /// whole or in ranges (RFC 9110 §14). They never change, so that whoever has one need not ask again.
    ///
    /// - Parameters:
    ///   - path: Such as `/uploads`. Of the store's objects only those whose key begins with it are served.
    ///   - cacheControl: Who may keep an object, and for how long.
    ///   - admit: Refuses a request by throwing, before anything is looked up; by default nobody is refused.
    ///   - contentType: Of the object of a name; nil when there is none of such a name.
    public mutating func serve(
        publicly store: any ObjectStore, under path: String,
        cacheControl: String = "public, max-age=31536000, immutable",
        admit: @escaping @Sendable (_ name: String, _ query: String?) async throws -> Void = { _, _ in },
        as contentType: @escaping @Sendable (_ name: String) -> String?
    ) {
        for method in [HTTPRequest.Method.get, .head] {
            plain(method, path + "/{name*}") { request, captures in
                let name = captures.first?.value ?? ""
                try await admit(name, request.uri.query)
                guard let key = ObjectKey("\(path.dropFirst())/\(name)"), let type = contentType(name) else {
                    throw Problem(.notFound, API.phrases.notFound)
                }
                let fields: HTTPFields = [.contentType: type, .cacheControl: cacheControl]
                return try await store.answer(request, with: key, fields, phrases: API.phrases)
            }
        }
    }
}
