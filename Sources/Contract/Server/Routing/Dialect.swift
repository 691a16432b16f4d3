import Contract
import Foundation
import NIOCore

/// A form of an API's answers that some callers get in place of the contract's: the same operations, with JSON that older
/// clients expect.
///
/// The answer is made as the contract has it, and its JSON is changed on the way out. So handlers know nothing of it, and an
/// answer that is kept for an `Idempotency-Key` does not depend on who asks.
public protocol Dialect: Sendable {
    /// Returns the query of a request as the contract would have it, without the question mark.
    func query(_ query: Substring?, of route: Route) -> Substring?
    /// Returns the JSON of a successful answer in this form.
    ///
    /// - Throws: A `Problem` for a request that the contract takes and the dialect refuses.
    func answer(_ json: JSONValue, to request: DialectRequest) async throws -> JSONValue
    /// Returns the JSON of a refusal in this form.
    func refusal(_ json: JSONValue, of problem: Problem) -> JSONValue
}

/// The parts of a request that its answer in a dialect may depend on.
public struct DialectRequest: Sendable {
    public let route: Route
    /// The path within the API, with its ids, such as `/contacts/17/notes`.
    public let path: String
    /// The items of the query, as the client sent them.
    public let query: [(name: String, value: String)]

    init<E: Endpoint>(_: E.Type, _ call: Call) {
        route = E.route
        path = String(call.request.head.target.prefix { $0 != "?" }.dropFirst(E.API.basePath.count))
        query = FormURLEncoded.items(call.query ?? "")
    }
}

extension Reply {
    /// The JSON of the answer; nil when its content is none. When it is set, the members of objects get the order of their
    /// names, which is the same on every node.
    var json: JSONValue? {
        get {
            guard isJSON, case .bytes(let bytes) = content, bytes.readableBytes > 0 else { return nil }
            return try? JSONDecoder().decode(JSONValue.self, from: Data(bytes.readableBytesView))
        }
        set { if let newValue { content = .bytes(ByteBuffer(string: newValue.description)) } }
    }
}
