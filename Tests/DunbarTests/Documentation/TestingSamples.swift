import DunbarMocks
import Testing

// The samples of Testing.md, and of DunbarMock's own documentation.

@Suite(.timeLimit(.minutes(30))) struct DunbarTestingSamples {
    @Test func aPreview() async throws {
        // sample
        let dunbar = DunbarClient.mock()
        let me = try await dunbar.currentUser()
        print(me?.displayName ?? "")
        // end
        #expect(me?.displayName == "John Doe")
    }

    @Test func aRefusal() async throws {
        // sample
        let mock = DunbarMock()
        mock.fail(Dunbar.Follow.self, with: .badRequest, "You have reached the maximum number of follows (150)")
        let dunbar = mock.client()
        // end
        let error = await #expect(throws: APIError.self) { try await dunbar.follow(2) }
        #expect(error?.message == "You have reached the maximum number of follows (150)")
    }

    @Test func answersOfOnesOwnAndABadNetwork() async throws {
        // sample
        let mock = DunbarMock(sleep: { _ in })
        mock.on(Dunbar.GetFeed.self) { _ in [] }
        mock.fail(Dunbar.CreatePost.self, with: .serviceUnavailable, "Service unavailable", times: 2)
        mock.delay = .seconds(2)
        mock.offline()
        mock.online()
        mock.endSessions()
        // end
        let dunbar = mock.client()
        let feed = try await dunbar.send(Dunbar.GetFeed())
        #expect(feed.isEmpty)
        for _ in 0..<2 { await #expect(throws: APIError.self) { try await dunbar.post("Hello") } }
        let post = try await dunbar.post("Hello")
        #expect(post.content == "Hello")
    }

    // sample
    @Test @MainActor func theFeedIsReadInPages() async throws {
        let mock = DunbarMock()
        let model = FeedModel(mock.client())
        try await model.refresh()
        #expect(model.posts == [.example])
        #expect(model.isComplete)

        try await model.more()
        #expect(mock.requests(Dunbar.GetFeed.self).count == 1)
    }
    // end
}
