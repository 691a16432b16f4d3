import Contract
import ContractServer
import DunbarAPI
import Foundation
import Testbed
import Testing

/// The contract's own JSON, from its code blocks, against the types.
@Suite(.timeLimit(.minutes(30))) struct DunbarWireTests {
    private static let newYear = Dunbar.Timestamp(milliseconds: 1_735_689_600_000)
    private static let photo = "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/profile.jpg"
    private static let picture = Upload(.bytes([1]), filename: "p.jpg", contentType: "image/jpeg")

    static let requests: [WireRequest] = [
        WireRequest(
            Dunbar.Login(username: "string", password: "string"), is: "POST /login",
            #"{ "username": "string", "password": "string" }"#),
        WireRequest(
            Dunbar.Register(username: "string", email: "s@tring", password: "stringstring", displayName: "string"),
            is: "POST /register",
            #"{ "username": "string", "email": "s@tring", "password": "stringstring", "displayName": "string" }"#),
        WireRequest(Dunbar.Logout(), is: "POST /logout", "{}"),
        WireRequest(Dunbar.GetCurrentUser(), is: "GET /user"),
        WireRequest(Dunbar.GetUser(id: 1), is: "GET /users/1"),
        WireRequest(
            Dunbar.UpdateUser(id: 1, displayName: "string", bio: "string", isPrivate: true), is: "PATCH /users/1",
            #"{ "displayName": "string", "bio": "string", "isPrivate": true }"#),
        WireRequest(Dunbar.UploadPhoto(id: 1, photo: picture), is: "POST /users/1/photo"),
        WireRequest(Dunbar.CreatePost(content: "Hello world"), is: "POST /posts", #"{"content": "Hello world"}"#),
        WireRequest(
            Dunbar.CreatePost(content: "Hello world", media: [picture, picture]), is: "POST /posts",
            #"{"content": "Hello world"}"#),
        WireRequest(Dunbar.ListUserPosts(user: 1), is: "GET /users/1/posts"),
        WireRequest(Dunbar.ListPostsByPath(user: 1), is: "GET /posts/1"),
        WireRequest(Dunbar.ListPostsByQuery(user: 1), is: "GET /posts?userId=1"),
        WireRequest(Dunbar.GetFeed(), is: "GET /feed"),
        WireRequest(Dunbar.GetFeed(limit: 4, before: 6), is: "GET /feed?limit=4&before=6"),
        WireRequest(Dunbar.DeletePost(id: 1), is: "DELETE /posts/1"),
        WireRequest(
            Dunbar.AddComment(post: 1, content: "string"), is: "POST /posts/1/comments", #"{ "content": "string" }"#),
        WireRequest(Dunbar.ListComments(post: 1), is: "GET /posts/1/comments"),
        WireRequest(Dunbar.Follow(user: 1), is: "POST /users/1/follow", "{}"),
        WireRequest(Dunbar.Unfollow(user: 1), is: "POST /users/1/unfollow", "{}"),
        WireRequest(Dunbar.RemoveFollower(follower: 1), is: "POST /followers/1/remove", "{}"),
        WireRequest(Dunbar.ListFollowers(of: 1), is: "GET /users/1/followers"),
        WireRequest(Dunbar.ListFollowing(of: 1), is: "GET /users/1/following"),
        WireRequest(Dunbar.ListPendingRequests(), is: "GET /follow-requests/pending"),
        WireRequest(Dunbar.ListOutgoingRequests(), is: "GET /follow-requests/outgoing"),
        WireRequest(Dunbar.AcceptRequest(id: 1), is: "POST /follow-requests/1/accept", "{}"),
        WireRequest(Dunbar.RejectRequest(id: 1), is: "POST /follow-requests/1/reject", "{}"),
        WireRequest(Dunbar.SearchUsers("query"), is: "GET /users/search?q=query"),
        WireRequest(Dunbar.CheckHealth(), is: "GET /storage/health"),
        WireRequest(Dunbar.VerifyEmail(token: "abc"), is: "GET /verify-email/abc"),
        WireRequest(Dunbar.ResendVerification(), is: "POST /verify-email/resend", "{}"),
        WireRequest(
            Dunbar.ForgotPassword(email: "s@tring"), is: "POST /forgot-password", #"{ "email": "s@tring" }"#),
        WireRequest(
            Dunbar.ResetPassword(token: "abc", newPassword: "stringstring"), is: "POST /reset-password",
            #"{ "token": "abc", "newPassword": "stringstring" }"#),
        WireRequest(
            Dunbar.DeleteAccount(password: "string"), is: "POST /account/delete", #"{ "password": "string" }"#),
        WireRequest(Dunbar.Block(user: 1), is: "POST /users/1/block", "{}"),
        WireRequest(Dunbar.Unblock(user: 1), is: "DELETE /users/1/block"),
        WireRequest(Dunbar.ListBlocks(), is: "GET /blocks"),
        WireRequest(Dunbar.ListBlocks(limit: 4, before: 6), is: "GET /blocks?limit=4&before=6"),
        WireRequest(
            Dunbar.ReportPost(post: 1, reason: .hateful), is: "POST /posts/1/report", #"{ "reason": "Hateful" }"#),
        WireRequest(
            Dunbar.ReportPost(post: 1, reason: .harmfulOrAbusive, details: "string"), is: "POST /posts/1/report",
            #"{ "reason": "Harmful_or_Abusive", "details": "string" }"#),
        WireRequest(
            Dunbar.ReportPost(post: 1, reason: .criminalActivity), is: "POST /posts/1/report",
            #"{ "reason": "Criminal_Activity" }"#),
        WireRequest(
            Dunbar.ReportPost(post: 1, reason: .sexuallyExplicit), is: "POST /posts/1/report",
            #"{ "reason": "Sexually_Explicit" }"#),
        WireRequest(Dunbar.DeleteComment(id: 1), is: "DELETE /comments/1"),
    ]

    private static let account = Dunbar.Account(
        id: 1, username: "jdoe", email: "john.doe@example.com", bio: "Hello world", photo: photo, isAdmin: false,
        createdAt: newYear, isPrivate: true, displayName: "John Doe")
    private static let john = Dunbar.UserSummary(id: 1, username: "jdoe", displayName: "John Doe", photo: photo)
    private static let sarah = Dunbar.UserSummary(
        id: 2, username: "sarah", displayName: "Sarah Smith",
        photo: "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/sarah.jpg")
    private static let alex = Dunbar.UserSummary(
        id: 3, username: "alex", displayName: "Alex Johnson",
        photo: "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/alex.jpg")

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

    private static let accountJSON = """
        {
          "id": 1,
          "username": "jdoe",
          "email": "john.doe@example.com",
          "bio": "Hello world",
          "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/profile.jpg",
          "isAdmin": false,
          "createdAt": "2025-01-01T00:00:00.000Z",
          "isPrivate": true,
          "displayName": "John Doe"
        }
        """

    private static func confirmation<E: Contract.Endpoint>(of _: E.Type, _ text: String) -> WireAnswer
    where E.Output == Dunbar.Confirmation {
        WireAnswer(of: E.self, 200, #"{ "message": "\#(text)" }"#, is: .init(message: text))
    }

    static let answers: [WireAnswer] = [
        WireAnswer(
            of: Dunbar.Login.self, 200, #"{ "user": \#(accountJSON), "isFollowing": false, "isPending": false }"#,
            is: WithRelationship(account)),
        WireAnswer(
            of: Dunbar.Register.self, 201,
            """
            {
              "user": {
                "id": 1,
                "username": "jdoe",
                "email": "john.doe@example.com",
                "bio": null,
                "photo": null,
                "isAdmin": false,
                "createdAt": "2025-01-01T00:00:00.000Z",
                "isPrivate": true,
                "displayName": "John Doe",
                "message": "Please check your email to verify your account"
              },
              "isFollowing": false,
              "isPending": false
            }
            """, is: WithRelationship(registered)),
        WireAnswer(
            of: Dunbar.GetCurrentUser.self, 200,
            """
            {
              "user": {
                "id": 1,
                "username": "jdoe",
                "email": "john.doe@example.com",
                "bio": "Hello world",
                "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/profile.jpg",
                "isAdmin": false,
                "createdAt": "2025-01-01T00:00:00.000Z",
                "isPrivate": true,
                "displayName": "John Doe",
                "emailVerified": true
              },
              "isFollowing": false,
              "isPending": false
            }
            """, is: WithRelationship(current)),
        WireAnswer(
            of: Dunbar.GetUser.self, 200,
            """
            {
              "user": {
                "id": 1,
                "username": "jdoe",
                "displayName": "John Doe",
                "bio": "Hello world",
                "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/profile.jpg",
                "isPrivate": true,
                "createdAt": "2025-01-01T00:00:00.000Z"
              },
              "isFollowing": false,
              "isPending": false
            }
            """, is: WithRelationship(account.profile)),
        WireAnswer(of: Dunbar.UpdateUser.self, 200, accountJSON, is: .own(account)),
        WireAnswer(
            of: Dunbar.CreatePost.self, 201,
            """
            {
              "id": 1,
              "content": "Hello world",
              "media": [
                "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/post1.jpg"
              ],
              "userId": 1,
              "createdAt": "2025-01-01T00:00:00.000Z",
              "user": {
                "id": 1,
                "username": "jdoe",
                "displayName": "John Doe",
                "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/profile.jpg"
              }
            }
            """,
            is: .init(
                id: 1, content: "Hello world",
                media: ["https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/post1.jpg"], userId: 1,
                createdAt: newYear, user: john)),
        WireAnswer(
            of: Dunbar.AddComment.self, 201,
            """
            {
              "id": 1,
              "content": "Great post!",
              "postId": 1,
              "userId": 2,
              "createdAt": "2025-01-01T00:00:00.000Z",
              "user": {
                "id": 2,
                "username": "sarah",
                "displayName": "Sarah Smith",
                "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/sarah.jpg"
              }
            }
            """,
            is: .init(id: 1, content: "Great post!", postId: 1, userId: 2, createdAt: newYear, user: sarah)),
        WireAnswer(
            of: Dunbar.ListPendingRequests.self, 200,
            """
            [
              {
                "id": 1,
                "createdAt": "2025-01-01T00:00:00.000Z",
                "follower": {
                  "id": 2,
                  "username": "sarah",
                  "displayName": "Sarah Smith",
                  "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/sarah.jpg"
                }
              }
            ]
            """, is: [.init(id: 1, createdAt: newYear, follower: sarah)]),
        WireAnswer(
            of: Dunbar.ListOutgoingRequests.self, 200,
            """
            [
              {
                "id": 1,
                "createdAt": "2025-01-01T00:00:00.000Z",
                "following": {
                  "id": 3,
                  "username": "alex",
                  "displayName": "Alex Johnson",
                  "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/alex.jpg"
                }
              }
            ]
            """, is: [.init(id: 1, createdAt: newYear, following: alex)]),
        WireAnswer(
            of: Dunbar.Follow.self, 200, #"{ "message": "Follow request sent" }"#,
            is: .init(message: "Follow request sent")),
        confirmation(of: Dunbar.VerifyEmail.self, "Email verified"),
        confirmation(of: Dunbar.ResendVerification.self, "Verification email sent"),
        confirmation(
            of: Dunbar.ForgotPassword.self,
            "If an account exists with this email, you will receive password reset instructions."),
        confirmation(of: Dunbar.ResetPassword.self, "Password has been reset"),
        confirmation(of: Dunbar.DeleteAccount.self, "Account deleted successfully"),
        confirmation(of: Dunbar.Block.self, "User blocked"),
        confirmation(of: Dunbar.Unblock.self, "User unblocked"),
        confirmation(of: Dunbar.ReportPost.self, "Post reported"),
        confirmation(of: Dunbar.DeleteComment.self, "Comment deleted"),
        WireAnswer(
            of: Dunbar.ListBlocks.self, 200,
            """
            [
              {
                "id": 2,
                "username": "sarah",
                "displayName": "Sarah Smith",
                "bio": null,
                "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/sarah.jpg",
                "isPrivate": true,
                "createdAt": "2025-01-01T00:00:00.000Z"
              }
            ]
            """,
            is: [
                .init(
                    id: 2, username: "sarah", displayName: "Sarah Smith", bio: nil, photo: sarah.photo,
                    isPrivate: true, createdAt: newYear)
            ]),
        WireAnswer(
            of: Dunbar.CheckHealth.self, 200,
            """
            {"status": "healthy", "components": {"server": "healthy", "database": "healthy", "storage": "healthy"},
             "timestamp": "2025-01-01T00:00:00.000Z"}
            """,
            is: .init(
                status: "healthy", components: .init(server: "healthy", database: "healthy", storage: "healthy"),
                timestamp: newYear)),
    ]

    @Test(arguments: requests)
    func aRequestIsWritten(_ request: WireRequest) throws { try request.encodes() }

    @Test(arguments: requests)
    func aRequestIsRead(_ request: WireRequest) throws { try request.decodes() }

    @Test(arguments: answers)
    func anAnswerIsRead(_ answer: WireAnswer) throws { try answer.decodes() }

    @Test(arguments: answers)
    func anAnswerIsWritten(_ answer: WireAnswer) throws { try answer.encodes() }

    // MARK: What older servers say

    @Test func aUserMayBeFlatOrWrapped() throws {
        let wrapped = #"{"user": \#(Self.accountJSON), "isFollowing": true, "isPending": false}"#
        for json in [Self.accountJSON, wrapped] {
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
