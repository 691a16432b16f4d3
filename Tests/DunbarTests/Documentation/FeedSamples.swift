import DunbarClient
import Testbed

// The samples of Feed.md.

enum FeedSamples {
    static func read(_ dunbar: DunbarClient, enough: Int, show: (Dunbar.Post) -> Void) async throws {
        var shown = 0
        // sample
        for try await post in dunbar.feed(pageSize: 20) {
            show(post)
            shown += 1
            if shown == enough { break }
        }
        // end
    }

    static func profile(
        _ dunbar: DunbarClient, sarah id: Dunbar.User.ID, show: (Dunbar.Post) -> Void
    ) async throws {
        let sarah = Identified(id)
        // sample
        for try await post in dunbar.posts(of: sarah.id) { show(post) }
        // end
    }
}

// sample
@MainActor
final class FeedModel {
    private(set) var posts: [Dunbar.Post] = []
    private(set) var isComplete = false
    private let dunbar: DunbarClient
    private let pageSize = 20

    init(_ dunbar: DunbarClient) { self.dunbar = dunbar }

    func refresh() async throws {
        posts = try await dunbar.send(Dunbar.GetFeed(limit: pageSize))
        isComplete = posts.count < pageSize
    }

    func more() async throws {
        guard !isComplete else { return }
        let page = try await dunbar.send(Dunbar.GetFeed(limit: pageSize, before: posts.last?.id))
        posts += page
        isComplete = page.count < pageSize
    }
}
// end
