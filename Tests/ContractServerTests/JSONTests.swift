import Contract
import Foundation
import NIOCore
import Testing

@testable import ContractServer

/// A suite that writes JSON.
protocol JSONTests {}

extension JSONTests {
    func text<T: Encodable>(_ value: T) throws -> String {
        String(buffer: try JSONBody.encode(value))
    }

    /// Returns the value that Foundation, which shares no code with this package, reads back.
    func roundTrip<T: Codable>(_ value: T) throws -> T {
        try JSONDecoder().decode(T.self, from: Data(text(value).utf8))
    }

    func failure<T: Encodable>(_ value: T) -> (path: String, reason: String)? {
        do {
            let text = try text(value)
            Issue.record("encoded \(text)")
        } catch EncodingError.invalidValue(_, let context) {
            return (context.codingPath.map(\.stringValue).joined(separator: "."), context.debugDescription)
        } catch {
            Issue.record("threw \(error)")
        }
        return nil
    }

    func written(_ body: @escaping (any Encoder) throws -> Void) throws -> String {
        try text(Body(body: body))
    }
}

struct Body: Encodable {
    let body: (any Encoder) throws -> Void

    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

extension JSONText.Key: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(stringValue: value) }
}
