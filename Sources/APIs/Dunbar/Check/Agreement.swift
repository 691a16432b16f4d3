@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

/// Operations that show the same thing show the same values.
extension DunbarScenarios {
    static let agreement: [Scenario<DunbarWorld>] = [
        Scenario("A user is the same wherever shown", clause: "§2 profile") { world, john in
            let jane = try await world.described("Jane Doe")
            let profile = try await john.get("/users/\(jane.id)").succeeded(200)["user"]
            let expected: [String: JSONValue] = [
                "id": jane.id.json, "username": .string(jane.name), "displayName": "Jane Doe", "bio": "Hello world",
                "isPrivate": true,
            ]
            for (member, value) in expected { try expect(profile?[member], equals: value) }
            try expect(profile?["photo"]?.string?.hasPrefix("http"), equals: true)
            let known = ["id", "username", "displayName", "photo"]
            func isJane(_ user: JSONValue?, _ members: [String] = known, in list: String) throws {
                for member in members { try expect(user?[member] == profile?[member], "another \(member) in \(list)") }
            }
            let all = known + ["bio", "isPrivate", "createdAt"]
            try isJane(try await john.get("/users/search?q=\(jane.name)").succeeded(200)[0], all, in: "search")
            // A request of each to the other, and what becomes of them.
            try await john.post("/users/\(jane.id)/follow").said("Follow request sent")
            try await jane.post("/users/\(john.id)/follow").said("Follow request sent")
            let outgoing = try await john.get("/follow-requests/outgoing").succeeded(200)[0]
            try isJane(outgoing?["following"], in: "outgoing")
            let pending = try await john.get("/follow-requests/pending").succeeded(200)[0]
            try isJane(pending?["follower"], in: "pending")
            let others = [
                try await jane.get("/follow-requests/pending").succeeded(200)[0],
                try await jane.get("/follow-requests/outgoing").succeeded(200)[0],
            ]
            try expect(outgoing?["createdAt"], equals: others[0]?["createdAt"] ?? nil)
            try expect(pending?["createdAt"], equals: others[1]?["createdAt"] ?? nil)
            try await john.send(Dunbar.AcceptRequest(id: try await john.request(of: jane)))
            try await jane.send(Dunbar.AcceptRequest(id: try await jane.request(of: john)))
            for list in ["followers", "following"] {
                let users = try await john.get("/users/\(john.id)/\(list)").succeeded(200)
                try isJane(users[0], all, in: list)
            }
            try await john.post("/users/\(jane.id)/block").said("User blocked")
            try isJane(try await john.get("/blocks").succeeded(200)[0], all, in: "blocks")
        },
        Scenario("One's own account is the same after registering, signing in and later", clause: "§2 wrapped user") {
            world in
            let name = world.freshName()
            let registered = try await world.register(name, displayName: "Jane")
            let made = try registered.succeeded(201)["user"]
            try expect(registered.headers[.setCookie]?.contains("HttpOnly"), equals: true)
            guard let id = made?["id"]?.integer, let cookie = registered.cookie else { throw CheckFailure("no user") }
            let jane = Person(id: .init(id), name: name, cookie: cookie, world: world)
            try await jane.raw(.patch, "/users/\(id)", body: #"{"bio":"Hello","isPrivate":false}"#).succeeded(200)
            _ = try await jane.client.uploadPhoto(.sample, of: jane.id)
            let own = try await jane.get("/user").succeeded(200)
            let signedIn = try await world.login(name).succeeded(200)
            for answer in [own, signedIn] {
                try expect(answer["isFollowing"], equals: false)
                try expect(answer["isPending"], equals: false)
                for member in ["id", "username", "email", "displayName", "isAdmin", "createdAt"] {
                    try expect(answer["user"]?[member], equals: made?[member] ?? nil)
                }
                try expect(answer["user"]?["bio"], equals: "Hello")
                try expect(answer["user"]?["isPrivate"], equals: false)
            }
            try expect(made?["email"], equals: .string("\(name)@example.com"))
            let profile = try await jane.get("/users/\(id)").succeeded(200)["user"]
            for member in ["photo", "createdAt", "isPrivate", "id", "bio"] {
                try expect(own["user"]?[member], equals: profile?[member] ?? nil)
                try expect(signedIn["user"]?[member], equals: profile?[member] ?? nil)
            }
        },
        Scenario("A post is the same in every list", clause: "§3 posts") { world in
            let jane = try await world.described("Jane")
            let post = try await jane.client.post("Look", media: [.sample, .video(Samples.mp4)])
            let older = [
                "/feed", "/users/\(jane.id)/posts", "/posts/\(jane.id)", "/posts?userId=\(jane.id)",
            ]
            let expected = try await jane.get(older[0]).succeeded(200)
            try expect(expected.elements.count, equals: 1)
            try expect(expected[0]?["media"], equals: .list(post.media.map { .string($0) }))
            let photo = try await jane.get("/users/\(jane.id)").succeeded(200)["user"]?["photo"]
            try expect(expected[0]?["user"]?["photo"], equals: photo ?? nil)
            for path in older { try expect(try await jane.get(path).succeeded(200), equals: expected) }
            let comment = try await jane.post("/posts/\(post.id)/comments", ["content": "Oh"]).succeeded(201)
            try expect(comment["user"]?["photo"], equals: photo ?? nil)
            try expect(try await jane.get("/posts/\(post.id)/comments").succeeded(200), equals: [comment])
            try expect(
                try await jane.get("/posts?userId=\(jane.id)&before=\(post.id)").succeeded(200), equals: [])
            // Nothing is shown of a post that is deleted, and nothing without a session.
            try await jane.raw(.delete, "/posts/\(post.id)").said("Post deleted")
            try await jane.get("/posts/\(post.id)/comments").refused(404, "Post not found")
            let lists = older + ["/users/\(jane.id)/followers", "/users/\(jane.id)/following"]
            for path in lists { try await jane.get(path).succeeded(200, path) }
            try await jane.post("/logout").said("Logged out successfully")
            for path in lists { try await jane.get(path).refused(401, "Unauthorized", path) }
        },
        Scenario("Lists change with what they list", clause: "§2 orders") { world, john, jane, jack in
            let stem = world.freshName()
            try expect(try await john.get("/users/search?q=\(stem)").succeeded(200), equals: [])
            try await world.person(stem)
            try expect(try await john.get("/users/search?q=\(stem)").succeeded(200).elements.count, equals: 1)
            let following = "/users/\(john.id)/following"
            try expect(try await john.get(following).succeeded(200), equals: [])
            try await john.follow(jane)
            try await john.follow(jack)
            let ids = try await john.get(following).succeeded(200).elements.map { $0["id"] }
            try expect(ids, equals: [jack.id.json, jane.id.json])
            // A profile is shown until its account is deleted.
            let profile = "/users/\(jack.id)"
            try await john.get(profile).succeeded(200)
            try await jack.post("/account/delete", ["password": .string(DunbarWorld.password)])
                .said("Account deleted successfully")
            try await john.get(profile).refused(404, "User not found")
            let image = SampleImage.jpeg(width: 8, height: 8)
            func upload(_ person: Person) async throws -> RawAnswer {
                try await person.raw(
                    .post, "/users/\(john.id)/photo", headers: [.contentType: Form.type],
                    bytes: Form(files: [("photo", "me.jpg", "image/jpeg", image)]).bytes)
            }
            try await upload(john).succeeded(200)
            try await upload(jane).refused(403, "Not authorized to update this profile")
        },
        Scenario("The state of the server has the time at which it was asked", clause: "GET /storage/health") { world in
            func time() async throws -> Date {
                let text = try await world.raw.send(.get, "/storage/health").succeeded(200)["timestamp"]?.string ?? ""
                guard let time = Dunbar.Timestamp(text) else { throw CheckFailure("no time: \(text)") }
                return time.date
            }
            let before = try await time()
            let made = try await world.person().send(Dunbar.GetCurrentUser()).user.createdAt.date
            try expect(before <= made, "the state is of \(before), and an account of \(made) is younger")
            try expect(try await time() >= made, "the state is older than what was made before")
        },
        rules.strangers("Strangers change nothing", clause: "§3 anonymous"),
    ]
}

extension DunbarWorld {
    /// Returns a user with a bio and a photo.
    fileprivate func described(_ displayName: String) async throws -> Person {
        let person = try await person(named: displayName)
        try await person.raw(.patch, "/users/\(person.id)", body: #"{"bio":"Hello world"}"#).succeeded(200)
        _ = try await person.client.uploadPhoto(.sample, of: person.id)
        return person
    }
}
