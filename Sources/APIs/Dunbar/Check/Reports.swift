@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let reports: [Scenario<DunbarWorld>] = [
        Scenario("A post is reported once by each user who sees it", clause: "POST /posts/:id/report") {
            world, john, jane in
            let follower = try await world.person()
            try await follower.follow(john)
            let post = try await john.publish()
            let path = "/posts/\(post.id)/report"
            // A follower could report it; this is not a follower.
            try await jane.post(path, ["reason": "Hateful"]).refused(404, "Post not found")
            try await jane.follow(john)
            try await jane.post(path, ["reason": "Harmful_or_Abusive", "details": " \"rude\" \n"]).said("Post reported")
            try await jane.post(path, ["reason": "Hateful"]).refused(400, "You have already reported this post")
            // A report removes nothing, and no user learns of it.
            try expect(try await jane.posts(of: john), equals: [post])
            for reason in Dunbar.ReportReason.all {
                let post = try await john.publish()
                try await jane.send(Dunbar.ReportPost(post: post.id, reason: reason))
            }
            try await john.raw(.delete, "/posts/\(post.id)").said("Post deleted")
            try await jane.post(path, ["reason": "Hateful"]).refused(404, "Post not found")
        },
        Scenario("An invalid report is refused, the first thing first", clause: "§6 POST /posts/:id/report") { world in
            let john = try await world.person(isPrivate: false)
            let jane = try await world.person()
            let post = try await john.publish()
            let path = "/posts/\(post.id)/report"
            try await world.raw.send(.post, "/posts/x/report", body: "{").refused(401, "Unauthorized")
            try await jane.raw(.post, "/posts/x/report", body: "{").refused(400, "Malformed JSON")
            try await jane.post("/posts/x/report").refused(400, "Invalid post ID")
            try await jane.post("/posts/999999999999/report").refused(404, "Post not found")
            try await john.post(path).refused(400, "You cannot report your own post")
            for reason in [nil, "", "hateful", "Spam", 5, .null, ["Hateful"], " Hateful", "Hateful\u{0}"]
                as [JSONValue?]
            {
                try await jane.post(path, reason.map { ["reason": $0] } ?? [:])
                    .refused(400, "Invalid reason", "\(reason as Any)")
            }
            let long = String(repeating: "é", count: 2001)
            try await jane.post(path, ["reason": "Hateful", "details": .string(long)])
                .refused(400, "Details must be at most 2000 characters")
            try await jane.post(path, ["reason": "Hateful", "details": "a\u{0}"])
                .refused(400, "Text must not contain NUL characters")
            try await jane.post(path, ["reason": "Hateful", "details": .string(" \(long.dropLast()) ")])
                .said("Post reported")
            // A mistake in the report is refused before an earlier report is noticed.
            try await jane.post(path, ["reason": "Spam"]).refused(400, "Invalid reason")
        },
        Scenario("A user is reported once by each who may know of them", clause: "POST /users/:id/report") {
            world, john, jane in
            let follower = try await world.person()
            try await follower.follow(john)
            let path = "/users/\(john.id)/report"
            try await john.raw(.post, "/users/\(jane.id)/block", body: "{}").said("User blocked")
            try await jane.post(path, ["reason": "Hateful"]).refused(404, "User not found")
            try await john.raw(.delete, "/users/\(jane.id)/block").said("User unblocked")
            try await jane.post("/users/x/report").refused(400, "Invalid user ID")
            try await jane.post("/users/999999999999/report").refused(404, "User not found")
            try await jane.post("/users/\(jane.id)/report").refused(400, "You cannot report yourself")
            try await jane.post(path, ["reason": "Spam"]).refused(400, "Invalid reason")
            let long = JSONValue.string(String(repeating: "é", count: 2001))
            try await jane.post(path, ["reason": "Hateful", "details": long])
                .refused(400, "Details must be at most 2000 characters")
            try await jane.send(Dunbar.ReportUser(user: john.id, reason: .hateful, details: " \"rude\" \n"))
            try await jane.post(path, ["reason": "Hateful"]).refused(400, "You have already reported this user")
            // It changes nothing for either of them.
            try await jane.follow(john)
        },
        Scenario("A comment is reported once by each user who sees it", clause: "POST /comments/:id/report") {
            world, john, jane in
            let follower = try await world.person()
            try await follower.follow(john)
            let post = try await john.publish()
            let comment = try await john.send(Dunbar.AddComment(post: post.id, content: "rude"))
            let path = "/comments/\(comment.id)/report"
            try await jane.post(path, ["reason": "Hateful"]).refused(404, "Comment not found")
            try await jane.follow(john)
            try await jane.post("/comments/x/report").refused(400, "Invalid comment ID")
            try await jane.post("/comments/999999999999/report").refused(404, "Comment not found")
            try await john.post(path).refused(400, "You cannot report your own comment")
            try await jane.post(path, ["reason": "Spam"]).refused(400, "Invalid reason")
            let long = JSONValue.string(String(repeating: "é", count: 2001))
            try await jane.post(path, ["reason": "Hateful", "details": long])
                .refused(400, "Details must be at most 2000 characters")
            try await jane.send(Dunbar.ReportComment(comment: comment.id, reason: .harmfulOrAbusive, details: "x"))
            try await jane.post(path, ["reason": "Hateful"]).refused(400, "You have already reported this comment")
            try expect(
                try await jane.send(Dunbar.ListComments(post: post.id)).map(\.id), equals: [comment.id])
            try await john.raw(.delete, "/comments/\(comment.id)").said("Comment deleted")
            try await jane.post(path, ["reason": "Hateful"]).refused(404, "Comment not found")
        },
        Scenario("Many reports at once are one", clause: "§6 POST /posts/:id/report") { world in
            let john = try await world.person(isPrivate: false)
            let jane = try await world.person()
            let post = try await john.publish()
            let answers = try await together(10) { _ in
                try await jane.post("/posts/\(post.id)/report", ["reason": "Hateful"])
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 {
                try answer.refused(400, "You have already reported this post")
            }
        },
    ]
}
