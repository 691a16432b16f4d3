@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let posts: [Scenario<DunbarWorld>] = [
        Scenario("A post is a text, as it was sent, with its author", clause: "POST /posts", level: .contract) {
            world, john in
            let text = " Hello\r\n\t\"world\" 🎉 é </script> "
            let post = try await john.publish(text)
            try expect(post.content, equals: text)
            try expect(post.media, equals: [])
            try expect(post.userId, equals: john.id)
            try expect(post.user.username, equals: john.name)
            try expect(try await john.posts(of: john), equals: [post])
            let form = try await john.raw(
                .post, "/posts", headers: [.contentType: Form.type], bytes: Form(fields: [("content", text)]).bytes)
            try expect(try form.succeeded(201)["content"], equals: .string(text))
        },
        Scenario("Media keep their order, and are served as what they are", clause: "POST /posts, example 4") {
            world, john in
            let kinds: [(Upload, String)] = [
                (.sample, "image/jpeg"), (.video(Samples.mp4), "video/mp4"), (.video(Samples.webm), "video/webm"),
                (.video(Samples.mov), "video/quicktime"), (.sample, "image/jpeg"),
            ]
            let media = kinds.map(\.0) + kinds.map(\.0)
            let post = try await john.client.post("", media: media)
            try expect(post.content, equals: "")
            try expect(Set(post.media).count, equals: 10)
            for (url, (upload, type)) in zip(post.media, kinds + kinds) {
                let file = try await world.fetch(url)
                try expect(file.status, equals: 200)
                try expect(file.headers[.contentType], equals: type)
                try expect(file.headers[.nosniff], equals: "nosniff")
                try expect(file.headers[.cacheControl]?.contains("public") != true, "anybody may keep it")
                if type.hasPrefix("video/"), case .bytes(let bytes) = upload.content {
                    try expect(file.body == bytes, "a video was changed")
                    let part = try await world.fetch(url, headers: [.range: "bytes=4-7"])
                    try expect(part.status, equals: 206)
                    try expect(part.body, equals: Array(bytes[4...7]))
                    try expect(part.headers[.contentRange], equals: "bytes 4-7/\(bytes.count)")
                }
            }
            try expect(try await john.posts(of: john), equals: [post])
        },
        Scenario("A file's URL is good for two days, and for that file", clause: "POST /posts") { world, john in
            let post = try await john.client.post("", media: [.sample, .video(Samples.mp4)])
            let photo = try await john.client.uploadPhoto(.sample, of: john.id).profile.photo ?? ""
            for url in post.media + [photo] {
                try expect(try await world.fetch(url).status, equals: 200)
                guard let mark = url.firstIndex(of: "?"), let expires = url.firstMatch(of: #/expires=(\d+)/#),
                    let time = Double(expires.output.1)
                else { throw CheckFailure("not signed: \(url)") }
                // It expires at the end of a day, so that a URL stays the same for a while.
                try expect(time.truncatingRemainder(dividingBy: 86400), equals: 0)
                let query = url[mark...]
                for other in [
                    String(url[..<mark]), url.replacingOccurrences(of: "expires=", with: "expires=9"),
                    url.replacingOccurrences(of: "signature=", with: "signature=A"),
                    url.replacingOccurrences(of: "signature=", with: "signature=&signature="),
                    url.replacingOccurrences(of: ".jpg", with: ".png"),
                ] where other != url {
                    try expect(try await world.fetch(other).status == 403, other)
                }
                // The spelling of the URL does not matter.
                let spelled = "\(url[..<mark])\(query.replacingOccurrences(of: "-", with: "%2D"))&utm=1"
                for url in [spelled, url.spelledOtherwise] {
                    try expect(try await world.fetch(url).status, equals: 200)
                }
            }
        },
        Scenario("An invalid post is refused", clause: "§1 POST /posts, example 4") { _, john in
            for content in ["", "  \r\n\t ", "\u{200B}\u{2800}\u{FE0F}", nil] as [String?] {
                let body: JSONValue = content.map { ["content": .string($0)] } ?? [:]
                try await john.post("/posts", body).refused(400, "Post must have content or media", "\(body)")
            }
            let long = String(repeating: "é", count: 5001)
            try await john.post("/posts", ["content": .string(long)])
                .refused(400, "Content must be at most 5000 characters")
            try await john.post("/posts", ["content": .string(String(long.dropLast()))]).succeeded(201)
            func upload(_ contents: [[UInt8]], content: String = "x") async throws -> RawAnswer {
                try await john.raw(
                    .post, "/posts", headers: [.contentType: Form.type],
                    bytes: Form(
                        fields: [("content", content)], files: contents.map { ("media", "x.jpg", "image/jpeg", $0) }
                    ).bytes)
            }
            try await upload(Array(repeating: Samples.jpeg, count: 11))
                .refused(400, "A post can have at most 10 media files")
            try await upload(Array(repeating: Samples.jpeg, count: 11), content: long)
                .refused(400, "Content must be at most 5000 characters")
            let refusal = "Only image and video files are allowed!"
            for content in [
                "text", "", "<html>", "\u{1A}E\u{DF}\u{A3}matroska", "RIFF0000WAVE", "0000ftypavif", "0000ftypisom",
            ] {
                try await upload([Array(content.utf8)]).refused(400, refusal, content)
            }
            try await upload(Array(repeating: Samples.jpeg, count: 9) + [Array("text".utf8)]).refused(400, refusal)
            // A JPEG ends with a mark of two bytes.
            try await upload([Samples.jpeg.dropLast(2)]).refused(400, "Image is damaged or incomplete")
            try await john.post("/posts", ["content": "a\u{0}"]).refused(400, "Text must not contain NUL characters")
            try expect(try await john.posts(of: john).count, equals: 1)
        },
        Scenario("The three ways to ask for a user's posts agree", clause: "GET /users/:id/posts", level: .contract) {
            _, john, jane in
            for index in 0..<3 { try await john.publish("post \(index)") }
            func answers(_ query: String = "") async throws -> [RawAnswer] {
                let more = query.isEmpty ? "" : "?" + query
                let and = query.isEmpty ? "" : "&" + query
                return [
                    try await jane.get("/users/\(john.id)/posts\(more)"),
                    try await jane.get("/posts/\(john.id)\(more)"),
                    try await jane.get("/posts?userId=\(john.id)\(and)"),
                ]
            }
            for answer in try await answers() { try expect(try answer.succeeded(200), equals: []) }
            try await jane.follow(john)
            for query in ["", "limit=2"] {
                let found = try await answers(query)
                try expect(try found[0].succeeded(200).elements.count, equals: query.isEmpty ? 3 : 2)
                try expect(found[1].body == found[0].body && found[2].body == found[0].body, "they differ: \(query)")
            }
            for path in ["/users/999999999999/posts", "/posts/999999999999", "/posts?userId=999999999999"] {
                try expect(try await jane.get(path).succeeded(200), equals: [])
            }
            try await jane.get("/posts").refused(400, "Missing userId parameter")
            try await jane.get("/posts?userId=x").refused(400, "Invalid userId parameter")
            try await jane.get("/posts?userId=0").refused(400, "Invalid userId parameter")
            try await jane.get("/posts/x").refused(400, "Invalid user ID")
            try await jane.get("/users/x/posts").refused(400, "Invalid user ID")
        },
        Scenario("For GET the id is a user's, for DELETE a post's", clause: "GET /posts/:id, DELETE /posts/:id") {
            world, john in
            let post = try await john.publish()
            try expect(try await john.send(Dunbar.ListPostsByPath(user: john.id)).map(\.id), equals: [post.id])
            try await john.raw(.delete, "/posts/\(post.id)").said("Post deleted")
            try await john.raw(.delete, "/posts/\(post.id)").refused(404, "Post not found")
            try expect(try await john.posts(of: john), equals: [])
            try await john.raw(.delete, "/posts/x").refused(400, "Invalid post ID")
            try await world.raw.send(.delete, "/posts/x").refused(401, "Unauthorized")
        },
        Scenario("A deleted post takes its comments and files along", clause: "DELETE /posts/:id") {
            world, john, jane in
            try await jane.follow(john)
            let post = try await john.client.post("x", media: [.sample, .video(Samples.mp4)])
            try await jane.send(Dunbar.AddComment(post: post.id, content: "Great post!"))
            try await jane.raw(.delete, "/posts/\(post.id)").refused(403, "Not authorized to delete this post")
            for url in post.media { try expect(try await world.fetch(url).status, equals: 200) }
            try await john.send(Dunbar.DeletePost(id: post.id))
            for url in post.media { try expect(try await world.fetch(url).status, equals: 404) }
            try await jane.get("/posts/\(post.id)/comments").refused(404, "Post not found")
            try expect(try await jane.feed(), equals: [])
        },
        Scenario("The feed is one's own posts and those of whom one follows", clause: "GET /feed", level: .contract) {
            world, john, jane, alex in
            let stranger = try await world.person(isPrivate: false)
            try await stranger.publish("not in any feed")
            let first = try await john.publish("first")
            let second = try await jane.publish("second")
            let third = try await alex.publish("third")
            try await john.follow(jane)
            try await john.send(Dunbar.Follow(user: alex.id))
            try expect(try await john.feed(), equals: [second, first])
            try await alex.send(Dunbar.AcceptRequest(id: try await alex.request(of: john)))
            try expect(try await john.feed(), equals: [third, second, first])
            try await john.send(Dunbar.Unfollow(user: jane.id))
            try expect(try await john.feed(), equals: [third, first])
            try await alex.send(Dunbar.RemoveFollower(follower: john.id))
            try expect(try await john.feed(), equals: [first])
            try expect(try await jane.feed(), equals: [second])
        },
    ]

    static let paging: [Scenario<DunbarWorld>] = [
        Scenario("Posts and the feed come in pages that nothing disturbs", clause: "§6 paging, example 7") {
            _, john, jane in
            try await jane.follow(john)
            var published: [Dunbar.Post] = []
            for index in 0..<9 {
                published.insert(try await (index % 3 == 0 ? jane : john).publish("p\(index + 1)"), at: 0)
            }
            let posts = published
            let all = posts.map(\.id)
            func feed(_ query: String) async throws -> [Dunbar.Post.ID] {
                try await jane.get("/feed\(query)").succeeded(200).elements.map { .init($0["id"]?.integer ?? 0) }
            }
            try expect(try await feed(""), equals: all)
            try expect(try await feed("?limit=4"), equals: Array(all[0..<4]))
            try expect(try await feed("?limit=4&before=\(all[3])"), equals: Array(all[4..<8]))
            try expect(try await feed("?limit=4&before=\(all[7])"), equals: Array(all[8..<9]))
            try expect(try await feed("?before=\(all[8])"), equals: [])
            try await john.publish("p10")
            try expect(try await feed("?limit=4&before=\(all[3])"), equals: Array(all[4..<8]))
            // A deleted cursor still marks a place.
            let author = try posts[3].userId == john.id ? john : jane
            try await author.send(Dunbar.DeletePost(id: all[3]))
            try expect(try await feed("?limit=4&before=\(all[3])"), equals: Array(all[4..<8]))
            let paged = try await jane.client.feed(pageSize: 2).elements(expecting: 9).map(\.id)
            try expect(paged.count, equals: 9)
            let (newest, deleted) = try (paged[0], all[3])
            try expect(paged.filter { $0 != newest }, equals: all.filter { $0 != deleted })
            let own = try await jane.posts(of: john)
            let pagedOwn = try await jane.client.posts(of: john.id, pageSize: 2).elements(expecting: own.count)
            try expect(pagedOwn, equals: own)
        },
        Scenario("Comments come in pages, the newest page first", clause: "§6 paging") { _, john in
            let post = try await john.publish()
            var made: [Dunbar.Comment.ID] = []
            for index in 0..<5 {
                made.append(try await john.send(Dunbar.AddComment(post: post.id, content: "\(index)")).id)
            }
            let ids = made
            func page(_ limit: Int?, _ before: Dunbar.Comment.ID?) async throws -> [Dunbar.Comment.ID] {
                try await john.send(Dunbar.ListComments(post: post.id, limit: limit, before: before)).map(\.id)
            }
            try expect(try await page(nil, nil), equals: ids)
            try expect(try await page(2, nil), equals: Array(ids[3...]))
            try expect(try await page(2, ids[3]), equals: Array(ids[1...2]))
            try expect(try await page(2, ids[1]), equals: [ids[0]])
            try expect(try await page(2, ids[0]), equals: [])
        },
        Scenario("Followers and requests come in pages", clause: "§6 paging") { world in
            let john = try await world.person(isPrivate: false)
            let others = try await world.people(5)
            for other in others { try await other.follow(john) }
            let newest = others.map(\.id).reversed().map { $0 }
            func page(_ limit: Int?, _ before: Dunbar.User.ID?) async throws -> [Dunbar.User.ID] {
                try await john.send(Dunbar.ListFollowers(of: john.id, limit: limit, before: before)).map(\.id)
            }
            try expect(try await page(nil, nil), equals: newest)
            try expect(try await page(2, nil), equals: Array(newest[0..<2]))
            try expect(try await page(2, newest[1]), equals: Array(newest[2..<4]))
            for other in others { try await john.send(Dunbar.Follow(user: other.id)) }
            let outgoing = try await john.send(Dunbar.ListOutgoingRequests())
            try expect(outgoing.map(\.following.id), equals: newest)
            try expect(
                try await john.send(Dunbar.ListOutgoingRequests(limit: 2, before: outgoing[1].id)),
                equals: Array(outgoing[2..<4]))
        },
        Scenario("A list goes on where an entry stood that has gone", clause: "§6 paging") { world, john in
            let others = try await world.people(6)
            for other in others { try await other.send(Dunbar.Follow(user: john.id)) }
            let requests = try await john.send(Dunbar.ListPendingRequests())
            try expect(requests.map(\.follower.id), equals: others.map(\.id).reversed())
            func pending(_ before: Dunbar.FollowRequest.ID) async throws -> [Dunbar.FollowRequest.ID] {
                try await john.send(Dunbar.ListPendingRequests(limit: 2, before: before)).map(\.id)
            }
            // Two requests are read and answered, then the list continues.
            try await john.send(Dunbar.RejectRequest(id: requests[0].id))
            try await john.send(Dunbar.RejectRequest(id: requests[1].id))
            try expect(try await pending(requests[1].id), equals: requests[2..<4].map(\.id))
            for request in try requests[2...] { try await john.send(Dunbar.AcceptRequest(id: request.id)) }
            try expect(try await pending(requests[3].id), equals: [])
            let followers = try await john.send(Dunbar.ListFollowers(of: john.id)).map(\.id)
            func page(_ before: Dunbar.User.ID) async throws -> [Dunbar.User.ID] {
                try await john.send(Dunbar.ListFollowers(of: john.id, limit: 2, before: before)).map(\.id)
            }
            try await john.send(Dunbar.RemoveFollower(follower: followers[1]))
            try expect(try await page(followers[1]), equals: Array(followers[2..<4]))
            // A user who deletes their account leaves a place, too.
            let gone = try followers[2]
            let leaving = others.first { $0.id == gone }
            try await leaving?.client.deleteAccount(password: DunbarWorld.password)
            try expect(try await page(followers[2]), equals: Array(followers[3...]))
            for other in others where other.id != gone { try await john.send(Dunbar.Follow(user: other.id)) }
            let outgoing = try await john.send(Dunbar.ListOutgoingRequests())
            try await john.send(Dunbar.Unfollow(user: outgoing[1].following.id))
            try expect(
                try await john.send(Dunbar.ListOutgoingRequests(limit: 2, before: outgoing[1].id)).map(\.id),
                equals: outgoing[2..<4].map(\.id))
            for other in try others[..<4] where other.id != gone {
                try await john.send(Dunbar.Block(user: other.id))
            }
            let blocks = try await john.send(Dunbar.ListBlocks()).map(\.id)
            try await john.send(Dunbar.Unblock(user: blocks[0]))
            try expect(try await john.send(Dunbar.ListBlocks(before: blocks[0])).map(\.id), equals: Array(blocks[1...]))
        },
        Scenario("A limit or cursor that is none is refused", clause: "§6 paging") { _, john in
            let post = try await john.publish()
            for path in [
                "/feed", "/users/\(john.id)/posts", "/posts/\(john.id)", "/posts/\(post.id)/comments",
                "/users/\(john.id)/followers", "/users/\(john.id)/following", "/follow-requests/pending",
                "/follow-requests/outgoing", "/blocks",
            ] {
                for limit in ["0", "-1", "x", "501", ""] {
                    try await john.get("\(path)?limit=\(limit)").refused(400, "Invalid limit", "\(path) \(limit)")
                }
                for before in ["0", "x", "-1", ""] {
                    try await john.get("\(path)?before=\(before)").refused(400, "Invalid before", "\(path) \(before)")
                }
            }
            for path in ["/feed", "/users/\(john.id)/posts", "/posts/\(post.id)/comments"] {
                try await john.get("\(path)?limit=101").refused(400, "Invalid limit", path)
                try await john.get("\(path)?limit=100").succeeded(200)
            }
        },
    ]
}
