@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let blocks: [Scenario<DunbarWorld>] = [
        Scenario("A block ends what was between two, and hides each from the other", clause: "POST /users/:id/block") {
            world, a, b, c in
            for person in [a, b, c] { try await person.send(Dunbar.UpdateUser(id: person.id, isPrivate: false)) }
            try await a.follow(b)
            try await b.follow(a)
            for person in [a, b] { try await person.follow(c) }
            let (of_a, of_b, of_c) = (try await a.publish(), try await b.publish(), try await c.publish())
            let comments = [
                try await a.send(Dunbar.AddComment(post: of_c.id, content: "by a")),
                try await b.send(Dunbar.AddComment(post: of_c.id, content: "by b")),
            ]
            for _ in 0..<2 { try await a.post("/users/\(b.id)/block").said("User blocked") }
            try expect(try await a.send(Dunbar.ListBlocks()).map(\.id), equals: [b.id])
            try expect(try await b.send(Dunbar.ListBlocks()), equals: [])
            for (one, other, own) in [(a, b, of_a), (b, a, of_b)] {
                try expect(try await one.send(Dunbar.ListFollowers(of: one.id)), equals: [])
                try expect(try await one.send(Dunbar.ListFollowing(of: one.id)).map(\.id), equals: [c.id])
                try expect(try await one.feed(), equals: [own, of_c].sorted { $0.id > $1.id })
                for path in ["/users/\(other.id)/posts", "/posts/\(other.id)", "/posts?userId=\(other.id)"] {
                    try expect(try await one.get(path).succeeded(200), equals: [])
                }
                try expect(try await one.send(Dunbar.SearchUsers(other.name)), equals: [])
                let seen = try await one.send(Dunbar.ListComments(post: of_c.id))
                try expect(seen, equals: comments.filter { $0.userId == one.id })
                try expect(try await one.send(Dunbar.ListComments(post: of_c.id, limit: 1)), equals: seen)
            }
            // Other users are not affected.
            try expect(try await c.send(Dunbar.ListComments(post: of_c.id)), equals: comments)
            try expect(try await c.posts(of: a), equals: [of_a])
            try await world.raw.send(.get, "/users/\(a.id)").succeeded(200)
            // Follows that a block ended stay ended.
            for _ in 0..<2 { try await a.raw(.delete, "/users/\(b.id)/block").said("User unblocked") }
            try expect(try await a.send(Dunbar.ListBlocks()), equals: [])
            try expect(try await b.flags(of: a), equals: [false, false])
            try expect(try await a.posts(of: b), equals: [of_b])
            try expect(try await b.send(Dunbar.ListComments(post: of_c.id)), equals: comments)
            try expect(try await b.client.follow(a.id), equals: .following)
        },
        Scenario("For the blocked one there is no such user", clause: "§6 POST /users/:id/block") { _, a, b in
            try await a.send(Dunbar.UpdateUser(id: a.id, isPrivate: false))
            let post = try await a.publish()
            let comment = try await a.send(Dunbar.AddComment(post: post.id, content: "mine"))
            try await a.send(Dunbar.Block(user: b.id))
            let profile = "/users/\(a.id)"
            try await b.get(profile).refused(404, "User not found")
            try await b.raw(.patch, profile, body: #"{"bio":"x"}"#).refused(404, "User not found")
            for action in ["follow", "unfollow", "block"] {
                try await b.post("\(profile)/\(action)").refused(404, "User not found", action)
            }
            try await b.raw(.delete, "\(profile)/block").refused(404, "User not found")
            try await b.post("/followers/\(a.id)/remove").refused(400, "This user is not your follower")
            try await b.raw(.delete, "/posts/\(post.id)").refused(404, "Post not found")
            try await b.get("/posts/\(post.id)/comments").refused(404, "Post not found")
            try await b.post("/posts/\(post.id)/comments", ["content": "x"]).refused(404, "Post not found")
            try await b.post("/posts/\(post.id)/report", ["reason": "Hateful"]).refused(404, "Post not found")
            try await b.raw(.delete, "/comments/\(comment.id)").refused(404, "Comment not found")
            // The blocking user receives an explanation.
            try await a.get("/users/\(b.id)").succeeded(200)
            try await a.post("/users/\(b.id)/follow").refused(400, "Unblock this user first")
            try await a.post("/users/\(b.id)/unfollow").refused(400, "Not following this user")
        },
        Scenario("A block takes requests along, and may be made before any", clause: "POST /users/:id/block") {
            _, a, b in
            try await a.send(Dunbar.Follow(user: b.id))
            try await b.send(Dunbar.Follow(user: a.id))
            let request = try await a.request(of: b)
            try await a.send(Dunbar.Block(user: b.id))
            for person in [a, b] {
                try expect(try await person.send(Dunbar.ListPendingRequests()), equals: [])
                try expect(try await person.send(Dunbar.ListOutgoingRequests()), equals: [])
            }
            try await a.post("/follow-requests/\(request)/accept").refused(404, "Follow request not found")
        },
        Scenario("Who cannot be blocked", clause: "§6 POST /users/:id/block") { world, a in
            for method in [HTTPRequest.Method.post, .delete] {
                try await world.raw.send(method, "/users/x/block").refused(401, "Unauthorized")
                try await a.raw(method, "/users/x/block").refused(400, "Invalid user ID")
                try await a.raw(method, "/users/999999999999/block").refused(404, "User not found")
            }
            try await a.post("/users/\(a.id)/block").refused(400, "Cannot block yourself")
            try await a.raw(.delete, "/users/\(a.id)/block").said("User unblocked")
            try await world.raw.send(.get, "/blocks").refused(401, "Unauthorized")
        },
        Scenario("Blocks come in pages, newest first", clause: "GET /blocks") { world, a in
            let others = try await world.people(5)
            for other in others { try await a.send(Dunbar.Block(user: other.id)) }
            let newest = others.map(\.id).reversed().map { $0 }
            try expect(try await a.send(Dunbar.ListBlocks()).map(\.id), equals: newest)
            try expect(try await a.send(Dunbar.ListBlocks(limit: 2)).map(\.id), equals: Array(newest[0..<2]))
            try expect(
                try await a.send(Dunbar.ListBlocks(limit: 2, before: newest[1])).map(\.id),
                equals: Array(newest[2..<4]))
        },
        Scenario("A block that meets a follow, or its acceptance, leaves no follow", clause: "§4, §6 blocks") { world in
            for round in 0..<6 {
                let isPrivate = round % 2 == 0
                let people = try await world.people(2, isPrivate: isPrivate)
                let (a, b) = try (people[0], people[1])
                var request: Dunbar.FollowRequest.ID?
                if isPrivate {
                    try await b.send(Dunbar.Follow(user: a.id))
                    request = try await a.request(of: b)
                }
                let answers = try await together(8) { [request] index in
                    switch index % 4 {
                    case 0: try await a.post("/users/\(b.id)/block")
                    case 1: try await a.post("/users/\(b.id)/follow")
                    case 2: try await b.post("/users/\(a.id)/follow")
                    default:
                        if let request {
                            try await a.post("/follow-requests/\(request)/accept")
                        } else {
                            try await b.post("/users/\(a.id)/follow")
                        }
                    }
                }
                try expect(answers.allSatisfy { [200, 400, 404].contains($0.status) }, "\(answers.map(\.text))")
                for person in [a, b] {
                    for list in ["/users/\(person.id)/followers", "/users/\(person.id)/following"] {
                        try expect(try await person.get(list).succeeded(200), equals: [])
                    }
                    try expect(try await person.send(Dunbar.ListPendingRequests()), equals: [])
                }
            }
        },
        Scenario("Both block each other at once, and take it back", clause: "§6 blocks") { world in
            for _ in 0..<3 {
                let people = try await world.people(2, isPrivate: false)
                let answers = try await together(2) { index in
                    try await people[index].post("/users/\(people[1 - index].id)/block")
                }
                try expect(answers.contains { $0.status == 200 }, "\(answers.map(\.text))")
                for answer in answers where answer.status != 200 { try answer.refused(404, "User not found") }
                for index in 0..<2 where try answers[index].status == 200 {
                    try await people[index].raw(.delete, "/users/\(people[1 - index].id)/block").said("User unblocked")
                }
                for index in 0..<2 { try await people[index].get("/users/\(people[1 - index].id)").succeeded(200) }
            }
        },
    ]
}
