import Contract
import ContractServer
import DunbarAPI
import Foundation
import Testbed
import Testing

/// The types equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct DunbarWireTests {
    private static let picture = Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg")

    /// The requests of all examples, as an app writes them.
    static let requests: [ExampleRequest] = [
        .init(Dunbar.Login(username: "jdoe", password: "secret123")),
        .init(Dunbar.Login(username: "string", password: "string")),
        .init(Dunbar.Login(username: "jdoe", password: "secret123", deviceName: "John's iPhone")),
        .init(
            Dunbar.Register(
                username: "jdoe", email: "john.doe@example.com", password: "secret123", displayName: "John Doe")),
        .init(
            Dunbar.Register(username: "string", email: "s@tring", password: "stringstring", displayName: "string")),
        .init(
            Dunbar.Register(
                username: "älice\"b\"", email: "a+b@example.com", password: "p\\ss/word 🎉", displayName: "A",
                confirmPassword: "p\\ss/word 🎉", deviceName: "John's iPhone")),
        .init(
            Dunbar.Register(
                username: "rroe", email: "richard.roe@example.com", password: "secret123", displayName: "Richard Roe",
                acceptedTerms: "2026-11", invitationCode: "K7QM-2XWA-9DHT")),
        .init(Dunbar.Logout()),
        .init(Dunbar.GetCurrentUser()),
        .init(Dunbar.VerifyEmail(token: "abc")),
        .init(Dunbar.ResendVerification()),
        .init(Dunbar.ForgotPassword(email: "s@tring")),
        .init(Dunbar.ForgotPassword(email: "é@x")),
        .init(Dunbar.ResetPassword(token: "abc", newPassword: "stringstring")),
        .init(Dunbar.ResetPassword(token: "a-b_c", newPassword: "p\\ss/word 🎉")),
        .init(Dunbar.ChangePassword(currentPassword: "string", newPassword: "stringstring")),
        .init(Dunbar.ChangePassword(currentPassword: "p\\ss/word 🎉", newPassword: "P\\ss/word 🎉")),
        .init(Dunbar.ChangeEmail(email: "s@tring", password: "string")),
        .init(Dunbar.DeleteAccount(password: "string")),
        .init(Dunbar.RequestArchive()),
        .init(Dunbar.GetArchive()),
        .init(Dunbar.ListSessions()),
        .init(Dunbar.EndOtherSessions()),
        .init(Dunbar.EndSession(id: 4_503_599_627_370_496)),
        .init(Dunbar.GetUser(id: 1)),
        .init(Dunbar.UpdateUser(id: 1, displayName: "string", bio: "string", isPrivate: true)),
        .init(Dunbar.UpdateUser(id: 1, displayName: "N \"α\"", bio: "", isPrivate: false)),
        .init(Dunbar.UploadPhoto(id: 1, photo: picture)),
        .init(Dunbar.CreatePost(content: "Hello world")),
        .init(Dunbar.CreatePost(content: "\r\n\t\u{1F}é🎉")),
        .init(Dunbar.CreatePost(content: "Hello world", media: [picture, picture])),
        .init(Dunbar.CreatePost(content: "", media: [picture, picture])),
        .init(Dunbar.ListUserPosts(user: 1)),
        .init(Dunbar.ListUserPosts(user: 1, limit: 3, before: 9)),
        .init(Dunbar.ListPostsByPath(user: 1)),
        .init(Dunbar.ListPostsByPath(user: 1, limit: 3, before: 9)),
        .init(Dunbar.ListPostsByQuery(user: 1)),
        .init(Dunbar.ListPostsByQuery(user: 1, limit: 3, before: 9)),
        .init(Dunbar.GetFeed()),
        .init(Dunbar.GetFeed(limit: 4, before: 6)),
        .init(Dunbar.DeletePost(id: 1)),
        .init(Dunbar.ReportPost(post: 1, reason: .hateful)),
        .init(Dunbar.ReportPost(post: 1, reason: .harmfulOrAbusive, details: "\"é\" 🎉\n")),
        .init(Dunbar.ReportPost(post: 1, reason: .criminalActivity)),
        .init(Dunbar.ReportPost(post: 1, reason: .sexuallyExplicit)),
        .init(Dunbar.ReportUser(user: 2, reason: .hateful)),
        .init(Dunbar.ReportUser(user: 2, reason: .harmfulOrAbusive, details: "\"é\" 🎉\n")),
        .init(Dunbar.ReportComment(comment: 1, reason: .hateful)),
        .init(Dunbar.ReportComment(comment: 1, reason: .harmfulOrAbusive, details: "\"é\" 🎉\n")),
        .init(Dunbar.AddComment(post: 1, content: "string")),
        .init(Dunbar.AddComment(post: 1, content: "é🎉")),
        .init(Dunbar.ListComments(post: 1)),
        .init(Dunbar.ListComments(post: 1, limit: 3, before: 9)),
        .init(Dunbar.DeleteComment(id: 1)),
        .init(Dunbar.Follow(user: 2)),
        .init(Dunbar.Unfollow(user: 3)),
        .init(Dunbar.RemoveFollower(follower: 2)),
        .init(Dunbar.ListFollowers(of: 1)),
        .init(Dunbar.ListFollowers(of: 1, limit: 3, before: 9)),
        .init(Dunbar.ListFollowers(of: 1, include: .relationship)),
        .init(Dunbar.ListFollowing(of: 1)),
        .init(Dunbar.ListFollowing(of: 1, limit: 3, before: 9)),
        .init(Dunbar.ListFollowing(of: 1, include: .relationship)),
        .init(Dunbar.ListPendingRequests()),
        .init(Dunbar.ListPendingRequests(limit: 3, before: 9)),
        .init(Dunbar.ListOutgoingRequests()),
        .init(Dunbar.ListOutgoingRequests(limit: 3, before: 9)),
        .init(Dunbar.AcceptRequest(id: 1)),
        .init(Dunbar.RejectRequest(id: 1)),
        .init(Dunbar.Block(user: 2)),
        .init(Dunbar.Unblock(user: 2)),
        .init(Dunbar.ListBlocks()),
        .init(Dunbar.ListBlocks(limit: 4, before: 6)),
        .init(Dunbar.ListBlocks(include: .relationship)),
        .init(Dunbar.SearchUsers("query")),
        .init(Dunbar.SearchUsers("50% & a+b=c?/#é")),
        .init(Dunbar.SearchUsers("query", include: .relationship)),
        .init(Dunbar.CheckHealth()),
        .init(GetAbout<Dunbar>()),
    ]

    private static let newYear = Dunbar.Timestamp(milliseconds: 1_735_689_600_000)
    private static let pictures = "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789"

    private static let account = Dunbar.Account(
        id: 1, username: "jdoe", email: "john.doe@example.com", bio: "Hello world", photo: "\(pictures)/profile.jpg",
        isAdmin: false, createdAt: newYear, isPrivate: true, displayName: "John Doe")
    private static var registered: Dunbar.Account {
        var account = account
        (account.bio, account.photo) = (nil, nil)
        account.message = "Please check your email to verify your account"
        return account
    }
    private static var current: Dunbar.Account {
        var account = account
        account.emailVerified = true
        return account
    }
    private static let john = Dunbar.UserSummary(
        id: 1, username: "jdoe", displayName: "John Doe", photo: "\(pictures)/profile.jpg")
    private static let sarah = Dunbar.UserSummary(
        id: 2, username: "sarah", displayName: "Sarah Smith", photo: "\(pictures)/sarah.jpg")
    private static let alex = Dunbar.UserSummary(
        id: 3, username: "alex", displayName: "Alex Johnson", photo: "\(pictures)/alex.jpg")
    private static let sarahsProfile = Dunbar.User(
        id: 2, username: "sarah", displayName: "Sarah Smith", bio: nil, photo: sarah.photo, isPrivate: true,
        createdAt: newYear)
    private static func related(_ user: Dunbar.User) -> Dunbar.User {
        var user = user
        (user.isFollowing, user.isPending) = (false, false)
        return user
    }
    private static let post = Dunbar.Post(
        id: 1, content: "Hello world", media: ["\(pictures)/post1.jpg"], userId: 1, createdAt: newYear, user: john)
    private static let comment = Dunbar.Comment(
        id: 1, content: "Great post!", postId: 1, userId: 2, createdAt: newYear, user: sarah)

    /// The values of the answers in the examples.
    static let answers: [ExampleAnswer] = [
        .init(of: Dunbar.Login.self, WithRelationship(account)),
        .init(of: Dunbar.Register.self, WithRelationship(registered)),
        .init(of: Dunbar.Logout.self, .init(message: "Logged out successfully")),
        .init(of: Dunbar.GetCurrentUser.self, WithRelationship(current)),
        .init(of: Dunbar.VerifyEmail.self, .init(message: "Email verified")),
        .init(of: Dunbar.ResendVerification.self, .init(message: "Verification email sent")),
        .init(
            of: Dunbar.ForgotPassword.self,
            .init(message: "If an account exists with this email, you will receive password reset instructions.")),
        .init(of: Dunbar.ResetPassword.self, .init(message: "Password has been reset")),
        .init(of: Dunbar.ChangePassword.self, .init(message: "Password changed")),
        .init(of: Dunbar.ChangeEmail.self, .init(message: "Verification email sent")),
        .init(of: Dunbar.DeleteAccount.self, .init(message: "Account deleted successfully")),
        .init(
            of: Dunbar.RequestArchive.self,
            .init(
                state: .ready, requestedAt: .init(milliseconds: 1_749_556_800_000), size: 1_048_576,
                url: "https://example.com/objects/archive.zip", expiresAt: .init(milliseconds: 1_749_729_600_000))),
        .init(
            of: Dunbar.GetArchive.self,
            .init(
                state: .ready, requestedAt: .init(milliseconds: 1_749_556_800_000), size: 1_048_576,
                url: "https://example.com/objects/archive.zip", expiresAt: .init(milliseconds: 1_749_729_600_000))),
        .init(
            of: Dunbar.ListSessions.self,
            [
                .init(
                    id: 4_503_599_627_370_496, device: "John's iPhone", createdAt: newYear,
                    lastUsedAt: .init(milliseconds: newYear.milliseconds + 3_600_000), address: "203.0.113.7",
                    isCurrent: true)
            ]),
        .init(of: Dunbar.EndOtherSessions.self, .init(message: "Other sessions ended")),
        .init(of: Dunbar.EndSession.self, .init(message: "Session ended")),
        .init(of: Dunbar.GetUser.self, WithRelationship(account.profile)),
        .init(of: Dunbar.UpdateUser.self, .own(account)),
        .init(of: Dunbar.UploadPhoto.self, .own(account)),
        .init(of: Dunbar.CreatePost.self, post),
        .init(of: Dunbar.ListUserPosts.self, [post]),
        .init(of: Dunbar.ListPostsByPath.self, [post]),
        .init(of: Dunbar.ListPostsByQuery.self, [post]),
        .init(of: Dunbar.GetFeed.self, [post]),
        .init(of: Dunbar.DeletePost.self, .init(message: "Post deleted")),
        .init(of: Dunbar.ReportPost.self, .init(message: "Post reported")),
        .init(of: Dunbar.ReportUser.self, .init(message: "User reported")),
        .init(of: Dunbar.ReportComment.self, .init(message: "Comment reported")),
        .init(of: Dunbar.AddComment.self, comment),
        .init(of: Dunbar.ListComments.self, [comment]),
        .init(of: Dunbar.DeleteComment.self, .init(message: "Comment deleted")),
        .init(of: Dunbar.Follow.self, .init(message: "Follow request sent")),
        .init(of: Dunbar.Unfollow.self, .init(message: "Unfollowed")),
        .init(of: Dunbar.RemoveFollower.self, .init(message: "Follower removed successfully")),
        .init(of: Dunbar.ListFollowers.self, [sarahsProfile]),
        .init(of: Dunbar.ListFollowers.self, [related(sarahsProfile)], contractAlone: [sarahsProfile]),
        .init(of: Dunbar.ListFollowing.self, [sarahsProfile]),
        .init(of: Dunbar.ListFollowing.self, [related(sarahsProfile)], contractAlone: [sarahsProfile]),
        .init(of: Dunbar.ListPendingRequests.self, [.init(id: 1, createdAt: newYear, follower: sarah)]),
        .init(of: Dunbar.ListOutgoingRequests.self, [.init(id: 1, createdAt: newYear, following: alex)]),
        .init(of: Dunbar.AcceptRequest.self, .init(message: "Follow request accepted")),
        .init(of: Dunbar.RejectRequest.self, .init(message: "Follow request rejected")),
        .init(of: Dunbar.Block.self, .init(message: "User blocked")),
        .init(of: Dunbar.Unblock.self, .init(message: "User unblocked")),
        .init(of: Dunbar.ListBlocks.self, [sarahsProfile]),
        .init(of: Dunbar.ListBlocks.self, [related(sarahsProfile)], contractAlone: [sarahsProfile]),
        .init(of: Dunbar.SearchUsers.self, [account.profile]),
        .init(of: Dunbar.SearchUsers.self, [related(account.profile)], contractAlone: [account.profile]),
        .init(
            of: Dunbar.CheckHealth.self,
            .init(
                status: "healthy", components: .init(server: "healthy", database: "healthy", storage: "healthy"),
                timestamp: newYear)),
        .init(of: GetAbout<Dunbar>.self, .example),
    ]

    @Test(arguments: requests)
    func aRequestIsAnExample(_ request: ExampleRequest) throws { try DunbarLawTests.laws.check(request) }

    @Test(arguments: answers)
    func anAnswerIsAnExample(_ answer: ExampleAnswer) throws { try DunbarLawTests.laws.check(answer) }

    @Test func everyExampleHasItsValue() { DunbarLawTests.laws.checkExamplesAreUsed(Self.answers) }

    @Test func everyVariantOfAnAnswerIsReadAndWritten() throws { try DunbarLawTests.laws.checkAnswers() }

    // MARK: Older servers

    @Test func aUserMayBeFlatOrWrapped() throws {
        let flat = """
            {"id": 1, "username": "jdoe", "email": "john.doe@example.com", "bio": "Hello world",
             "photo": "\(Self.pictures)/profile.jpg", "isAdmin": false, "createdAt": "2025-01-01T00:00:00.000Z",
             "isPrivate": true, "displayName": "John Doe"}
            """
        let wrapped = #"{"user": \#(flat), "isFollowing": true, "isPending": false}"#
        for json in [flat, wrapped] {
            #expect(try read(Dunbar.UpdatedUser.self, json) == .own(Self.account))
            #expect(try read(WithRelationship<Dunbar.Account>.self, json).user == Self.account)
        }
        #expect(try read(WithRelationship<Dunbar.Account>.self, wrapped).isFollowing)
    }

    @Test(arguments: [#""photo": "","#, #""photo": null,"#, ""])
    func anEmptyPhotoIsNone(_ member: String) throws {
        let json = #"{"id": 2, "username": "sarah", \#(member) "displayName": "Sarah Smith"}"#
        let user = try read(Dunbar.UserSummary.self, json)
        #expect(user.photo == nil)
        let written = String(buffer: try JSONBody.encode(user))
        #expect(written == #"{"id":2,"username":"sarah","displayName":"Sarah Smith","photo":null}"#)
    }

    @Test(arguments: ["2025-01-01T00:00:00Z", "2025-01-01T00:00:00.000Z", "2025-01-01T01:00:00+01:00"])
    func aTimeMayHaveAFractionOrNone(_ text: String) throws {
        #expect(try read(Dunbar.Timestamp.self, "\"\(text)\"") == Self.newYear)
    }
}
