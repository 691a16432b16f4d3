@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let idempotency: [Scenario<DunbarWorld>] = [
        Scenario("A repeat under one key gets the first answer again, and does nothing", clause: "§1 Idempotency-Key") {
            world, john in
            let post = try await john.publish()
            let rude = try await Rudeness(of: try await world.person(isPrivate: false))
            for creation in creations(by: john, on: post.id, reporting: rude) {
                // A server reads few pictures of one user at a time, and refuses more. Repeats wait elsewhere.
                try await world.check(creation, repeats: 9)
            }
            try expect(try await john.posts(of: john).count, equals: 3)
            try expect(try await john.send(Dunbar.ListComments(post: post.id)).count, equals: 1)
        },
        Scenario("A repeated registration makes one account and a session each", clause: "§1 Idempotency-Key") {
            world in
            let (name, key) = (world.freshName(), world.freshKey())
            let answers = try await together(6) { _ in try await world.register(name, headers: key) }
            try expect(answers.allSatisfy { $0.status == 201 }, "\(answers.map(\.status))")
            try expect(Set(answers.map(\.body)).count, equals: 1)
            let cookies = answers.compactMap(\.cookie)
            try expect(Set(cookies).count, equals: 6)
            for cookie in cookies {
                try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).succeeded(200)
            }
            try await world.register(name, displayName: "Another", headers: key)
                .refused(422, "Idempotency-Key was already used for another request")
            try await world.register(name).refused(400, "Username already exists")
        },
        Scenario("A key is 1 to 255 printable ASCII characters, and belongs to its user and path", clause: "§1") {
            world, john, jane in
            let rude = try await Rudeness(of: jane)
            for creation in creations(by: john, on: try await john.publish().id, reporting: rude) {
                try await world.refuseBadKeys(of: creation)
            }
            let key = world.freshKey()
            for person in [john, jane] {
                let post = try await person.post("/posts", ["content": "x"], headers: key).succeeded(201)
                try expect(post["userId"], equals: person.id.json)
                let comment = try await person.post(
                    "/posts/\(post["id"]?.integer ?? 0)/comments", ["content": "x"], headers: key)
                try expect(comment.headers[.idempotentReplayed], equals: nil)
                try comment.succeeded(201)
            }
        },
        Scenario("A refused request leaves its key free", clause: "§1 only 2xx answers are kept") { world, john, jane in
            let post = try await jane.publish()
            let key = world.freshKey()
            try await john.post("/posts/\(post.id)/comments", ["content": "x"], headers: key)
                .refused(404, "Post not found")
            try await john.follow(jane)
            let answer = try await john.post("/posts/\(post.id)/comments", ["content": "x"], headers: key)
            try answer.succeeded(201)
            try expect(answer.headers[.idempotentReplayed], equals: nil)
        },
    ]

    /// It holds a person whom others report, with a post and a comment of theirs.
    private struct Rudeness {
        let person: Dunbar.User.ID
        let post: Dunbar.Post.ID
        let comment: Dunbar.Comment.ID

        init(of person: Person) async throws {
            self.person = person.id
            post = try await person.publish().id
            comment = try await person.send(Dunbar.AddComment(post: post, content: "rude")).id
        }
    }

    /// Returns each operation that takes a key, with its status, and a request for it and a different one.
    private static func creations(
        by john: Person, on post: Dunbar.Post.ID, reporting rude: Rudeness
    ) -> [KeyedRequest] {
        @Sendable func form(_ path: String, _ form: Form, _ key: HTTPFields) async throws -> RawAnswer {
            var headers = key
            headers[.contentType] = Form.type
            return try await john.raw.send(.post, path, headers: headers, bytes: form.bytes)
        }
        @Sendable func report(_ path: String, _ usual: Bool, _ key: HTTPFields) async throws -> RawAnswer {
            try await john.post(path + "/report", ["reason": usual ? "Hateful" : "Criminal_Activity"], headers: key)
        }
        let (small, large) = (SampleImage.jpeg(width: 8, height: 8), SampleImage.jpeg(width: 16, height: 16))
        return [
            KeyedRequest("a post") { try await john.post("/posts", ["content": $0 ? "x" : "y"], headers: $1) },
            KeyedRequest("a post with media") { usual, key in
                let files = [small, usual ? small : large].map { ("media", "x", "image/jpeg", $0) }
                return try await form("/posts", Form(fields: [("content", "x")], files: files), key)
            },
            KeyedRequest("a comment") {
                try await john.post("/posts/\(post)/comments", ["content": $0 ? "x" : "y"], headers: $1)
            },
            KeyedRequest("a report of a post", 200) { try await report("/posts/\(rude.post)", $0, $1) },
            KeyedRequest("a report of a comment", 200) { try await report("/comments/\(rude.comment)", $0, $1) },
            KeyedRequest("a report of a user", 200) { try await report("/users/\(rude.person)", $0, $1) },
            KeyedRequest("a photo", 200) { usual, key in
                let files = [("photo", "x", "image/jpeg", usual ? small : large)]
                return try await form("/users/\(john.id)/photo", Form(files: files), key)
            },
        ]
    }
}
