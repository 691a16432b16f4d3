@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let live: [Scenario<MessengerWorld>] = [
        Scenario("A socket that does not sign in first gets an error and is closed with 1008", clause: "/ws handshake")
        { world, alice in
            let (first, json) = ("Not authenticated", "Invalid JSON")
            let token = "Invalid or expired access token"
            let table: [(frame: String, text: String)] = [
                (#"{"type":"ping"}"#, first), (#"{"type":"subscribe","chat_id":1}"#, first),
                (#"{"type":"unsubscribe","chat_id":1}"#, first), (#"{"type":"nonsense"}"#, first), ("{}", first),
                (#"{"type":5,"token":"\#(alice.token)"}"#, first),
                (#"{"type":"Auth","token":"\#(alice.token)"}"#, first),
                ("", json), ("{", json), ("[]", json), ("5", json), (#""auth""#, json), (alice.token, json),
                (#"{"type":"auth","token":"\#(alice.token)""#, json), (#"[{"type":"auth"}]"#, json),
                (#"{"type":"auth"}"#, token), (#"{"type":"auth","token":null}"#, token),
                (#"{"type":"auth","token":5}"#, token), (#"{"type":"auth","token":""}"#, token),
                (#"{"type":"auth","token":"Bearer \#(alice.token)"}"#, token),
                (#"{"type":"auth","token":"\#(alice.token)x"}"#, token),
                (#"{"type":"auth","token":"\#(alice.refreshToken)"}"#, token),
            ]
            for (frame, text) in table {
                let socket = try await world.rawSocket()
                try await socket.send(frame)
                let answer = try await socket.frame()
                try expect(answer == ["type": "error", "message": .string(text)], "\(frame): \(answer)")
                try await socket.expectClose(1008)
            }
        },
        Scenario("After signing in, errors keep the socket open", clause: "/ws errors") { _, alice in
            let socket = try await alice.rawSocket()
            let wide = String(repeating: "é", count: 65)
            let decomposed = String(repeating: "e\u{301}", count: 33)
            let table: [(frame: String, text: String)] = [
                ("", "Invalid JSON"), ("{", "Invalid JSON"), ("[]", "Invalid JSON"), ("null", "Invalid JSON"),
                (#"{"type":"ping"}{}"#, "Invalid JSON"), (#"{"type":"ping","type":"ping"}"#, "Invalid JSON"),
                (#"{"type":"nonsense"}"#, "Unknown message type: nonsense"),
                (#"{"type":"Ping"}"#, "Unknown message type: Ping"), ("{}", "Unknown message type: "),
                (#"{"type":5}"#, "Unknown message type: "), (#"{"type":null}"#, "Unknown message type: "),
                (#"{"type":["ping"]}"#, "Unknown message type: "), (#"{"type":""}"#, "Unknown message type: "),
                (#"{"type":"\#(wide.dropLast())"}"#, "Unknown message type: \(wide.dropLast())"),
                (#"{"type":"\#(wide)"}"#, "Unknown message type: \(wide.dropLast())"),
                (#"{"type":"\#(decomposed)"}"#, "Unknown message type: \(decomposed.dropLast())"),
            ]
            for (frame, text) in table {
                try await socket.send(frame)
                let answer = try await socket.frame()
                try expect(answer == ["type": "error", "message": .string(text)], "\(frame): \(answer)")
                try await socket.send(#" {"x":1,"type":"ping"} "#)
                try await socket.expect(["type": "pong"])
            }
            await socket.close()
        },
        Scenario("Subscribing refuses the first thing that is wrong", clause: "/ws subscribe") { _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let foreign = try await carol.directChat(with: bob)
            let socket = try await alice.rawSocket()
            let (id, since) = ("Invalid chat_id", "Invalid since")
            let table: [(fields: [String: JSONValue], text: String)] = [
                ([:], id), (["chat_id": nil, "since": -1], id), (["chat_id": 0], id), (["chat_id": -1], id),
                (["chat_id": 1.5], id), (["chat_id": .string("\(chat)")], id), (["chat_id": true], id),
                (["chat_id": [chat.json]], id), (["chat_id": chat.json, "since": -1], since),
                (["chat_id": chat.json, "since": "0"], since), (["chat_id": chat.json, "since": 0.5], since),
                (["chat_id": chat.json, "since": true], since), (["chat_id": foreign.json, "since": -1], since),
                (["chat_id": foreign.json], "Not a member of this chat"),
                (["chat_id": foreign.json, "since": 0], "Not a member of this chat"),
                (["chat_id": 9_223_372_036_854_775_807], "Not a member of this chat"),
            ]
            for (fields, text) in table {
                try await socket.send(.object(fields.merging(["type": "subscribe"]) { $1 }))
                let answer = try await socket.frame()
                try expect(answer == ["type": "error", "message": .string(text)], "\(fields): \(answer)")
            }
            // None of this subscribed the socket: the first frame that it receives is of this chat.
            let heard = try await alice.group()
            try await socket.send(["type": "subscribe", "chat_id": heard.json])
            try await socket.expect(["type": "subscribed", "chat_id": heard.json])
            try await alice.say("unheard", in: chat)
            try await bob.say("unheard", in: foreign)
            let last = try await alice.say("heard", in: heard)
            try expect(try await socket.frame()["id"], equals: last.id.json)
            await socket.close()
        },
        Scenario(
            "A message reaches every subscribed socket, the sender's too, with exactly its keys", clause: "/ws messages"
        ) { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let file = try await alice.upload()
            let sockets = [try await alice.rawSocket(), try await bob.rawSocket(), try await bob.rawSocket()]
            for socket in sockets {
                try await socket.send(["type": "subscribe", "chat_id": chat.json])
                try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            }
            let bodies: [JSONValue] = [
                ["content": " Hey!\n\u{1F600}"], ["type": "voice", "file_id": file.json],
                ["type": "file", "content": "caption", "file_id": file.json],
            ]
            for body in bodies {
                let sent = try await alice.post("/chats/\(chat)/messages", body).succeeded(201)
                guard case .object(var frame) = sent else { throw CheckFailure("no object") }
                frame["message_type"] = sent["type"]
                frame["type"] = "message"
                for socket in sockets { try await socket.expect(.object(frame)) }
                // A row of the list is the frame without its type.
                frame["type"] = nil
                try expect(
                    try await bob.get("/chats/\(chat)/messages?limit=1").succeeded(200), equals: [.object(frame)])
            }
            for socket in sockets { await socket.close() }
        },
        Scenario("Only subscribed chats are heard, each once, however often subscribed", clause: "/ws subscribe") {
            _, alice, bob in
            let chats = [try await alice.directChat(with: bob), try await alice.group(with: bob)]
            let socket = try await bob.socket()
            try await alice.say("before", in: chats[0])
            for _ in 0..<3 { try await socket.subscribe(to: chats[0]) }
            try await alice.say("in the other chat", in: chats[1])
            let first = try await alice.say("once", in: chats[0])
            try expect(try await socket.message(), equals: first)
            try await socket.subscribe(to: chats[1])
            let both = [try await alice.say("a", in: chats[1]), try await alice.say("b", in: chats[0])]
            // There is no order between chats.
            try expect(Set(try await socket.messages(2)), equals: Set(both))

            try await socket.send(Messenger.Unsubscribe(chat: chats[0]))
            try expect(try await socket.receive(), is: Messenger.Unsubscribed(chat: chats[0]))
            try await alice.say("unheard", in: chats[0])
            let last = try await alice.say("heard", in: chats[1])
            try expect(try await socket.message(), equals: last)
            try await socket.send(Messenger.Ping())
            try expect(try await socket.receive(), is: Messenger.Pong())
            await socket.close()
        },
        Scenario("All sockets hear a chat's messages in the order of their ids", clause: "/ws messages") {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let sockets = [try await alice.socket(), try await bob.socket(), try await bob.socket()]
            for socket in sockets { try await socket.subscribe(to: chat) }
            let sent = try await together(60) { index in
                try await (index.isMultiple(of: 2) ? alice : bob).say("\(index)", in: chat)
            }
            for socket in sockets {
                try expect(try await socket.messages(60), equals: sent.sorted { $0.id < $1.id })
                await socket.close()
            }
        },
        Scenario("Signing in again renews a socket, as the same user only", clause: "/ws handshake") {
            world, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let other = try await world.signedIn(alice.name, alice.password)
            for wrong in [bob.token, alice.refreshToken, "nonsense"] {
                let socket = try await alice.rawSocket()
                try await socket.send(["type": "subscribe", "chat_id": chat.json])
                try await socket.expect(["type": "subscribed", "chat_id": chat.json])
                for token in [alice.token, other.token, alice.token] {
                    try await socket.send(["type": "auth", "token": .string(token)])
                    try await socket.expect(["type": "auth_ok", "user_id": alice.id.json])
                }
                let sent = try await bob.say("still here", in: chat)
                try expect(try await socket.frame()["id"], equals: sent.id.json)
                try await socket.send(["type": "auth", "token": .string(wrong)])
                try await socket.expect(["type": "error", "message": "Invalid or expired access token"])
                try await socket.expectClose(1008)
            }
        },
        Scenario("Signing out closes the session's sockets with 4001, and no others", clause: "/ws handshake") {
            world, alice in
            let other = try await world.signedIn(alice.name, alice.password)
            let sockets = [try await alice.rawSocket(), try await alice.rawSocket()]
            let stays = try await other.rawSocket()
            let moved = try await alice.rawSocket()
            try await moved.send(["type": "auth", "token": .string(other.token)])
            try await moved.expect(["type": "auth_ok", "user_id": alice.id.json])

            try await alice.client.signOut()
            for socket in sockets { try await socket.expectClose(4001) }
            for socket in [stays, moved] {
                try await socket.send(["type": "ping"])
                try await socket.expect(["type": "pong"])
                await socket.close()
            }
            // It takes at most a second, plus the time of the network.
            try await expectSoon("still signed in") { try await alice.get("/me").status != 200 }
            let late = try await world.rawSocket()
            try await late.send(["type": "auth", "token": .string(alice.token)])
            try await late.expect(["type": "error", "message": "Invalid or expired access token"])
            try await late.expectClose(1008)
        },
        Scenario("A client's message has 64 KiB at most", clause: "/ws errors") { _, alice in
            let socket = try await alice.rawSocket()
            let frame = #"{"type":"ping","x":""}"#
            let padding = String(repeating: "x", count: 65_536 - frame.utf8.count)
            try await socket.send(frame.replacingOccurrences(of: #""x":""#, with: #""x":"\#(padding)"#))
            try await socket.expect(["type": "pong"])
            try await socket.send(frame.replacingOccurrences(of: #""x":""#, with: #""x":"\#(padding)x"#))
            try await socket.expectClose(1009)
        },
    ]
}
