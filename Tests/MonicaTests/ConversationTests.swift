import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

/// A conversation keeps its limits, whatever happens at the same time.
@Suite(.timeLimit(.minutes(30))) struct MonicaConversationTests {
    @Test(arguments: Stack.Engine.available)
    func aConversationHasAHundredMessagesAtMost(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let talk = try await client.talk(with: try await host.contact("John").id)
            for _ in 0..<95 { try await client.send(Monica.CreateMessage(conversation: talk, Self.message)) }
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<12 {
                    group.addTask {
                        do {
                            try await client.send(Monica.CreateMessage(conversation: talk, Self.message))
                            return true
                        } catch MonicaAPIError.rejected(422, "The messages may not have more than 100 items.") {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(made == 5)
            let conversation = try await client.send(Monica.Get<Monica.Conversation>(id: talk)).data
            #expect(conversation.messages.count == 100)
            let first = try #require(conversation.messages.first).id
            // A full conversation is changed, but for its number of messages.
            try await client.send(Monica.UpdateMessage(conversation: talk, message: first, Self.message))
            try await client.send(Monica.DeleteMessage(conversation: talk, message: first))
            try await client.send(Monica.CreateMessage(conversation: talk, Self.message))
        }
    }

    /// Messages are written while their conversation, its contact and its type are deleted.
    @Test(arguments: Stack.Engine.available)
    func messagesMeetDeletions(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            for round in 0..<8 {
                let john = try await host.contact("John").id
                let type = try await client.create(Monica.ContactFieldTypeDraft(name: "Letters \(round)")).id
                let talk = try await client.talk(with: john, by: type)
                let requests: [@Sendable () async throws -> Void] = [
                    { try await client.send(Monica.CreateMessage(conversation: talk, Self.message)) },
                    {
                        try await client.create(
                            Monica.ConversationDraft(contactID: john, happenedAt: Self.time, typeID: type))
                    },
                    { try await client.delete(Monica.Conversation.self, id: talk) },
                    { try await client.delete(Monica.ContactFieldType.self, id: type) },
                    { if round % 2 > 0 { try await client.delete(Monica.Contact.self, id: john) } },
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for request in (requests + requests).shuffled() {
                        group.addTask {
                            do { try await request() } catch MonicaAPIError.notFound {
                            } catch MonicaAPIError.rejected(422, _) {}
                        }
                    }
                    try await group.waitForAll()
                }
                for talk in try await client.send(Monica.List<Monica.Conversation>(limit: 100)).data {
                    try await client.delete(Monica.Conversation.self, id: talk.id)
                }
            }
            let left = try await host.database.read { try $0.value("SELECT COUNT(*) FROM messages", as: Int.self) }
            #expect(left == 0)
        }
    }

    private static let time = Monica.Timestamp(milliseconds: 0)
    private static let message = Monica.MessageDraft(content: "x", writtenAt: time, writtenByMe: true)
}

extension MonicaAPIClient {
    /// Creates a conversation, and returns its id.
    fileprivate func talk(with contact: Int, by type: Int = 2) async throws -> Int {
        try await create(
            Monica.ConversationDraft(contactID: contact, happenedAt: .init(milliseconds: 0), typeID: type)
        ).id
    }
}
