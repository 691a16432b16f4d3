@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let reports: [Scenario<DunbarWorld>] = [
        Scenario("A post is reported once by each user who sees it", clause: "POST /posts/:id/report") {
            _, john, jane in
            let post = try await john.publish()
            let path = "/posts/\(post.id)/report"
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
        Scenario("What is no report is refused, the first thing first", clause: "§6 POST /posts/:id/report") { world in
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
