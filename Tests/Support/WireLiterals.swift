import Contract
import ContractServer
import Foundation
import NIOCore
import Testing

// What holds the contract's literal JSON against the types. Shared types cannot catch a wrong name on the wire, since
// both sides would agree on the mistake; these literals are copied from the contract's code blocks.

/// A request line and body of the contract, and the value that stands for it.
public struct WireRequest: Sendable, CustomTestStringConvertible {
    /// `POST /chats/5/messages`
    public let line: String
    public let json: String?
    public let testDescription: String
    /// Whether the type travels so.
    public let encodes: @Sendable () throws -> Void
    /// Whether what travels so becomes the type's value.
    public let decodes: @Sendable () throws -> Void

    public init<E: Contract.Endpoint>(_ request: E, is line: String, _ json: String? = nil) {
        self.line = line
        self.json = json
        testDescription = [line, json].compactMap(\.self).joined(separator: " ")
        encodes = { () throws in
            let encoded = try RequestCoding.encode(request)
            #expect("\(E.route.method.rawValue) \(encoded.path)" == line)
            switch encoded.body {
            case .none: #expect(json == nil)
            case .json(let bytes):
                let expected = try read(JSONValue.self, try #require(json))
                #expect(try read(JSONValue.self, bytes) == expected)
            case .form(let fields, let uploads):
                // A form's text fields stand for it as an object of texts.
                let texts = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, JSONValue.string($0.value)) })
                let expected = try json.map { try read(JSONValue.self, $0) } ?? .object([:])
                #expect(JSONValue.object(texts) == expected)
                let rules = try #require(E.route.form.uploadRules)
                #expect(!uploads.isEmpty && uploads.allSatisfy { $0.name == rules.field })
            }
        }
        decodes = { () throws in
            let decoded = try RequestCoding.decode(E.self, from: source(of: line, json, for: request))
            // Every stored property is in the description.
            #expect("\(decoded)" == "\(request)")
        }
    }
}

extension Route.Form {
    fileprivate var uploadRules: UploadRules? {
        switch self {
        case .multipart(let rules): rules
        case .jsonOrMultipart(let rules): rules
        case .query, .json: nil
        }
    }
}

/// Takes a request line apart by the route's pattern, without the code under test.
private func source<E: Contract.Endpoint>(of line: String, _ json: String?, for request: E) throws
    -> RequestCoding.Source
{
    let parts = line.split(separator: " ")
    #expect(parts.first.map(String.init) == E.route.method.rawValue)
    let url = try #require(URLComponents(string: String(parts[1])))
    let steps = url.path.split(separator: "/")
    let pattern = E.route.path.split(separator: "/")
    try #require(steps.count == pattern.count)
    var source = RequestCoding.Source(body: json.map { Array($0.utf8) })
    for (step, name) in zip(steps, pattern) {
        if name.hasPrefix("{") {
            source.captures.append((String(name.dropFirst().dropLast()), String(step)))
        } else {
            #expect(step == name)
        }
    }
    source.items = (url.queryItems ?? []).map { ($0.name, $0.value ?? "") }
    if case .form(_, let uploads) = try RequestCoding.encode(request).body {
        for (name, upload) in uploads { source.uploads[name, default: []].append(upload) }
    }
    return source
}

/// An answer of the contract.
public struct WireAnswer: Sendable, CustomTestStringConvertible {
    public let testDescription: String
    public let signature: String
    /// As the server writes it.
    public let written: String
    /// Whether the literal is read as the value.
    public let decodes: @Sendable () throws -> Void
    /// Whether the server writes the value as the contract does: the same keys, in the same order, nulls written.
    public let encodes: @Sendable () throws -> Void

    /// - Parameters:
    ///   - literal: From the contract.
    ///   - additions: Keys that the decisions add, each with what stands right after it in what is written.
    public init<E: Contract.Endpoint>(
        of _: E.Type, _ status: Int, _ literal: String, is value: E.Output, written: String? = nil
    ) where E.Output: Equatable {
        testDescription = "\(E.signature): \(literal)"
        signature = E.signature
        self.written = minified(written ?? literal)
        decodes = { () throws in
            #expect(E.route.status.code == status)
            #expect(try read(E.Output.self, literal) == value)
            if let written { #expect(try read(E.Output.self, written) == value) }
        }
        encodes = { () throws in
            #expect(String(buffer: try JSONBody.encode(value)) == minified(written ?? literal))
        }
    }
}

/// A frame of the contract.
public struct WireFrame<Frame: Codable & Equatable & Sendable>: Sendable, CustomTestStringConvertible {
    public let literal: String
    public let frame: Frame
    /// Where the decisions add keys to the contract's.
    public let written: String

    public init(_ literal: String, is frame: Frame, written: String? = nil) {
        self.literal = literal
        self.frame = frame
        self.written = minified(written ?? literal)
    }

    public var testDescription: String { literal }
}

public func read<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) throws -> T {
    try JSONDecoder().decode(type, from: Data(bytes))
}

public func read<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
    try read(type, Array(json.utf8))
}

/// Without the white space between the tokens.
public func minified(_ json: String) -> String {
    var result = ""
    var inString = false
    var isEscaped = false
    for character in json {
        if !inString, character.isWhitespace { continue }
        if !isEscaped, character == "\"" { inString.toggle() }
        isEscaped = inString && !isEscaped && character == "\\"
        result.append(character)
    }
    return result
}
