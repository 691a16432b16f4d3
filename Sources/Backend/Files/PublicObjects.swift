import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import ObjectStore

extension Routes {
    /// Serves a store's objects without credentials. The rest of a request's path behind `path` is their key. They are
    /// served whole or in ranges (RFC 9110 §14). Objects never change, so clients may cache them for ever.
    ///
    /// - Parameters:
    ///   - path: The path of the folder, such as `/uploads`. Only objects whose key begins with it are served.
    ///   - cacheControl: The `Cache-Control` of the answers.
    ///   - admit: Refuses a request by throwing, before anything is looked up. By default every request is admitted.
    ///   - contentType: Returns the type of the object with a name; nil when there is no object of such a name.
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
                    throw Problem(.notFound, API.errorMessages.notFound)
                }
                let fields: HTTPFields = [.contentType: type, .cacheControl: cacheControl]
                return try await store.answer(request, with: key, fields, errorMessages: API.errorMessages)
            }
        }
    }

    /// Serves JPEGs that are made when they are asked for, without credentials.
    ///
    /// - Parameters:
    ///   - path: The path of the folder, such as `/initials`.
    ///   - cacheControl: The `Cache-Control` of the answers.
    ///   - make: Returns the picture of a name, or refuses the request by throwing.
    public mutating func serve(
        jpegsUnder path: String, cacheControl: String,
        make: @escaping @Sendable (_ name: String, _ query: String?) async throws -> [UInt8]
    ) {
        plain(.get, path + "/{name}") { request, captures in
            let picture = try await make(captures.first?.value ?? "", request.uri.query)
            let fields: HTTPFields = [
                .contentType: "image/jpeg", .cacheControl: cacheControl, .xContentTypeOptions: "nosniff",
            ]
            return Response(status: .ok, headers: fields, body: .init(byteBuffer: .init(bytes: picture)))
        }
    }
}
