import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerSocket {
    /// Subscribes to a chat, and fails unless the server says so.
    func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID? = nil) async throws {
        try await send(.subscribe(chat, since: since))
        try expect(try await receive(), equals: .subscribed(chat))
    }

    /// The next frame, which must be a message.
    func message() async throws -> Messenger.Message {
        let frame = try await receive()
        guard case .message(let message) = frame else { throw Broken(expected: "a message", found: "\(frame)") }
        return message
    }

    /// Fails at the first frame that is not the next of these messages.
    func expectMessages(
        _ messages: [Messenger.Message], line: UInt = #line, file: StaticString = #fileID
    ) async throws {
        for message in messages {
            try expect(try await receive(), equals: .message(message), line: line, file: file)
        }
    }

    func messages(_ count: Int) async throws -> [Messenger.Message] {
        var messages: [Messenger.Message] = []
        for _ in 0..<count { messages.append(try await message()) }
        return messages
    }
}

/// A socket as a stranger would write to it, and its frames as they come.
struct RawSocket: Sendable {
    private let socket: any Socket

    init(_ socket: any Socket) { self.socket = socket }

    func send(_ text: String) async throws { try await socket.send(text) }
    func send(_ frame: JSONValue) async throws { try await socket.send(frame.description) }

    func frame() async throws -> JSONValue {
        guard case .text(let text) = try await socket.receive() else { throw Broken("a binary frame") }
        return try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    /// Fails unless this is the next frame, whole.
    func expect(_ frame: JSONValue, line: UInt = #line, file: StaticString = #fileID) async throws {
        try ContractCheck.expect(try await self.frame(), equals: frame, line: line, file: file)
    }

    /// Fails unless the server closes now, with this code if one is given.
    func expectClose(_ code: UInt16? = nil, line: UInt = #line, file: StaticString = #fileID) async throws {
        do {
            throw Broken(expected: "a close", found: "\(try await frame())", line: line, file: file)
        } catch let closed as SocketClosed {
            if let code { try ContractCheck.expect(closed.code, equals: code, line: line, file: file) }
        }
    }

    func close() async { await socket.close(code: 1000, reason: "") }
}

extension RawAnswer {
    /// Fails unless this is a refusal: the status, and the error alone, exactly worded.
    @discardableResult
    func refused(
        _ status: Int, _ text: String, _ what: @autoclosure () -> String = "", line: UInt = #line,
        file: StaticString = #fileID
    ) throws -> RawAnswer {
        let isJSON = headers[.contentType]?.hasPrefix("application/json") == true
        guard self.status == status, isJSON, try json() == ["error": .string(text)] else {
            throw broken("\(status) \"\(text)\"", what(), line, file)
        }
        return self
    }

    /// Fails unless this is a success with this status.
    ///
    /// - Returns: its body.
    @discardableResult
    func succeeded(
        _ status: Int, _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws -> JSONValue {
        guard self.status == status, headers[.contentType]?.hasPrefix("application/json") == true else {
            throw broken("\(status)", what(), line, file)
        }
        return try json()
    }

    /// Fails unless the status is one of these.
    func expect(
        _ statuses: Range<Int>, _ what: @autoclosure () -> String = "", line: UInt = #line,
        file: StaticString = #fileID
    ) throws {
        guard statuses ~= status else {
            let last = statuses.upperBound - 1
            throw broken(
                last == statuses.lowerBound ? "\(last)" : "\(statuses.lowerBound) to \(last)", what(), line, file)
        }
    }

    private func broken(_ expected: String, _ what: String, _ line: UInt, _ file: StaticString) -> Broken {
        let type = headers[.contentType] ?? "no content type"
        return Broken(
            expected: expected, found: "\(status) (\(type)) \(text.prefix(200))", String(what.prefix(200)),
            in: exchange,
            line: line, file: file)
    }
}

extension JSONValue {
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var elements: [JSONValue] { if case .list(let elements) = self { elements } else { [] } }

    /// Fails unless it is `2026-02-23T10:00:00Z`.
    func expectTimestamp(line: UInt = #line, file: StaticString = #fileID) throws {
        guard let string, string.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#) != nil else {
            throw Broken("no timestamp: \(self)", line: line, file: file)
        }
    }
}

extension Identifier {
    var json: JSONValue { .integer(rawValue) }
}
