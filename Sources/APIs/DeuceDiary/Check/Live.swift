@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let live: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A log reaches everybody who listens to its groups, its author too", clause: "/ws") {
            world, john, jane in
            let group = try await john.group(with: jane)
            let sockets = [try await world.rawSocket(in: group), try await world.rawSocket(in: group)]
            let logged = try await john.post(
                "/api/deuces", ["groupIds": [group.json], "location": "Home", "thoughts": "Hi \"there\" 💩\n"]
            ).succeeded()
            guard case .object(var entry)? = logged["entries"]?[0] else { throw CheckFailure("no entry") }
            guard case .object(var user) = try await john.get("/api/auth/user").succeeded() else {
                throw CheckFailure("no user")
            }
            user["email"] = .null
            entry["user"] = .object(user)
            try expect(user["deuceCount"], equals: 1)
            for socket in sockets {
                try await socket.expect([
                    "type": "deuce_logged", "message": "John Doe logged a new deuce", "entry": .object(entry),
                    "userId": john.id.json,
                ])
            }
            // The frame is the same as in the group's feed.
            let feed = try await jane.get("/api/groups/\(group)").succeeded()
            try expect(feed["entries"]?[0] ?? nil, equals: .object(entry))
            for socket in sockets { await socket.close() }
        },
        Scenario("A frame names the author by username, else by name, else as Someone", clause: "/ws") { world in
            let table: [(Bearer, named: String)] = [
                (Bearer(subject: world.freshID()), "Someone"),
                (Bearer(subject: world.freshID(), firstName: "John"), "John"),
                (Bearer(subject: world.freshID(), lastName: "Doe"), "Someone"),
                (Bearer(subject: world.freshID(), firstName: "John", lastName: "Doe"), "John Doe"),
            ]
            for (bearer, name) in table {
                let person = try await world.stranger(bearer)
                let group = try await person.group()
                let socket = try await world.rawSocket(in: group)
                try await person.log(in: group)
                try expect(try await socket.frame()["message"], equals: .string("\(name) logged a new deuce"))
                let username = world.freshName()
                try await person.send(DeuceDiary.UpdateUser(username: username))
                try await person.log(in: group)
                try expect(try await socket.frame()["message"], equals: .string("\(username) logged a new deuce"))
                await socket.close()
            }
        },
        Scenario("The last group that was joined is the one that is heard", clause: "/ws") { world, john in
            let (one, two) = (try await john.group(), try await john.group())
            let socket = try await world.rawSocket(in: one)
            try await socket.join(one)
            try await socket.join(two)
            try await socket.join(two)
            try await john.log("unheard", in: one)
            let both = try await john.log(in: one, two)
            try expect(try await socket.entry()["id"], equals: both[1].id.json)
            await socket.close()
        },
        Scenario("A log into several groups is a frame for each, and one only", clause: "/ws") { world, john in
            let groups = [try await john.group(), try await john.group()]
            var sockets: [RawSocket] = []
            for group in groups { sockets.append(try await world.rawSocket(in: group)) }
            let logged = try await john.log(in: groups[0], groups[1], groups[0])
            let last = try await john.log("last", in: groups[0], groups[1])
            for (index, socket) in sockets.enumerated() {
                try expect(try await socket.entry()["id"], equals: logged[index].id.json)
                try expect(try await socket.entry()["id"], equals: last[index].id.json)
                await socket.close()
            }
        },
        Scenario("Nonsense and unknown groups are met with silence", clause: "/ws") { world, john, jane in
            let group = try await john.group(with: jane)
            let socket = try await world.rawSocket(in: group)
            let nonsense = [
                "", "{", "[]", "5", "null", #""join_group""#, "{}", #"{"type":5}"#, #"{"type":"dance"}"#,
                #"{"type":"JOIN_GROUP","groupId":"x"}"#, #"{"groupId":"x"}"#,
            ]
            for text in nonsense { try await socket.send(text) }
            let entry = try await john.log(in: group)[0]
            try expect(try await socket.entry()["id"], equals: entry.id.json)
            for id in [.string(world.unknownID()), "x", 5, nil, [group.json]] as [JSONValue] {
                try await socket.send(["type": "join_group", "groupId": id])
            }
            try await socket.send(["type": "join_group"])
            // These groups replaced the subscription, and they have no notices.
            try await socket.waitUntilHandled()
            // A server may announce a log some time after its answer: by then this one has arrived elsewhere.
            let other = try await world.rawSocket(in: group)
            for unheard in [try await john.log(in: group)[0], try await john.log(in: group)[0]] {
                try expect(try await other.entry()["id"], equals: unheard.id.json)
            }
            await other.close()
            try await socket.join(group)
            let next = try await jane.log(in: group)[0]
            try expect(try await socket.entry()["id"], equals: next.id.json)
            await socket.close()
        },
        Scenario("Reactions, comings, goings, deletions and refusals send nothing", clause: "/ws") {
            world, john, jane, joan in
            let group = try await john.group(with: joan)
            let socket = try await world.rawSocket(in: group)
            let entry = try await john.log(in: group)[0]
            try expect(try await socket.entry()["id"], equals: entry.id.json)
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            try await joan.send(DeuceDiary.LeaveGroup(group: group))
            try await jane.send(DeuceDiary.JoinGroup(invite: invite))
            try await jane.send(DeuceDiary.AddReaction(entry: entry.id, emoji: "💩"))
            try await jane.send(DeuceDiary.RemoveReaction(entry: entry.id, emoji: "💩"))
            try await jane.send(DeuceDiary.UpdateUser(username: world.freshName()))
            try await john.send(DeuceDiary.DeleteDeuce(entry: entry.id))
            try await joan.send(DeuceDiary.DeleteUser())
            try await jane.post("/api/deuces", ["groupIds": [group.json], "location": ""])
                .refused(400, "Location is required")
            let next = try await jane.log("heard", in: group)[0]
            try expect(try await socket.entry()["id"], equals: next.id.json)
            await socket.close()
        },
        Scenario("All sockets hear the entries of a group in their order", clause: "/ws") { world, john, jane in
            let group = try await john.group(with: jane)
            let sockets = [try await world.rawSocket(in: group), try await world.rawSocket(in: group)]
            _ = try await together(40) { index in
                try await (index.isMultiple(of: 2) ? john : jane).log("\(index)", in: group)
            }
            let entries = try await john.entries(of: group).map(\.id.json).reversed()
            for socket in sockets {
                for entry in entries { try expect(try await socket.entry()["id"], equals: entry) }
                await socket.close()
            }
        },
        Scenario("A long message ends the socket", clause: "/ws") { world, john in
            let group = try await john.group()
            let socket = try await world.rawSocket(in: group)
            let entry = try await john.log(in: group)[0]
            try expect(try await socket.entry()["id"], equals: entry.id.json)
            try await socket.send(String(repeating: "x", count: 65_536))
            try await socket.send(String(repeating: "x", count: 65_537))
            try await socket.expectClose(1009)
        },
        Scenario("A socket with a token hears what a member may hear, and nothing after", clause: tokens) {
            _, john, jane in
            let (own, foreign) = (try await john.group(with: jane), try await john.group())
            // A client that cannot set headers passes the token in the URL.
            for socket in [try await jane.socket(), try await jane.socket(inURL: true)] {
                try await socket.send(["type": "join_group", "groupId": own.json])
                try await socket.send(["type": "join_group", "groupId": foreign.json])
                try await socket.expect(["type": "error", "message": "Not a member of this group"])
                try await socket.send(["type": "join_group", "groupId": "x"])
                try await socket.expect(["type": "error", "message": "Invalid groupId"])
                try await john.log("unheard", in: foreign)
                let heard = try await john.log("heard", in: own)[0]
                try expect(try await socket.entry()["id"], equals: heard.id.json)
                await socket.close()
            }
            let socket = try await jane.socket()
            try await socket.send(["type": "join_group", "groupId": own.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            try await john.send(DeuceDiary.RemoveMember(group: own, user: jane.id))
            try await socket.expect(["type": "error", "message": "Not a member of this group"])
            try await john.log("unheard", in: own)
            try await socket.send(["type": "join_group", "groupId": own.json])
            try await socket.expect(["type": "error", "message": "Not a member of this group"])
            await socket.close()
        },
        Scenario("A newer token comes over the socket, and no other changes it", clause: tokens) { world, john, jane in
            let group = try await john.group(with: jane)
            let socket = try await jane.socket()
            try await socket.send(["type": "join_group", "groupId": group.json])
            let another = try await world.stranger(Bearer(subject: jane.id.rawValue))
            try await socket.send(["type": "auth", "token": .string(another.token)])
            for token in [.string("\(jane.token)x"), .string(john.token), "", 5, nil] as [JSONValue] {
                try await socket.send(["type": "auth", "token": token])
                try await socket.expect(["type": "error", "message": "Invalid token"])
            }
            let heard = try await john.log(in: group)[0]
            try expect(try await socket.entry()["id"], equals: heard.id.json)
            await socket.close()
            // The contract's own socket ignores such a message.
            let open = try await world.rawSocket(in: group)
            try await open.send(["type": "auth", "token": "nonsense"])
            let next = try await john.log(in: group)[0]
            try expect(try await open.entry()["id"], equals: next.id.json)
            await open.close()
        },
        Scenario("A socket with a token that is not good is not opened", clause: tokens) { world, john in
            for headers in [[.authorization: "Bearer \(john.token)x"], [.authorization: "Bearer"]] as [HTTPFields] {
                do {
                    _ = try await world.sockets.open(
                        world.baseURL.appendingPathComponent("ws"), headers: headers, maximumMessageSize: 65_536)
                    throw CheckFailure("a socket was opened with \(headers)")
                } catch let refused as SocketRefused {
                    try expect(refused.status, equals: 401)
                }
            }
        },
    ]

    private static let tokens = "/ws with a token"
}

extension Person {
    /// Opens a raw socket with this user's token.
    func socket(inURL: Bool = false) async throws -> RawSocket {
        var url = world.baseURL.appendingPathComponent("ws")
        var headers: HTTPFields = [:]
        if inURL {
            url.append(queryItems: [URLQueryItem(name: "token", value: token)])
        } else {
            headers[.authorization] = "Bearer \(token)"
        }
        return RawSocket(try await world.sockets.open(url, headers: headers, maximumMessageSize: 262_144))
    }
}
