import Contract
import ContractExamples
import ContractServer
import Foundation
import NIOCore
import Testing

/// The value of an operation's answer, which is compared with the contract's examples.
public struct ExampleAnswer: Sendable, CustomTestStringConvertible {
    public let signature: String
    /// The JSON that the server writes for the value.
    let written: String
    /// Returns whether JSON is decoded as the value.
    let isRead: @Sendable (_ json: String, _ contractAlone: Bool) throws -> Bool

    /// - Parameters:
    ///   - value: The value of one of the operation's examples.
    ///   - contractAlone: The value of the same answer from a server of the published contract alone, if it differs.
    public init<E: Contract.Endpoint>(of _: E.Type, _ value: E.Output, contractAlone: E.Output? = nil)
    where E.Output: Equatable {
        do {
            written = String(buffer: try JSONBody.encode(value))
        } catch {
            preconditionFailure("\(value) cannot be encoded: \(error)")
        }
        signature = E.signature
        isRead = { json, isAlone in
            try read(E.Output.self, json) == (isAlone ? contractAlone ?? value : value)
        }
    }

    public var testDescription: String { "\(signature): \(written.prefix(200))" }
}

/// The value of a frame, which is compared with the contract's examples.
public struct ExampleFrame: Sendable, CustomTestStringConvertible {
    public let frame: any Frame
    /// The JSON that a server writes for the frame.
    public let written: String

    public init(_ frame: any Frame) {
        do {
            written = String(buffer: try JSONBody.encode(TypedFrame(frame)))
        } catch {
            preconditionFailure("\(frame) cannot be encoded: \(error)")
        }
        self.frame = frame
    }

    public var testDescription: String { written }
}

public func read<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) throws -> T {
    try JSONDecoder().decode(type, from: Data(bytes))
}

public func read<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
    try read(type, Array(json.utf8))
}

/// Returns JSON without white space between the tokens.
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
