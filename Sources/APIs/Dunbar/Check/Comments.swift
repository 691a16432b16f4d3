@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let comments: [Scenario<DunbarWorld>] = [
        Scenario("Comments stand under a post, oldest first", clause: "POST /posts/:id/comments", level: .contract) {
            _, john, jane in
            try await jane.follow(john)
            let post = try await john.publish()
            let first = try await jane.send(Dunbar.AddComment(post: post.id, content: "  Great post! "))
            try expect(first.content, equals: "Great post!")
            try expect([first.userId, first.user.id], equals: [jane.id, jane.id])
            try expect(first.postId, equals: post.id)
            let second = try await john.send(Dunbar.AddComment(post: post.id, content: "Thanks 🎉"))
            for person in [john, jane] {
                try expect(try await person.send(Dunbar.ListComments(post: post.id)), equals: [first, second])
            }
        },
        Scenario("An invalid comment is refused, after what cannot be seen", clause: "§1 comments") {
            world, john, jane in
            let post = try await john.publish()
            let path = "/posts/\(post.id)/comments"
            try await world.raw.send(.post, path, body: "{").refused(401, "Unauthorized")
            try await jane.post(path).refused(404, "Post not found")
            try await jane.get(path).refused(404, "Post not found")
            for path in ["/posts/999999999999/comments"] {
                try await john.post(path).refused(404, "Post not found")
                try await john.get(path + "?limit=x").refused(404, "Post not found")
            }
            for path in ["/posts/x/comments", "/posts/0/comments"] {
                try await john.post(path).refused(400, "Invalid post ID")
                try await john.get(path).refused(400, "Invalid post ID")
            }
            for body in [
                "{}", #"{"content":""}"#, #"{"content":" \n "}"#, #"{"content":"\u200b\u2800"}"#, #"{"content":5}"#,
                #"{"content":null}"#, "",
            ] {
                try await john.raw(.post, path, body: body).refused(400, "Comment cannot be empty", body)
            }
            let long = String(repeating: "é", count: 2001)
            try await john.post(path, ["content": .string(long)])
                .refused(400, "Comment must be at most 2000 characters")
            try await john.post(path, ["content": "a\u{0}"]).refused(400, "Text must not contain NUL characters")
            try await john.post(path, ["content": .string(" \(long.dropLast()) ")]).succeeded(201)
        },
        Scenario("A comment is deleted by who wrote it, and by whose post it is on", clause: "DELETE /comments/:id") {
            world, john, jane, alex in
            for person in [jane, alex] { try await person.follow(john) }
            let post = try await john.publish()
            func comment() async throws -> String {
                "/comments/\(try await jane.send(Dunbar.AddComment(post: post.id, content: "x")).id)"
            }
            for person in [jane, john] {
                let path = try await comment()
                try await alex.raw(.delete, path).refused(403, "Not authorized to delete this comment")
                try await person.raw(.delete, path).said("Comment deleted")
                try await person.raw(.delete, path).refused(404, "Comment not found")
                try expect(try await alex.send(Dunbar.ListComments(post: post.id)), equals: [])
            }
            // To a user who may not see the comment, it does not exist.
            let path = try await comment()
            try await world.person().raw(.delete, path).refused(404, "Comment not found")
            try await john.send(Dunbar.RemoveFollower(follower: jane.id))
            try await jane.raw(.delete, path).refused(404, "Comment not found")
            try await alex.raw(.delete, path).refused(403, "Not authorized to delete this comment")
            for id in ["x", "0", "-1", "1.0"] {
                try await john.raw(.delete, "/comments/\(id)").refused(400, "Invalid comment ID", id)
                try await world.raw.send(.delete, "/comments/\(id)").refused(401, "Unauthorized")
            }
            try await john.raw(.delete, "/comments/999999999999").refused(404, "Comment not found")
        },
        Scenario("A comment that meets the deletion of its post is not left behind", clause: "§4") { _, john in
            for _ in 0..<5 {
                let post = try await john.publish()
                let statuses = try await together(6) { index in
                    index == 3
                        ? try await john.raw(.delete, "/posts/\(post.id)").status
                        : try await john.post("/posts/\(post.id)/comments", ["content": "x"]).status
                }
                try expect(statuses.allSatisfy { [200, 201, 404].contains($0) }, "\(statuses)")
                try await john.get("/posts/\(post.id)/comments").refused(404, "Post not found")
            }
        },
    ]
}
