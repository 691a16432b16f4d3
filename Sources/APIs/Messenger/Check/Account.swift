@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of the caller's own profile.
extension MessengerScenarios {
    static let account: [Scenario<MessengerWorld>] = [
        Scenario("A profile changes field by field, and others see it so", clause: "PUT /me") { world, alice, bob in
            var expected = try await alice.get("/me").succeeded(200)
            func change(_ body: JSONValue, _ changed: [String: JSONValue], line: UInt = #line) async throws {
                if case .object(let members) = expected { expected = .object(members.merging(changed) { $1 }) }
                let answer = try await alice.raw(.put, "/me", body: body.description)
                try expect(try answer.succeeded(200), equals: expected, line: line)
                try expect(try await alice.get("/me").succeeded(200), equals: expected, line: line)
                let profile = try await bob.get("/users/\(alice.id)").succeeded(200)
                for name in ["id", "username", "display_name", "bio", "avatar_file_id"] {
                    try expect(profile[name], equals: expected[name], line: line)
                }
                try expect(profile["email"], equals: nil, line: line)
            }
            try await change(["display_name": " Älice\n", "bio": " Hi\n"], ["display_name": "Älice", "bio": " Hi\n"])
            try await change([:], [:])
            try await change(["bio": nil], ["bio": nil])
            let (longest, long) = (String(repeating: "\u{1F600}", count: 64), String(repeating: "é", count: 500))
            try await change(
                ["display_name": .string(longest), "bio": .string(long)],
                ["display_name": .string(longest), "bio": .string(long)])
            try await change(["display_name": "b"], ["display_name": "b"])
            try await change(["bio": "c"], ["bio": "c"])
            // A null where none is allowed, or a value of another type, counts as absent; and so does the rest.
            try await change(
                [
                    "display_name": nil, "bio": 5, "avatar_file_id": "x", "username": "x", "email": "x@y", "id": 1,
                    "created_at": nil,
                ], [:])
            try await change(["display_name": ["a"], "bio": ["a": "b"], "avatar_file_id": 1.5], [:])
            try await change(["display_name": "a", "bio": ""], ["display_name": "a", "bio": ""])
            // Other sessions and lists of members show the change, too.
            let chat = try await alice.group(with: bob)
            try await alice.send(Messenger.UpdateMe(displayName: "Alice A."))
            let members = try await bob.send(Messenger.GetChat(id: chat)).members
            try expect(members.map(\.displayName), equals: ["Alice A.", bob.name])
            let again = try await world.signedIn(alice.name, alice.password)
            try expect(try await again.send(Messenger.GetMe()).displayName, equals: "Alice A.")
        },
        Scenario("A search finds the new display name, and the old one no more", clause: "PUT /me") { world, alice in
            let (old, new) = (world.freshName(of: 8), world.freshName(of: 8))
            for name in [old, new + "É"] { try await alice.send(Messenger.UpdateMe(displayName: name)) }
            try expect(try await alice.send(Messenger.SearchUsers(new + "é")).map(\.id), equals: [alice.id])
            try expect(try await alice.send(Messenger.SearchUsers(old)), equals: [])
        },
        Scenario("What a profile may not be is refused, and nothing of it is kept", clause: "PUT /me") { world, alice in
            let before = try await alice.get("/me").succeeded(200)
            let name = "display_name must be 1 to 64 characters"
            let bio = "bio must be at most 500 characters"
            let long = JSONValue.string(String(repeating: "é", count: 501))
            let table: [(body: JSONValue, status: Int, text: String)] = [
                (["display_name": ""], 400, name), (["display_name": " \n"], 400, name),
                (["display_name": .string(String(repeating: "é", count: 65))], 400, name),
                (["bio": long], 400, bio), (["display_name": "", "bio": long, "avatar_file_id": 0], 400, name),
                (["display_name": "new", "bio": long, "avatar_file_id": 0], 400, bio),
                (["display_name": "a\u{0}"], 400, "Text must not contain NUL characters"),
                (["bio": "a\u{0}"], 400, "Text must not contain NUL characters"),
                (["display_name": "new", "bio": "new", "avatar_file_id": 0], 404, "File not found"),
                (["avatar_file_id": -1], 404, "File not found"),
                (["avatar_file_id": 9_223_372_036_854_775_807], 404, "File not found"),
            ]
            for (body, status, text) in table {
                try await alice.raw(.put, "/me", body: body.description)
                    .refused(status, text, "\(body.description.prefix(80))")
            }
            try await alice.raw(.put, "/me", body: "[]").refused(400, "Invalid JSON")
            try await world.raw.send(.put, "/me", body: "[").refused(401, "Missing Authorization header")
            try expect(try await alice.get("/me").succeeded(200), equals: before)
        },
        Scenario("A picture is an image of one's own, for everybody to see", clause: "PUT /me") { world, alice, bob in
            func set(_ file: JSONValue, as person: Person) async throws -> RawAnswer {
                try await person.raw(.put, "/me", body: (["avatar_file_id": file] as JSONValue).description)
            }
            var uploaded: [JSONValue] = []
            for type in ["image/png", "IMAGE/JPEG", "image/svg+xml"] {
                let file = try await alice.upload(Form(filename: "me", type: type)).succeeded(201)
                uploaded.append(file["id"] ?? .null)
            }
            let pictures = uploaded
            for type in ["text/plain", "imagery/png", nil] {
                let file = try await alice.upload(Form(filename: "me.png", type: type)).succeeded(201)
                try await set(file["id"] ?? .null, as: alice).refused(400, "avatar must be an image", type ?? "none")
            }
            for picture in pictures { try await set(picture, as: bob).refused(404, "File not found") }
            // The file is in no chat, so other users cannot see it until it is the picture.
            func download(_ picture: JSONValue, as person: Person) async throws -> RawAnswer {
                try await person.get("/files/\(picture.integer ?? 0)/download")
            }
            try await download(pictures[0], as: bob).refused(404, "File not found")
            for (index, picture) in pictures.enumerated() {
                for _ in 0..<2 {
                    let account = try await set(picture, as: alice).succeeded(200)
                    try expect(account["avatar_file_id"], equals: picture)
                }
                let profile = try await bob.get("/users/\(alice.id)").succeeded(200)
                try expect(profile["avatar_file_id"], equals: picture)
                let answer = try await bob.fetch(try await bob.location(of: picture))
                try expect(answer.text, equals: "content")
                if index > 0 {
                    // The former picture is removed.
                    for person in [alice, bob] {
                        try await download(pictures[index - 1], as: person).refused(404, "File not found")
                    }
                }
            }
            // A picture that a message refers to stays, for those who see the message.
            let chat = try await alice.directChat(with: bob)
            let carol = try await world.person()
            let held = try pictures[2]
            try await alice.post("/chats/\(chat)/messages", ["type": "file", "file_id": held]).succeeded(201)
            let cleared = try await set(nil, as: alice).succeeded(200)
            try expect(cleared["avatar_file_id"], equals: .null)
            for person in [alice, bob] { _ = try await person.location(of: held) }
            try await download(held, as: carol).refused(404, "File not found")
        },
    ]
}
