@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of the frames about memberships.
extension MessengerScenarios {
    static let memberEvents: [Scenario<MessengerWorld>] = [
        Scenario("Sockets hear who came and who went", clause: "/ws members") { world in
            let people = try await world.people(4)
            let (alice, bob, carol, dave) = try (people[0], people[1], people[2], people[3])
            let chat = try await alice.group(with: bob)
            let aside = try await alice.group(with: bob, carol)
            let sockets = [try await alice.rawSocket(), try await bob.rawSocket(), try await bob.rawSocket()]
            let others = [try await bob.rawSocket(), try await carol.rawSocket()]
            for socket in sockets { try await socket.subscribe(to: [chat, aside]) }
            for socket in others { try await socket.subscribe(to: [aside]) }
            func expectAll(_ sockets: [RawSocket], _ frames: [JSONValue], line: UInt = #line) async throws {
                for socket in sockets { for frame in frames { try await socket.expect(frame, line: line) } }
            }
            func member(_ type: JSONValue, _ person: Person) -> JSONValue {
                ["type": type, "chat_id": chat.json, "user_id": person.id.json]
            }
            // There is one frame for each new member, in the order of the request, and none for existing members.
            try await alice.send(Messenger.AddMembers(chat: chat, users: [dave.id, bob.id, carol.id, dave.id]))
            try await alice.send(Messenger.AddMembers(chat: chat, users: [carol.id]))
            try await expectAll(sockets, [member("member_added", dave), member("member_added", carol)])
            try await dave.send(Messenger.LeaveChat(chat: chat))
            try await alice.send(Messenger.RemoveMember(chat: chat, user: carol.id))
            try await expectAll(sockets, [member("member_removed", dave), member("member_removed", carol)])
            // A removed member's socket receives the end of its subscription.
            try await alice.send(Messenger.RemoveMember(chat: chat, user: bob.id))
            let unsubscribed: JSONValue = ["type": "unsubscribed", "chat_id": chat.json]
            try await expectAll([sockets[0]], [member("member_removed", bob)])
            try await expectAll(Array(sockets[1...]), [unsubscribed])
            try await alice.say("unheard", in: chat)
            for socket in try sockets[1...] {
                try await socket.send(["type": "subscribe", "chat_id": chat.json])
                try await socket.expect(["type": "error", "message": "Not a member of this chat"])
            }
            _ = try await sockets[0].frame()
            try await alice.send(Messenger.LeaveChat(chat: chat))
            try await expectAll([sockets[0]], [unsubscribed])
            // Events are ordered, so any other frame would come before this one.
            let last = try await alice.say("aside", in: aside)
            for socket in sockets + others { try expect(try await socket.frame()["id"], equals: last.id.json) }
            for socket in sockets + others { await socket.close() }
        },
        Scenario("Who asks while signing in hears of new chats", clause: "/ws members") { _, alice, bob, carol in
            let (asking, silent) = (try await bob.rawSocket(), try await bob.rawSocket())
            let own = try await alice.rawSocket()
            for (socket, person) in [(asking, bob), (own, alice)] {
                try await socket.send(["type": "auth", "token": .string(person.token), "chats": true])
                try await socket.expect(["type": "auth_ok", "user_id": person.id.json, "chats": true])
            }
            // A later sign-in on the same socket changes nothing, and not every value asks.
            try await asking.send(["type": "auth", "token": .string(bob.token)])
            try await asking.expect(["type": "auth_ok", "user_id": bob.id.json, "chats": true])
            for value: JSONValue in [false, nil, "true", 1] {
                try await silent.send(["type": "auth", "token": .string(bob.token), "chats": value])
                try await silent.expect(["type": "auth_ok", "user_id": bob.id.json])
            }
            func expect(_ type: JSONValue, _ chat: Messenger.Chat.ID, on sockets: RawSocket..., line: UInt = #line)
                async throws
            {
                for socket in sockets { try await socket.expect(["type": type, "chat_id": chat.json], line: line) }
            }
            let direct = try await alice.directChat(with: bob)
            try await expect("chat_added", direct, on: asking, own)
            // There is nothing to report of a chat that exists.
            let again = try await bob.directChat(with: alice)
            try ContractCheck.expect(again, equals: direct)
            let group = try await alice.group(with: carol)
            try await expect("chat_added", group, on: own)
            try await alice.send(Messenger.AddMembers(chat: group, users: [bob.id]))
            try await expect("chat_added", group, on: asking)
            try await alice.send(Messenger.RemoveMember(chat: group, user: bob.id))
            try await expect("chat_removed", group, on: asking)
            let last = try await bob.group(with: carol)
            try await expect("chat_added", last, on: asking)
            try await bob.send(Messenger.LeaveChat(chat: last))
            try await expect("chat_removed", last, on: asking)
            try await alice.send(Messenger.LeaveChat(chat: group))
            try await expect("chat_removed", group, on: own)
            // The socket that did not ask has heard nothing.
            try await silent.send(["type": "ping"])
            try await silent.expect(["type": "pong"])
            for socket in [asking, silent, own] { await socket.close() }
        },
        Scenario("Messages reach a socket up to its user's removal, and none after", clause: "/ws members") {
            _, alice, bob, carol in
            let aside = try await alice.group(with: bob)
            for round in 0..<4 {
                let chat = try await alice.group(with: bob, carol)
                let early = try await bob.say("early", in: chat)
                let (stays, goes) = (try await carol.socket(), try await bob.socket())
                for socket in [stays, goes] { try await socket.subscribe(to: chat) }
                try await goes.subscribe(to: aside)
                async let sending = together(40, width: 8) { index -> Int in
                    if index == 10 + 5 * round {
                        try await alice.send(Messenger.RemoveMember(chat: chat, user: bob.id))
                        return 204
                    }
                    if index % 4 == 3 {
                        let path = "/chats/\(chat)/messages/\(early.id)"
                        return try await bob.raw(.put, path, body: #"{"content":"\#(index)"}"#).status
                    }
                    let person = try [alice, bob, carol][index % 3]
                    return try await person.post("/chats/\(chat)/messages", ["content": .string("\(index)")]).status
                }
                let statuses = try await sending
                try expect(statuses.allSatisfy { [200, 201, 403, 204].contains($0) }, "\(statuses)")
                let last = try await alice.say("aside", in: aside)

                // The remaining member receives the removal at its place between the others.
                var frames: [any Messenger.ServerFrame] = []
                for _ in 0..<statuses.filter({ $0 != 403 }).count { frames.append(try await stays.receive()) }
                let removed = Messenger.MemberRemoved(chat: chat, user: bob.id)
                guard let removal = frames.firstIndex(where: { $0 == removed }) else {
                    throw CheckFailure("no removal in \(frames)")
                }
                for frame in try frames[(removal + 1)...] {
                    guard let message = frame as? Messenger.Message, message.sender != bob.id else {
                        throw CheckFailure("from somebody who was out: \(frame)")
                    }
                }
                for frame in try frames[..<removal] { try expect(try await goes.receive(), is: frame) }
                try expect(try await goes.receive(), is: Messenger.Unsubscribed(chat: chat))
                try expect(try await goes.message(), equals: last)
                for socket in [stays, goes] { await socket.close() }
            }
        },
        Scenario("A subscription that meets a removal ends with it", clause: "/ws members") { _, alice, bob in
            let aside = try await alice.group(with: bob)
            let socket = try await bob.socket()
            try await socket.subscribe(to: aside)
            for round in 0..<20 {
                let chat = try await alice.group(with: bob)
                let missed = try await alice.say(3, in: chat)
                async let removal: Empty = alice.send(Messenger.RemoveMember(chat: chat, user: bob.id))
                try await socket.send(Messenger.Subscribe(chat: chat, since: round.isMultiple(of: 2) ? 0 : nil))
                let answer = try await socket.receive()
                _ = try await removal
                try await alice.say("unheard", in: chat)
                if answer == Messenger.Subscribed(chat: chat) {
                    if round.isMultiple(of: 2) { try expect(try await socket.messages(3), equals: missed) }
                    try expect(try await socket.receive(), is: Messenger.Unsubscribed(chat: chat))
                } else {
                    try expect(answer, is: Messenger.LiveError(message: "Not a member of this chat"))
                }
                let last = try await alice.say("aside", in: aside)
                try expect(try await socket.message(), equals: last)
            }
            await socket.close()
        },
        Scenario("An earlier removal does not end a later subscription", clause: "/ws members") { _, alice, bob in
            let chat = try await alice.group(with: bob)
            let (old, new) = (try await bob.socket(), try await bob.socket())
            for _ in 0..<20 {
                try await old.subscribe(to: chat)
                try await alice.send(Messenger.RemoveMember(chat: chat, user: bob.id))
                try await alice.send(Messenger.AddMembers(chat: chat, users: [bob.id]))
                // The earlier subscription receives the end of the membership, however short it was; the new one begins
                // after it.
                try await new.subscribe(to: chat)
                try expect(try await old.receive(), is: Messenger.Unsubscribed(chat: chat))
                let said = try await alice.say("hello", in: chat)
                try expect(try await new.message(), equals: said)
                try await new.send(Messenger.Unsubscribe(chat: chat))
                try expect(try await new.receive(), is: Messenger.Unsubscribed(chat: chat))
            }
            for socket in [old, new] { await socket.close() }
        },
    ]
}

extension RawSocket {
    fileprivate func subscribe(to chats: [Messenger.Chat.ID]) async throws {
        for chat in chats {
            try await send(["type": "subscribe", "chat_id": chat.json])
            try await expect(["type": "subscribed", "chat_id": chat.json])
        }
    }
}
