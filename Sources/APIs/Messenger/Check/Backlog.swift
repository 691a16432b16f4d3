@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    /// Scenarios of messages that a socket missed: `since` and `resync`.
    static let backlog: [Scenario<MessengerWorld>] = [
        Scenario("since: what was missed, ascending, then what follows", clause: "/ws since") { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let first = try await bob.socket()
            try await first.subscribe(to: chat, since: 0)
            let seen = try await alice.say("98", in: chat)
            try expect(try await first.message(), equals: seen)
            await first.close()
            let missed = try await alice.say(3, in: chat)

            let second = try await bob.socket()
            try await second.subscribe(to: chat, since: seen.id)
            let next = try await alice.say("102", in: chat)
            try await second.expectMessages(missed + [next])
            await second.close()

            // The backlog starts at the beginning, at the end, and beyond the end.
            let whole = try await alice.socket()
            try await whole.subscribe(to: chat, since: 0)
            try await whole.expectMessages([seen] + missed + [next])
            let late = try await alice.socket()
            try await late.subscribe(to: chat, since: next.id)
            let last = try await bob.say("103", in: chat)
            for socket in [whole, late] {
                try expect(try await socket.message(), equals: last)
                try await socket.send(Messenger.Ping())
                try expect(try await socket.receive(), is: Messenger.Pong())
                await socket.close()
            }
        },
        Scenario("since loses nothing and repeats nothing while others send", clause: "/ws since") { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let before = try await alice.say(30, in: chat)
            async let sending = together(90, width: 10) { index in
                try await (index.isMultiple(of: 2) ? alice : bob).say("\(index)", in: chat)
            }
            // Each socket subscribes while others are sending.
            let heard = try await together(6, width: 2) { _ in
                let socket = try await bob.socket()
                try await socket.subscribe(to: chat, since: before[9].id)
                let messages = try await socket.messages(20 + 90)
                try await socket.send(Messenger.Ping())
                try expect(try await socket.receive(), is: Messenger.Pong())
                await socket.close()
                return messages
            }
            let all = before.dropFirst(10) + (try await sending).sorted { $0.id < $1.id }
            for messages in heard { try expect(messages.map(\.id), equals: all.map(\.id)) }
        },
        Scenario("Subscribing again loses nothing and repeats nothing while others send", clause: "/ws subscribe") {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let socket = try await bob.socket()
            try await socket.subscribe(to: chat)
            let count = 60
            async let sending = alice.say(count, in: chat)
            async let asking: Void = {
                for _ in 0..<20 { try await socket.send(Messenger.Subscribe(chat: chat)) }
            }()
            var (heard, answers): ([Messenger.Message], Int) = ([], 0)
            while heard.count < count || answers < 20 {
                switch try await socket.receive() {
                case let message as Messenger.Message: heard.append(message)
                case let frame as Messenger.Subscribed where frame.chat == chat: answers += 1
                case let other: throw CheckFailure("\(other)")
                }
            }
            try await asking
            try expect(heard, equals: try await sending)
            await socket.close()
        },
        Scenario("More than 1,000 missed messages are a resync", clause: "/ws since") { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let sent = try await alice.say(1001, in: chat)
            let socket = try await bob.socket()
            try await socket.subscribe(to: chat, since: sent[0].id)
            try await socket.expectMessages(Array(sent.dropFirst()))
            await socket.close()

            let late = try await bob.socket()
            try await late.subscribe(to: chat, since: 0)
            try expect(try await late.receive(), is: Messenger.Resync(chat: chat))
            let next = try await alice.say("live", in: chat)
            try expect(try await late.message(), equals: next)
            await late.close()
        },
    ]
}
