import DunbarAPI
import DunbarCheck
import Testbed
import Testing

/// Additions to the published contract are marked, and lists say what a large `limit` does.
@Suite(.timeLimit(.minutes(30))) struct DunbarAdditionTests {
    private static let account = "id username email bio photo isAdmin createdAt isPrivate displayName"
    private static let profile = "id username displayName bio photo isPrivate createdAt"
    private static let summary = "id username displayName photo"
    private static let post = "id content media userId createdAt user(\(summary))"
    private static let comment = "id content postId userId createdAt user(\(summary))"

    /// The names in the published contract. Of some answers it has no more than the status.
    private static let contract = PublishedContract(
        """
        POST /login > username password < user(\(account)) isFollowing isPending
        POST /register > username email password displayName < user(\(account) message) isFollowing isPending
        POST /logout < *
        GET /user < user(\(account) emailVerified) isFollowing isPending
        GET /users/{id} < user(\(profile)) isFollowing isPending
        PATCH /users/{id} > displayName bio isPrivate < \(account)
        POST /users/{id}/photo > photo < \(account)
        POST /posts > content media < \(post)
        GET /users/{id}/posts < \(post)
        GET /posts/{id} < \(post)
        GET /posts > userId < \(post)
        GET /feed < \(post)
        DELETE /posts/{id} < *
        POST /posts/{id}/comments > content < \(comment)
        GET /posts/{id}/comments < \(comment)
        POST /users/{id}/follow < message
        POST /users/{id}/unfollow < *
        POST /followers/{id}/remove < *
        GET /users/{id}/followers < \(profile)
        GET /users/{id}/following < \(profile)
        GET /follow-requests/pending < id createdAt follower(\(summary))
        GET /follow-requests/outgoing < id createdAt following(\(summary))
        POST /follow-requests/{id}/accept < *
        POST /follow-requests/{id}/reject < *
        GET /users/search > q < \(profile)
        GET /storage/health < *
        failure *
        """)

    @Test func theMarksAreTheContracts() async {
        DunbarLawTests.laws.checkAdditions(to: Self.contract)
        DunbarLawTests.laws.checkAdditions(in: await Described.api.description, to: Self.contract)
    }

    @Test(arguments: Stack.all)
    func theDescriptionSaysWhatALimitDoes(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            let post = try await john.publish()
            let targets = [
                "GET /posts": "/posts?userId=\(john.id)", "GET /posts/{id}": "/posts/\(john.id)",
                "GET /posts/{id}/comments": "/posts/\(post.id)/comments",
                "GET /users/{id}/posts": "/users/\(john.id)/posts",
                "GET /users/{id}/followers": "/users/\(john.id)/followers",
                "GET /users/{id}/following": "/users/\(john.id)/following",
            ]
            try await DunbarLawTests.laws.checkLimits(in: await Described.api.description, at: targets) {
                try await john.raw(.get, $0)
            }
        }
    }
}
