import Contract
import DunbarClient
import DunbarMocks
import Foundation
import Testing

/// The mock answers every operation with the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct DunbarMockTests {
    @Test func itHasTheDataOfTheExamples() async throws {
        let mock = DunbarMock()
        let dunbar = mock.client()
        let picture = Upload(.bytes([1]), filename: "a.jpg", contentType: "image/jpeg")
        #expect(try await dunbar.currentUser()?.emailVerified == true)
        #expect(try await dunbar.send(Dunbar.VerifyEmail(token: "x")).message == "Email verified")
        #expect(try await dunbar.send(Dunbar.ResendVerification()).message == "Verification email sent")
        #expect(try await dunbar.send(Dunbar.GetUser(id: 3)).isPending)
        #expect(try await dunbar.send(Dunbar.UpdateUser(id: 1, bio: "")).profile.bio == nil)
        #expect(try await dunbar.uploadPhoto(picture, of: 1).profile == .example)
        #expect(try await dunbar.send(Dunbar.ListUserPosts(user: 1)) == [.example])
        #expect(try await dunbar.send(Dunbar.ListPostsByPath(user: 1)) == [.example])
        #expect(try await dunbar.send(Dunbar.ListPostsByQuery(user: 1)) == [.example])
        let post = try await dunbar.post("New", media: [picture, picture])
        #expect(post.media.count == 2)
        #expect(try await dunbar.send(Dunbar.GetFeed()) == [post, .example])
        #expect(try await dunbar.send(Dunbar.ListComments(post: 1)) == [.example])
        let comment = try await dunbar.send(Dunbar.AddComment(post: 1, content: " Thanks "))
        #expect(comment.content == "Thanks")
        #expect(try await dunbar.send(Dunbar.ListComments(post: 1)) == [.example, comment])
        try await dunbar.send(Dunbar.DeleteComment(id: comment.id))
        #expect(try await dunbar.send(Dunbar.ListComments(post: 1)) == [.example])
        await #expect(throws: APIError.self) { try await dunbar.send(Dunbar.DeleteComment(id: comment.id)) }
        await #expect(throws: APIError.self) {
            try await dunbar.send(Dunbar.ReportPost(post: 1, reason: .hateful))
        }
        try await dunbar.send(Dunbar.DeletePost(id: post.id))
        #expect(try await dunbar.send(Dunbar.GetFeed()) == [.example])
        #expect(try await dunbar.follow(2) == .requested)
        try await dunbar.send(Dunbar.Unfollow(user: 3))
        await #expect(throws: APIError.self) { try await dunbar.send(Dunbar.RemoveFollower(follower: 2)) }
        #expect(try await dunbar.send(Dunbar.ListFollowers(of: 1)) == [])
        #expect(try await dunbar.send(Dunbar.ListFollowing(of: 1)) == [])
        #expect(try await dunbar.send(Dunbar.ListPendingRequests()) == [.example])
        #expect(try await dunbar.send(Dunbar.ListOutgoingRequests()) == [.example])
        try await dunbar.send(Dunbar.AcceptRequest(id: 1))
        try await dunbar.send(Dunbar.RejectRequest(id: 1))
        #expect(try await dunbar.send(Dunbar.SearchUsers("JO")).map(\.username) == ["alex", "jdoe"])
        #expect(try await dunbar.send(Dunbar.Block(user: 2)).message == "User blocked")
        #expect(try await dunbar.send(Dunbar.ListBlocks()) == [])
        #expect(try await dunbar.send(Dunbar.Unblock(user: 2)).message == "User unblocked")
        #expect(try await dunbar.wakeUp())
        try await dunbar.signOut()
        #expect(try await dunbar.signIn(username: "a", password: "b") == .example)
        let registered = try await dunbar.register(
            .init(username: "new", email: "n@x", password: "12345678", displayName: "New"))
        #expect(registered.message == "Please check your email to verify your account")

        try await dunbar.send(Dunbar.ForgotPassword(email: "n@x"))
        try await dunbar.send(Dunbar.ResetPassword(token: "x", newPassword: "12345678"))
        #expect(try await dunbar.currentUser() == nil)
        try await dunbar.signIn(username: "a", password: "b")
        try await dunbar.deleteAccount(password: "b")
        #expect(try await dunbar.currentUser() == nil)
    }

    @Test func sessionsEnd() async throws {
        let mock = DunbarMock()
        let dunbar = mock.client()
        mock.endSessions()
        do {
            try await dunbar.send(Dunbar.GetFeed())
            Issue.record("it was answered")
        } catch APIError.unauthorized {}
        #expect(try await dunbar.currentUser() == nil)
        try await dunbar.signIn(username: "a", password: "b")
        #expect(try await dunbar.currentUser() != nil)
        #expect(try await mock.client(signedIn: false).currentUser() == nil)
    }

    @Test func refusals() async throws {
        let mock = DunbarMock()
        mock.fail(Dunbar.Follow.self, with: .badRequest, "You have reached the maximum number of follows (150)")
        do {
            try await mock.client().follow(2)
            Issue.record("it was answered")
        } catch let error as APIError {
            #expect(error.message == "You have reached the maximum number of follows (150)")
        }
        for id in [0, 9] as [Dunbar.User.ID] {
            await #expect(throws: APIError.self) { try await mock.client().send(Dunbar.GetUser(id: id)) }
        }
    }
}
