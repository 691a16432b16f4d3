import DunbarMocks

func showFeed() async throws {
    let dunbar = DunbarClient.mock()
    do {
        for try await post in dunbar.feed() { print(post.user.displayName, post.content) }
        try await dunbar.follow(dunbar.currentUser()?.id ?? 0)
    } catch let error as APIError {
        print(error.status ?? 0, error.message ?? "")
    }
}
