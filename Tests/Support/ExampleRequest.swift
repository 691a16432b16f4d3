import Contract
import ContractClient
import ContractExamples
import ContractServer
import Foundation
import Testing

/// A request of an operation, as the SDK creates it. It is compared with the contract's examples, and used for the
/// rules that hold for every operation.
public struct ExampleRequest: Sendable, CustomTestStringConvertible {
    public let signature: String
    public let route: Route
    public let needsCaller: Bool
    /// The path and query as they are sent.
    public let path: String
    public let body: [UInt8]?
    public let testDescription: String
    /// A description of the value with all its stored properties.
    let value: String
    /// The body as JSON. For a form, these are its text fields.
    let json: JSONValue?
    let isForm: Bool
    /// Returns a description of the value that the server decodes from an example.
    let reading: @Sendable (OperationExample.Request) throws -> String
    /// Returns a description of the value after it was sent, and the path of the same request with another value in one
    /// capture.
    let received: @Sendable () throws -> String
    let moved: @Sendable (_ capture: String, _ value: String) throws -> String
    /// Returns how the request is judged before its handler runs, once for each of its whole numbers, which is replaced by
    /// this one.
    let judged: @Sendable (_ number: Int64) -> [String]
    /// Sends the request with an SDK.
    let send: @Sendable (_ transport: any Transport, _ baseURL: URL) async throws -> Void

    /// - Parameter request: A request that can be encoded; any other is a mistake in the test.
    public init<E: Contract.Endpoint>(_ request: E) {
        do {
            try self.init(encoding: request)
        } catch {
            preconditionFailure("\(request) cannot be encoded: \(error)")
        }
    }

    private init<E: Contract.Endpoint>(encoding request: E) throws {
        let encoded = try RequestCoding.encode(request)
        // The SDK sends nothing behind the base URL for the root, which an example calls a slash.
        let path = encoded.path.isEmpty ? "/" : encoded.path
        let parts = path.split(separator: "?", maxSplits: 1)
        let captures = Self.captures(in: String(parts[0]), E.route)
        var source = RequestCoding.Source(captures: captures)
        if parts.count > 1 { source.items = FormURLEncoded.items(parts[1]) }
        switch encoded.body {
        case .none: (json, isForm) = (nil, false)
        case .json(let bytes):
            source.body = bytes
            (json, isForm) = (try read(JSONValue.self, bytes), false)
        case .form(let fields, let uploads):
            source.items = fields
            for (name, upload) in uploads { source.uploads[name, default: []].append(upload) }
            json = .object(Dictionary(fields.map { ($0.name, .string($0.value)) }) { _, last in last })
            isForm = true
        }
        let whole = source
        signature = E.signature
        route = E.route
        needsCaller = E.self is any AuthenticatedEndpoint.Type
        self.path = path
        body = whole.body
        value = "\(request)"
        testDescription = "\(E.route.method.rawValue) \(path) \(json?.description ?? "")"
        received = { "\(try RequestCoding.decode(E.self, from: whole))" }
        reading = { example in
            var source = Self.source(of: example, E.route)
            source.uploads = whole.uploads
            return "\(try RequestCoding.decode(E.self, from: source))"
        }
        moved = { capture, value in
            var source = whole
            source.captures = captures.map { $0.name == capture ? ($0.name, value) : $0 }
            return try RequestCoding.encode(RequestCoding.decode(E.self, from: source)).path
        }
        judged = { number in
            whole.replacingNumbers(by: number).map { field, source in
                do throws(Problem) {
                    let request = try RequestCoding.decode(E.self, from: source)
                    if E.fieldsComeLast { try request.validate() }
                    return "\(field): accepted"
                } catch {
                    return "\(field): \(error.status.code) \(error.message.replacing("\(number)", with: "N"))"
                }
            }
        }
        send = { transport, baseURL in
            let client = Client<E.API>(
                baseURL: baseURL, transport: transport, credentials: AnyToken(), retry: .never)
            _ = try await client.answer(request)
        }
    }

