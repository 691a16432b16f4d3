@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerSocket {
    /// Subscribes to a chat, and fails unless the server says so.
    func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID? = nil) async throws {
        try await send(Messenger.Subscribe(chat: chat, since: since))
        try expect(try await receive(), is: Messenger.Subscribed(chat: chat))
    }

    /// Returns the next frame, which must be a message.
    func message() async throws -> Messenger.Message {
        let frame = try await receive()
        guard let message = frame as? Messenger.Message else {
            throw CheckFailure(expected: "a message", found: "\(frame)")
        }
        return message
    }

    /// Fails at the first frame that is not the next one of these messages.
    func expectMessages(
        _ messages: [Messenger.Message], line: UInt = #line, file: StaticString = #fileID
    ) async throws {
        for message in messages {
            try expect(try await receive(), is: message, line: line, file: file)
        }
    }

    func messages(_ count: Int) async throws -> [Messenger.Message] {
        var messages: [Messenger.Message] = []
        for _ in 0..<count { messages.append(try await message()) }
        return messages
    }
}

extension JSONValue {
    /// Fails unless the value has the form `2026-02-23T10:00:00Z`.
    func expectTimestamp(line: UInt = #line, file: StaticString = #fileID) throws {
        guard let string, string.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#) != nil else {
            throw CheckFailure("no timestamp: \(self)", line: line, file: file)
        }
    }
}
