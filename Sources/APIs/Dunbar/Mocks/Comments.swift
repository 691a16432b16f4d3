import Contract
import ContractMocks
import DunbarAPI
import DunbarExamples

extension Dunbar.Comment {
    /// The example: Sarah's comment on John's post.
    public static let example: Self = contractExample(DunbarExamples.comment)
}

extension DunbarMock {
    func comments() {
        server.example(of: Dunbar.AddComment.self) { [memory] request in
            try memory.use { memory in
                try memory.require(request.post)
                let number = memory.comments.map(\.id.rawValue).max().map { $0 + 1 } ?? 2
                let time = Dunbar.Comment.example.createdAt.milliseconds + number * 60_000
                let comment = Dunbar.Comment(
                    id: .init(number), content: request.content.trimmed, postId: request.post,
                    userId: Dunbar.User.example.id, createdAt: .init(milliseconds: time), user: .example)
                memory.comments.append(comment)
                return comment
            }
        }
        server.example(of: Dunbar.ListComments.self) { [memory] request in
            try memory.use { memory in
                try memory.require(request.post)
                let comments = memory.comments.filter {
                    $0.postId == request.post && $0.id < request.before ?? .init(.max)
                }
                return Array(comments.suffix(request.limit ?? .max))
            }
        }
        server.example(of: Dunbar.DeleteComment.self) { [memory] request in
            try memory.use { memory in
                // John may delete any comment on his own posts.
                guard memory.comments.contains(where: { $0.id == request.id }) else {
                    throw Problem(.notFound, "Comment not found")
                }
                memory.comments.removeAll { $0.id == request.id }
            }
            return .init(message: "Comment deleted")
        }
    }
}
