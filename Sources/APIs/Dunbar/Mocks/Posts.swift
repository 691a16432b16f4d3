import Contract
import ContractMocks
import DunbarAPI
import DunbarExamples

extension Dunbar.Post {
    /// The example: John's post.
    public static let example: Self = contractExample(DunbarExamples.post)
}

extension DunbarMock {
    func posts() {
        server.example(of: Dunbar.CreatePost.self) { [memory] request in
            memory.use { memory in
                let number = memory.posts.map(\.id.rawValue).max().map { $0 + 1 } ?? 2
                let time = Dunbar.Post.example.createdAt.milliseconds + number * 60_000
                let post = Dunbar.Post(
                    id: .init(number), content: request.content,
                    media: request.media.indices.map { "https://dunbar.example/media/\(number)-\($0 + 1).jpg" },
                    userId: Dunbar.User.example.id, createdAt: .init(milliseconds: time), user: .example)
                memory.posts.insert(post, at: 0)
                return post
            }
        }
        server.example(of: Dunbar.ListUserPosts.self) { [memory] request in
            memory.use { $0.posts(of: request.user, request.limit, before: request.before) }
        }
        server.example(of: Dunbar.ListPostsByPath.self) { [memory] request in
            memory.use { $0.posts(of: request.user, request.limit, before: request.before) }
        }
        server.example(of: Dunbar.ListPostsByQuery.self) { [memory] request in
            memory.use { $0.posts(of: request.user ?? 0, request.limit, before: request.before) }
        }
        server.example(of: Dunbar.GetFeed.self) { [memory] request in
            memory.use { $0.posts(of: Dunbar.User.example.id, request.limit, before: request.before) }
        }
        server.example(of: Dunbar.DeletePost.self) { [memory] request in
            try memory.use { memory in
                try memory.require(request.id)
                memory.posts.removeAll { $0.id == request.id }
            }
            return .init(message: "Post deleted")
        }
    }
}

extension DunbarMemory {
    func posts(of user: Dunbar.User.ID, _ limit: Int?, before: Dunbar.Post.ID?) -> [Dunbar.Post] {
        let posts = posts.filter { $0.userId == user && $0.id < before ?? .init(.max) }
        return Array(posts.prefix(limit ?? .max))
    }

    func require(_ post: Dunbar.Post.ID) throws {
        guard posts.contains(where: { $0.id == post }) else { throw Problem(.notFound, "Post not found") }
    }
}
