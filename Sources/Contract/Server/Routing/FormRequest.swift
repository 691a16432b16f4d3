import Contract
import Foundation
import HTTPTypes
import NIOCore

/// The fields of a form that a browser or another program has sent to a path that is not an operation of the contract.
public struct FormRequest: Sendable {
    /// The fields in their order. Of a repeated name, the first counts.
    private let items: [(name: String, value: String)]
    public let info: RequestInfo

    /// The maximum size of a form in bytes.
    static let maximumSize = 65_536

    init(_ items: [(name: String, value: String)], _ info: RequestInfo) {
        self.items = items
        self.info = info
    }

    /// Returns the value of a field; nil when it is absent or empty, or has the character U+0000, at which PostgreSQL would end
    /// it.
    public subscript(name: String) -> String? {
        guard let value = items.first(where: { $0.name == name })?.value else { return nil }
        return value.isEmpty || value.utf8.contains(0) ? nil : value
    }
}

extension Routes {
    /// Adds a path that takes a form, needs no credentials and is not an operation of the contract.
    ///
    /// The fields of a GET are in its query. Those of other methods are in the body, as
    /// `application/x-www-form-urlencoded`, or else as the texts of an object in JSON; other bodies are refused with 400,
    /// and those of more than 64 KiB with 413.
    public mutating func form(
        _ method: HTTPRequest.Method, _ path: String,
        use handler: @escaping @Sendable (FormRequest) async throws -> Answer<Empty>
    ) {
        plain(method, path) { request, info in
            let target = request.head.target
            guard method != .get else {
                let query = target.firstIndex(of: "?").map { target[target.index(after: $0)...] }
                return try respond(try await handler(FormRequest(FormURLEncoded.items(query ?? ""), info)))
            }
            var body = ByteBuffer()
            for try await piece in request.pieces {
                guard body.readableBytes + piece.readableBytes <= FormRequest.maximumSize else {
                    throw Problem(.contentTooLarge, API.errorMessages.bodyTooLarge, headers: [.connection: "close"])
                }
                body.writeImmutableBuffer(piece)
            }
            let type = request.headers[.contentType]?.lowercased() ?? ""
            guard !type.hasPrefix("application/x-www-form-urlencoded") else {
                return try respond(
                    try await handler(FormRequest(FormURLEncoded.items(String(buffer: body)), info)))
            }
            guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(body.readableBytesView)),
                case .object(let members) = json
            else { throw Problem(.badRequest, API.errorMessages.malformedJSON, code: .malformedJSON) }
            let items = members.compactMap { name, value in value.string.map { (name: name, value: $0) } }
            return try respond(try await handler(FormRequest(items, info)))
        }
    }
}