    /// Returns whether the SDK encodes the request as the example.
    func isWritten(as example: OperationExample.Request) -> Bool {
        var expected: JSONValue? = example.isForm ? JSONValue.object([:]) : Optional.none
        if let body = example.body { expected = try? read(JSONValue.self, body.json()) }
        return path == example.target && isForm == example.isForm && json == expected
    }

    /// Parses an example's path by the route's pattern, independent of the tested code.
    private static func source(of example: OperationExample.Request, _ route: Route) -> RequestCoding.Source {
        let url = URLComponents(string: example.target)
        var source = RequestCoding.Source(captures: captures(in: url?.path ?? "", route))
        source.items = (url?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        if example.isForm, case .object(let fields) = example.body?.kind {
            source.items += fields.map { ($0.name, $0.value.string ?? "") }
        } else {
            source.body = example.body.map { Array($0.json().utf8) }
        }
        return source
    }

    private static func captures(in path: String, _ route: Route) -> [(name: String, value: String)] {
        zip(path.split(separator: "/"), route.segments).compactMap { step, segment in
            if case .capture(let name) = segment { (name, String(step)) } else { nil }
        }
    }
}

/// Credentials that every mock accepts.
private struct AnyToken: Credentials {
    func token(after earlier: String?) async throws -> String { "any" }
    func renew(_ refused: String) async throws -> String { throw SignedOut() }
}

extension ExampleRequest {
    /// Checks that the request is decoded as it was sent, and that each capture of its path is a field of its own.
    public func checkRoundTrip() throws {
        #expect(try received() == value)
        let way = path.prefix { $0 != "?" }
        // The root has no steps.
        let steps = way == "/" ? [] : way.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        #expect(steps.allSatisfy { !$0.isEmpty }, "a capture without a value: \(path)")
        for capture in route.captures {
            let moved = try moved(capture, "123456").prefix { $0 != "?" }
            let expected = zip(route.segments, steps).map { segment, step in
                if case .capture(capture) = segment { "123456" } else { String(step) }
            }
            #expect(moved == "/" + expected.joined(separator: "/"))
        }
    }

    /// Returns the path of the request with another value in every capture.
    func with(_ value: String) -> String {
        let steps = route.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .capture: value
            }
        }
        return "/" + steps.joined(separator: "/")
    }
}

extension RequestCoding.Source {
    /// Returns copies of the request, in each of which another whole number is replaced, with the name of its field.
    fileprivate func replacingNumbers(by number: Int64) -> [(field: String, source: Self)] {
        var copies: [(String, Self)] = []
        func add(_ field: String, _ change: (inout Self) -> Void) {
            var copy = self
            change(&copy)
            copies.append((field, copy))
        }
        for (index, capture) in captures.enumerated() where Int64(capture.value) != nil {
            add(capture.name) { $0.captures[index].value = "\(number)" }
        }
        for (index, item) in items.enumerated() where Int64(item.value) != nil {
            add(item.name) { $0.items[index].value = "\(number)" }
        }
        if let body, let json = try? read(JSONValue.self, body) {
            for (path, other) in json.replacingNumbers(by: number) {
                add(path) { $0.body = Array(other.description.utf8) }
            }
        }
        return copies
    }
}

extension JSONValue {
    /// Returns copies of the value, in each of which another whole number is replaced, with the path of the number.
    fileprivate func replacingNumbers(by number: Int64) -> [(path: String, value: JSONValue)] {
        switch self {
        case .integer: return [("", .integer(number))]
        case .list(let elements):
            return elements.indices.flatMap { index in
                elements[index].replacingNumbers(by: number).map { path, value in
                    var copy = elements
                    copy[index] = value
                    return ("[\(index)]\(path)", .list(copy))
                }
            }
        case .object(let members):
            return members.sorted { $0.key < $1.key }.flatMap { name, member in
                member.replacingNumbers(by: number).map { path, value in
                    ("\(name)\(path)", .object(members.merging([name: value]) { $1 }))
                }
            }
        default: return []
        }
    }
}
