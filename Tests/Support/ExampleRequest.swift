import Contract
import ContractServer
import Foundation
import Testing

/// A request of an operation, with a value in every field, its type forgotten.
public struct Example: Sendable, CustomTestStringConvertible {
    public let signature: String
    public let route: Route
    public let needsCaller: Bool
    /// As it goes on the wire.
    public let path: String
    public let body: [UInt8]?
    public let testDescription: String
    /// Its type's name with all its values, before and after it went over the wire.
    public let roundTrip: @Sendable () throws -> (sent: String, received: String)
    /// The path of the same request after it was read with another id in one capture.
    public let moved: @Sendable (_ capture: String, _ value: String) throws -> String

    public init<E: Contract.Endpoint>(_ request: E) throws {
        let encoded = try RequestCoding.encode(request)
        let parts = encoded.path.split(separator: "?", maxSplits: 1)
        let steps = parts[0].split(separator: "/")
        let captures = zip(steps, E.route.segments).compactMap { step, segment -> (name: String, value: String)? in
            if case .capture(let name) = segment { (name, String(step)) } else { nil }
        }
        var source = RequestCoding.Source(captures: captures)
        if parts.count > 1 { source.items = FormURLEncoded.items(parts[1]) }
        switch encoded.body {
        case .none: break
        case .json(let bytes): source.body = bytes
        case .form(let fields, let uploads):
            source.items = fields
            for (name, upload) in uploads { source.uploads[name, default: []].append(upload) }
        }
        let whole = source
        signature = E.signature
        route = E.route
        needsCaller = E.self is any AuthenticatedEndpoint.Type
        path = encoded.path
        body = whole.body
        testDescription = "\(E.route.method.rawValue) \(encoded.path)"
        roundTrip = { ("\(request)", "\(try RequestCoding.decode(E.self, from: whole))") }
        moved = { capture, value in
            var source = whole
            source.captures = captures.map { $0.name == capture ? ($0.name, value) : $0 }
            return try RequestCoding.encode(RequestCoding.decode(E.self, from: source)).path
        }
    }
}
