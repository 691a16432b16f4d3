import DunbarClient
import Foundation
import Testbed

// The samples of Posts.md.

enum PostsSamples {
    static func post(
        _ dunbar: DunbarClient, files: [URL], show: @escaping @Sendable (Double) -> Void
    ) async throws -> Dunbar.Post {
        // sample
        let media = files.map { Upload(fileAt: $0) }
        let post = try await dunbar.post("From the lake", media: media) { sent, total in
            show(Double(sent) / Double(total))
        }
        // end
        return post
    }

    static func keep(
        _ dunbar: DunbarClient, me id: Dunbar.User.ID, media: [Upload], in folder: URL, show: (String) -> Void
    ) async throws -> DunbarOutbox {
        let me = Identified(id)
        // sample
        let outbox = try await dunbar.outbox(of: me.id, in: folder)
        try await outbox.post("From the lake", media: media)
        for item in await outbox.items {
            guard case .failed(let failure) = item.state else { continue }
            show(failure.errorDescription ?? "")
            try await outbox.retry(item.id)
        }
        // end
        return outbox
    }

    static func comment(
        _ dunbar: DunbarClient, post: Dunbar.Post, show: (Dunbar.Comment) -> Void
    ) async throws {
        // sample
        try await dunbar.send(Dunbar.AddComment(post: post.id, content: "Great picture!"))
        for comment in try await dunbar.send(Dunbar.ListComments(post: post.id, limit: 20)) { show(comment) }
        // end
    }

    static func delete(_ dunbar: DunbarClient, post: Dunbar.Post) async throws {
        // sample
        try await dunbar.send(Dunbar.DeletePost(id: post.id))
        // end
    }

    static func photo(_ dunbar: DunbarClient, file: URL, me id: Dunbar.User.ID) async throws -> String? {
        let me = Identified(id)
        // sample
        let photo = Upload(fileAt: file)
        let address = try await dunbar.uploadPhoto(photo, of: me.id).profile.photo
        // end
        return address
    }
}

// sample
struct Draft: Codable {
    var text: String
    var key = UUID().uuidString
}

func deliver(_ draft: Draft, with dunbar: DunbarClient) async throws -> Dunbar.Post.ID? {
    try await dunbar.answer(Dunbar.CreatePost(content: draft.text), idempotencyKey: draft.key).output?.id
}
// end
