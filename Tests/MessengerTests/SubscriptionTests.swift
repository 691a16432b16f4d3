import Contract
import ContractCheck
import ContractClient
import Database
import MessengerAPI
import MessengerClient
import Testbed
import Testing

@testable import MessengerCheck
@testable import MessengerService

/// Subscriptions fail cleanly while the database fails, where a table is missing for a while, and outlast what comes late.
@Suite(.timeLimit(.minutes(30))) struct SubscriptionTests {
    @Test(
        "A subscription goes on when a repeated one cannot be judged; a new one is to be tried again",
        arguments: Stack.all)
    func unjudged(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let (chat, other) = (try await alice.group(with: bob), try await alice.group(with: bob))
            let socket = try await alice.rawSocket()
            try await socket.send(["type": "subscribe", "chat_id": chat.json])
            try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            let first = try await bob.say("first", in: chat)
            try expect(try await socket.frame()["id"], equals: first.id.json)

            try await host.database.write { try $0.run("ALTER TABLE messages RENAME TO away") }
            let attempts: [JSONValue] = [
                ["type": "subscribe", "chat_id": chat.json],
                // A subscription that failed must not deliver messages later.
                ["type": "subscribe", "chat_id": chat.json, "since": 0],
                ["type": "subscribe", "chat_id": other.json],
            ]
            for attempt in attempts {
                try await socket.send(attempt)
                try await socket.expect([
                    "type": "error", "message": "Try again", "chat_id": attempt["chat_id"] ?? .null,
                ])
            }
            try await host.database.write { try $0.run("ALTER TABLE away RENAME TO messages") }

            _ = try await bob.say("unheard", in: other)
            let next = try await bob.say("heard", in: chat)
            try expect(try await socket.frame()["id"], equals: next.id.json)
            // Retries succeed, and no message arrives twice.
            for chat in [chat, other] {
                try await socket.send(["type": "subscribe", "chat_id": chat.json])
                try await socket.expect(["type": "subscribed", "chat_id": chat.json])
                let live = try await bob.say("live", in: chat)
                try expect(try await socket.frame()["id"], equals: live.id.json)
            }
            await socket.close()
        }
    }

    @Test("A subscription outlasts late news of the chat's first members", arguments: Stack.Engine.available)
    func lateNews(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            let socket = try await bob.rawSocket()
            try await socket.send(["type": "subscribe", "chat_id": chat.json])
            try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            host.service.publisher.publish(
                .membersAdded([alice.id, bob.id], to: chat, version: 0), short: nil, as: nil)
            let sent = try await alice.say("heard", in: chat)
            try expect(try await socket.frame()["id"], equals: sent.id.json)
            // The chat's first change is not taken for an older one.
            try await alice.send(Messenger.EditMessage(chat: chat, message: sent.id, content: "changed"))
            try expect(try await socket.frame()["content"], equals: "changed")
            await socket.close()
        }
    }

    @Test("The SDK retries by itself when a subscription cannot be checked", arguments: Stack.Engine.available)
    func theSDK(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            try await host.database.write { try $0.run("ALTER TABLE messages RENAME TO away") }
            let live = alice.client.live(over: host.sockets, pacing: .init(base: .zero))
            await live.subscribe(to: chat)
            var isBack = false
            for try await event in live {
                switch event {
                case .refused where !isBack:
                    isBack = true
                    try await host.database.write { try $0.run("ALTER TABLE away RENAME TO messages") }
                case .subscribed(chat):
                    #expect(isBack)
                    try await bob.say("heard", in: chat)
                case .message(let message):
                    #expect(message.content == "heard")
                    live.close()
                default: break
                }
            }
        }
    }
}
