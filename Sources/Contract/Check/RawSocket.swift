import Contract
import ContractClient
import Foundation

/// A socket for any text, with its frames as they come.
public struct RawSocket: Sendable {
    private let socket: any Socket

    public init(_ socket: any Socket) { self.socket = socket }

    public func send(_ text: String) async throws { try await socket.send(text) }
    public func send(_ frame: JSONValue) async throws { try await socket.send(frame.description) }

    /// Returns once the server has read what was sent before, for frames that have no answer.
    public func waitUntilHandled() async throws { try await socket.ping() }

    public func frame() async throws -> JSONValue {
        guard case .text(let text) = try await socket.receive() else { throw CheckFailure("a binary frame") }
        return try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    /// Fails unless this is the next frame, completely.
    public func expect(_ frame: JSONValue, line: UInt = #line, file: StaticString = #fileID) async throws {
        try ContractCheck.expect(try await self.frame(), equals: frame, line: line, file: file)
    }

    /// Fails unless the server now closes the socket, with this code if one is given.
    public func expectClose(_ code: UInt16? = nil, line: UInt = #line, file: StaticString = #fileID) async throws {
        do {
            throw CheckFailure(expected: "a close", found: "\(try await frame())", line: line, file: file)
        } catch let closed as SocketClosed {
            if let code { try ContractCheck.expect(closed.code, equals: code, line: line, file: file) }
        }
    }

    public func close() async { await socket.close(code: 1000, reason: "") }
}
