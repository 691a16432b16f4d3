@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let follows: [Scenario<DunbarWorld>] = [
        Scenario("A private account is asked, and answers", clause: "§8 example 1", level: .contract) { _, a, b, c in
            let post = try await a.publish("for followers")
            try await b.post("/users/\(a.id)/follow").said("Follow request sent")
            try expect(try await b.flags(of: a), equals: [false, true])
            try await b.post("/users/\(a.id)/follow").refused(400, "Already following or requested to follow this user")
            let pending = try await a.send(Dunbar.ListPendingRequests())
            try expect(pending.map(\.follower.id), equals: [b.id])
            let outgoing = try await b.send(Dunbar.ListOutgoingRequests())
            try expect(outgoing.map(\.following.id), equals: [a.id])
            try expect(outgoing[0].id, equals: pending[0].id)
            let request = try pending[0].id
            for person in [c, b] {
                try await person.post("/follow-requests/\(request)/accept").refused(404, "Follow request not found")
                try await person.post("/follow-requests/\(request)/reject").refused(404, "Follow request not found")
            }
            try expect(try await b.posts(of: a), equals: [])
            try await a.post("/follow-requests/\(request)/accept").said("Follow request accepted")
            try await a.post("/follow-requests/\(request)/accept").refused(404, "Follow request not found")
            try await a.post("/follow-requests/\(request)/reject").refused(404, "Follow request not found")
            try expect(try await b.flags(of: a), equals: [true, false])
            try expect(try await a.flags(of: b), equals: [false, false])
            try expect(try await b.feed(), equals: [post])
            try expect(try await a.send(Dunbar.ListPendingRequests()), equals: [])
            try expect(try await b.send(Dunbar.ListOutgoingRequests()), equals: [])
            try await a.post("/followers/\(b.id)/remove").said("Follower removed successfully")
            try expect(try await b.posts(of: a), equals: [])
            try expect(try await b.feed(), equals: [])
            try expect(try await b.flags(of: a), equals: [false, false])
            try await b.post("/users/\(a.id)/follow").said("Follow request sent")
        },
        Scenario("A public account is followed at once", clause: "POST /users/:id/follow", level: .contract) { world in
            let a = try await world.person(isPrivate: false)
            let b = try await world.person()
            try await b.post("/users/\(a.id)/follow").said("Following")
            try expect(try await b.flags(of: a), equals: [true, false])
            try expect(try await a.send(Dunbar.ListFollowers(of: a.id)).map(\.id), equals: [b.id])
            try expect(try await b.send(Dunbar.ListFollowing(of: b.id)).map(\.id), equals: [a.id])
            try expect(try await a.send(Dunbar.ListPendingRequests()), equals: [])
            try await b.post("/users/\(a.id)/unfollow").said("Unfollowed")
            try await b.post("/users/\(a.id)/unfollow").refused(400, "Not following this user")
            try expect(try await b.flags(of: a), equals: [false, false])
            try expect(try await a.send(Dunbar.ListFollowers(of: a.id)), equals: [])
        },
        Scenario("A request may be withdrawn or rejected, and made again", clause: "§4") { _, a, b in
            for _ in 0..<2 {
                try await b.post("/users/\(a.id)/follow").said("Follow request sent")
                try await b.post("/users/\(a.id)/unfollow").said("Follow request withdrawn")
                try expect(try await a.send(Dunbar.ListPendingRequests()), equals: [])
                try await b.post("/users/\(a.id)/follow").said("Follow request sent")
                let request = try await a.request(of: b)
                try await a.post("/follow-requests/\(request)/reject").said("Follow request rejected")
                try expect(try await b.flags(of: a), equals: [false, false])
                try expect(try await b.posts(of: a), equals: [])
            }
            // This user is not a follower yet.
            try await b.send(Dunbar.Follow(user: a.id))
            try await a.post("/followers/\(b.id)/remove").refused(400, "This user is not your follower")
        },
        Scenario("Who was rejected three times asks no more", clause: "§4") { world, a, b in
            for _ in 0..<3 {
                try await b.post("/users/\(a.id)/follow").said("Follow request sent")
                try await a.post("/follow-requests/\(try await a.request(of: b))/reject")
                    .said("Follow request rejected")
            }
            let answer = try await b.post("/users/\(a.id)/follow")
            try answer.refused(429, "Too many requests, please try again later")
            try expect(Int(answer.headers[.retryAfter] ?? "") ?? 0 > 0, "no Retry-After")
            try expect(try await a.send(Dunbar.ListPendingRequests()), equals: [])
            // It does not show the decisions of other users.
            try await b.send(Dunbar.Follow(user: try await world.person().id))
            try await a.send(Dunbar.UpdateUser(id: a.id, isPrivate: false))
            try await b.post("/users/\(a.id)/follow").said("Following")
        },
        Scenario("Who cannot be followed, unfollowed and removed", clause: "§1 follow") { world, a, b in
            try await a.post("/users/\(a.id)/follow").refused(400, "Cannot follow yourself")
            try await a.post("/users/\(a.id)/unfollow").refused(400, "Not following this user")
            try await a.post("/followers/\(a.id)/remove").refused(400, "This user is not your follower")
            try await a.post("/followers/\(b.id)/remove").refused(400, "This user is not your follower")
            try await a.post("/followers/999999999999/remove").refused(400, "This user is not your follower")
            for action in ["follow", "unfollow"] {
                try await a.post("/users/999999999999/\(action)").refused(404, "User not found")
                try await a.post("/users/x/\(action)").refused(400, "Invalid user ID")
                try await world.raw.send(.post, "/users/x/\(action)").refused(401, "Unauthorized")
            }
            try await a.post("/followers/x/remove").refused(400, "Invalid follower ID")
            for action in ["accept", "reject"] {
                try await a.post("/follow-requests/x/\(action)").refused(400, "Invalid request ID")
                try await a.post("/follow-requests/999999999999/\(action)").refused(404, "Follow request not found")
            }
        },
        Scenario("Lists tell on request whom the caller follows", clause: "include=relationship") { world in
            let word = world.freshName("w")
            let me = try await world.person(word + "0", isPrivate: false)
            let followed = try await world.person(word + "1", isPrivate: false)
            let asked = try await world.person(word + "2")
            let stranger = try await world.person(word + "3")
            try await me.follow(followed)
            try await me.send(Dunbar.Follow(user: asked.id))
            for other in [followed, asked, stranger] { try await other.follow(me) }
            let flags: [Dunbar.User.ID: [JSONValue]] = [
                me.id: [false, false], followed.id: [true, false], asked.id: [false, true],
                stranger.id: [false, false],
            ]
            func check(_ path: String, _ people: [Person]) async throws {
                let separator = path.contains("?") ? "&" : "?"
                let plain = try await me.get(path).succeeded(200)
                try expect(plain.elements.map { $0["id"] ?? .null }, equals: people.map(\.id.json))
                for words in ["relationship", "x,%20relationship", "relationship&limit=100"] {
                    let rows = try await me.get("\(path)\(separator)include=\(words)").succeeded(200).elements
                    for (row, person) in zip(rows, people) {
                        let told = [row["isFollowing"] ?? .null, row["isPending"] ?? .null]
                        try expect(told == flags[person.id], "\(path) \(person.name): \(told)")
                    }
                    // All else is as without the word.
                    let others = rows.map { row -> JSONValue in
                        guard case .object(var members) = row else { return row }
                        members["isFollowing"] = nil
                        members["isPending"] = nil
                        return .object(members)
                    }
                    try expect(.list(others), equals: plain)
                }
                for words in ["", "x", "Relationship", "relationships"] {
                    try expect(try await me.get("\(path)\(separator)include=\(words)").succeeded(200), equals: plain)
                }
            }
            try await check("/users/\(me.id)/followers", [stranger, asked, followed])
            try await check("/users/\(me.id)/following", [followed])
            try await check("/users/search?q=\(word)", [me, followed, asked, stranger])
            // The other side of a follow does not count.
            let seen = try await stranger.send(Dunbar.SearchUsers(word, include: .relationship))
            try expect(seen.map(\.isFollowing), equals: [true, false, false, false])
            try await me.send(Dunbar.Block(user: stranger.id))
            try await check("/blocks", [stranger])
            var page: [Bool?] = []
            for try await user in me.client.followers(of: me.id, including: .relationship, pageSize: 1) {
                page.append(user.isPending)
            }
            try expect(page, equals: [true, false])
        },
        Scenario("Only one's own lists are shown", clause: "GET /users/:id/followers", level: .contract) { _, a, b in
            try await b.follow(a)
            for id in ["\(a.id)", "999999999999"] {
                try await b.get("/users/\(id)/followers").refused(403, "You can only view your own followers")
                try await b.get("/users/\(id)/following").refused(403, "You can only view your own following list")
                try await b.get("/users/\(id)/following?limit=x")
                    .refused(403, "You can only view your own following list")
            }
            try await b.get("/users/x/followers").refused(400, "Invalid user ID")
        },
        Scenario("Going public accepts all waiting requests; going private keeps all followers", clause: "§8 example 2")
        { _, a, d in
            let post = try await a.publish()
            try await d.send(Dunbar.Follow(user: a.id))
            try await a.send(Dunbar.UpdateUser(id: a.id, displayName: "A"))
            try expect(try await d.flags(of: a), equals: [false, true])
            try await a.send(Dunbar.UpdateUser(id: a.id, isPrivate: false))
            try expect(try await d.flags(of: a), equals: [true, false])
            try expect(try await d.feed().map(\.id), equals: [post.id])
            try expect(try await a.send(Dunbar.ListPendingRequests()), equals: [])
            try expect(try await d.send(Dunbar.ListOutgoingRequests()), equals: [])
            try await a.send(Dunbar.UpdateUser(id: a.id, isPrivate: true))
            try expect(try await d.flags(of: a), equals: [true, false])
            try expect(try await d.feed().map(\.id), equals: [post.id])
        },
        Scenario("Fifty follows at once are one", clause: "§4") { world in
            let open = try await world.person(isPrivate: false)
            let (private_, b) = try await world.pair()
            for (target, text) in [(open, "Following"), (private_, "Follow request sent")] {
                let answers = try await together(50) { _ in try await b.post("/users/\(target.id)/follow") }
                try expect(answers.filter { $0.status == 200 }.count, equals: 1)
                for answer in answers {
                    if answer.status == 200 {
                        try answer.said(text)
                    } else {
                        try answer.refused(400, "Already following or requested to follow this user")
                    }
                }
            }
            try expect(try await open.send(Dunbar.ListFollowers(of: open.id)).map(\.id), equals: [b.id])
            try expect(try await private_.send(Dunbar.ListPendingRequests()).map(\.follower.id), equals: [b.id])
            let request = try await private_.request(of: b)
            let accepts = try await together(10) { _ in try await private_.post("/follow-requests/\(request)/accept") }
            try expect(accepts.filter { $0.status == 200 }.count, equals: 1)
            let removals = try await together(10) { _ in try await b.post("/users/\(private_.id)/unfollow") }
            try expect(removals.filter { $0.status == 200 }.count, equals: 1)
            try expect(try await b.flags(of: private_), equals: [false, false])
        },
        Scenario("Both follow each other at once", clause: "§4") { world in
            for _ in 0..<3 {
                let people = try await world.people(2, isPrivate: false)
                let answers = try await together(20) { index in
                    try await people[index % 2].post("/users/\(people[1 - index % 2].id)/follow")
                }
                try expect(answers.filter { $0.status == 200 }.count, equals: 2)
                try expect(answers.allSatisfy { [200, 400].contains($0.status) }, "\(answers.map(\.status))")
            }
        },
        Scenario("No user follows more than 150, by any way", clause: "§8 example 3", within: .seconds(300)) {
            world, b in
            let targets = try await together(154, width: 8) { index in
                try await world.person(isPrivate: index >= 150)
            }
            // 148 follow without concurrency, then ten compete for the last two places.
            _ = try await together(148, width: 8) { try await b.send(Dunbar.Follow(user: targets[$0].id)) }
            for private_ in try targets[150...152] { try await b.send(Dunbar.Follow(user: private_.id)) }
            let more = try await world.people(8, isPrivate: false)
            let last = try await together(10) { index in
                try await b.post("/users/\((index < 2 ? targets[148 + index] : more[index - 2]).id)/follow")
            }
            try expect(last.filter { $0.status == 200 }.count, equals: 2)
            for answer in last where answer.status != 200 {
                try answer.refused(400, "You have reached the maximum number of follows (150)")
            }
            let full = "You have reached the maximum number of follows (150)"
            try await b.post("/users/\(targets[153].id)/follow").refused(400, full)
            let theirs = "This user has reached the maximum number of follows (150)"
            let request = try await targets[150].request(of: b)
            try await targets[150].post("/follow-requests/\(request)/accept").refused(400, theirs)
            try expect(try await b.send(Dunbar.ListFollowing(of: b.id)).count, equals: 150)
            // One place becomes available; of two requests that are accepted at the same time, one fits.
            try await b.send(Dunbar.Unfollow(user: targets[0].id))
            let requests = [request, try await targets[151].request(of: b)]
            let accepts = try await together(2) { index in
                try await targets[150 + index].post("/follow-requests/\(requests[index])/accept")
            }
            try expect(accepts.map(\.status).sorted(), equals: [200, 400])
            for answer in accepts where answer.status == 400 { try answer.refused(400, theirs) }
            try expect(try await b.send(Dunbar.ListFollowing(of: b.id)).count, equals: 150)
        },
    ]
}
