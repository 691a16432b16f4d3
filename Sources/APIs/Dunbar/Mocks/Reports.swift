import Contract
import ContractMocks
import DunbarAPI

extension DunbarMock {
    func reports() {
        server.example(of: Dunbar.ReportPost.self) { [memory] request in
            // All posts of the mock are John's.
            try memory.use { try $0.require(request.post) }
            throw Problem(.badRequest, "You cannot report your own post")
        }
        server.example(of: Dunbar.ReportUser.self) { request in
            guard try Self.requireUser(request.user) != .example else {
                throw Problem(.badRequest, "You cannot report yourself")
            }
            return .init(message: "User reported")
        }
        server.example(of: Dunbar.ReportComment.self) { [memory] request in
            let comments = memory.use { $0.comments }
            guard let comment = comments.first(where: { $0.id == request.comment }) else {
                throw Problem(.notFound, "Comment not found")
            }
            guard comment.userId != Dunbar.User.example.id else {
                throw Problem(.badRequest, "You cannot report your own comment")
            }
            return .init(message: "Comment reported")
        }
    }
}
