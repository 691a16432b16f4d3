import Backend
import Contract
import ContractCheck
import DunbarAPI
import HTTPTypes
import Testbed
import Testing

extension Example {
    /// One for every operation; of each optional field one that has it.
    static let dunbar: [Example] = {
        let picture = Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg")
        do {
            return [
                try Example(Dunbar.Login(username: "jdoe", password: " ")),
                try Example(
                    Dunbar.Register(
                        username: "älice\"b\"", email: "a+b@example.com", password: "p\\ss/word 🎉", displayName: "A",
                        confirmPassword: "p\\ss/word 🎉")),
                try Example(Dunbar.Logout()), try Example(Dunbar.GetCurrentUser()),
                try Example(Dunbar.VerifyEmail(token: "a-b_c")), try Example(Dunbar.ForgotPassword(email: "é@x")),
                try Example(Dunbar.ResendVerification()),
                try Example(Dunbar.ResetPassword(token: "a-b_c", newPassword: "p\\ss/word 🎉")),
                try Example(Dunbar.DeleteAccount(password: " 🎉")), try Example(Dunbar.GetUser(id: 7)),
                try Example(Dunbar.UpdateUser(id: 7, displayName: "N \"α\"", bio: "", isPrivate: false)),
                try Example(Dunbar.UploadPhoto(id: 7, photo: picture)),
                try Example(Dunbar.CreatePost(content: "\r\n\t\u{1F}é🎉")),
                try Example(Dunbar.CreatePost(content: "", media: [picture, picture])),
                try Example(Dunbar.ListUserPosts(user: 7, limit: 3, before: 9)),
                try Example(Dunbar.ListPostsByPath(user: 7, limit: 3, before: 9)),
                try Example(Dunbar.ListPostsByQuery(user: 7, limit: 3, before: 9)),
                try Example(Dunbar.GetFeed(limit: 3, before: 9)), try Example(Dunbar.DeletePost(id: 7)),
                try Example(Dunbar.ReportPost(post: 7, reason: .harmfulOrAbusive, details: "\"é\" 🎉\n")),
                try Example(Dunbar.AddComment(post: 7, content: "é🎉")), try Example(Dunbar.DeleteComment(id: 7)),
                try Example(Dunbar.ListComments(post: 7, limit: 3, before: 9)),
                try Example(Dunbar.Follow(user: 7)), try Example(Dunbar.Unfollow(user: 7)),
                try Example(Dunbar.RemoveFollower(follower: 7)), try Example(Dunbar.Block(user: 7)),
                try Example(Dunbar.Unblock(user: 7)), try Example(Dunbar.ListBlocks(limit: 3, before: 9)),
                try Example(Dunbar.ListFollowers(of: 7, limit: 3, before: 9)),
                try Example(Dunbar.ListFollowing(of: 7, limit: 3, before: 9)),
                try Example(Dunbar.ListPendingRequests(limit: 3, before: 9)),
                try Example(Dunbar.ListOutgoingRequests(limit: 3, before: 9)),
                try Example(Dunbar.AcceptRequest(id: 7)), try Example(Dunbar.RejectRequest(id: 7)),
                try Example(Dunbar.SearchUsers("50% & a+b=c?/#é")), try Example(Dunbar.CheckHealth()),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct DunbarLawTests {
    /// The contract's headings, in its order (26 operations), with what the decisions add to a section behind it.
    static let summary = [
        "POST /login", "POST /register", "POST /logout", "GET /user", "GET /verify-email/{token}",
        "POST /verify-email/resend", "POST /forgot-password", "POST /reset-password", "POST /account/delete",
        "GET /users/{id}", "PATCH /users/{id}", "POST /users/{id}/photo",
        "POST /posts", "GET /users/{id}/posts", "GET /posts/{id}", "GET /posts", "GET /feed", "DELETE /posts/{id}",
        "POST /posts/{id}/report", "POST /posts/{id}/comments", "GET /posts/{id}/comments", "DELETE /comments/{id}",
        "POST /users/{id}/follow", "POST /users/{id}/unfollow", "POST /followers/{id}/remove",
        "GET /users/{id}/followers", "GET /users/{id}/following", "GET /follow-requests/pending",
        "GET /follow-requests/outgoing", "POST /follow-requests/{id}/accept", "POST /follow-requests/{id}/reject",
        "POST /users/{id}/block", "DELETE /users/{id}/block", "GET /blocks", "GET /users/search",
        "GET /storage/health",
    ]

    /// What the decisions add (§6).
    static let additions: Set = [
        "GET /verify-email/{token}", "POST /verify-email/resend", "POST /forgot-password", "POST /reset-password",
        "POST /account/delete", "POST /posts/{id}/report", "DELETE /comments/{id}", "POST /users/{id}/block",
        "DELETE /users/{id}/block",
        "GET /blocks",
    ]

    /// Those that anybody may call (decisions §3).
    static let open: Set = [
        "POST /login", "POST /register", "POST /logout", "GET /verify-email/{token}", "GET /users/{id}",
        "GET /storage/health", "POST /forgot-password", "POST /reset-password",
    ]

    /// Decisions §1.
    static let keyed: Set = [
        "POST /register", "POST /posts", "POST /posts/{id}/comments", "POST /users/{id}/photo",
        "POST /posts/{id}/report",
    ]

    static let laws = Laws<Dunbar>(summary: summary, open: open, examples: Example.dunbar) { _, message, _ in
        #"{"message":"\#(message)"}"#
    }

    @Test func theTypesAreTheContracts() {
        Self.laws.holdTheTypes()
        Self.laws.holdTheKeys(Self.keyed)
        #expect(Self.summary.filter { !Self.additions.contains($0) }.count == 26)
    }

    @Test(arguments: Example.dunbar)
    func aRequestSurvivesTheWire(_ example: Example) throws { try example.surviveTheWire() }

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let files: Set = ["GET /media/{name*}", "HEAD /media/{name*}"]
            #expect(Self.laws.beyond(host.app.router) == files.union(["GET /health", "GET /ready"]))
        }
    }

    @Test(arguments: Stack.all)
    func withoutASessionNothingIsLookedAt(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { try await Self.laws.refuseStrangers(of: $0, "Unauthorized") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func everyOperationIsAnsweredInJSONAndNeverEmpty(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in Example.dunbar {
                for cookie in [nil, john.cookie] {
                    var headers: HTTPFields = [:]
                    headers[.cookie] = cookie
                    let body = example.route.method == .get ? nil : "{"
                    let answer = try await raw.send(example.route.method, example.path, headers: headers, body: body)
                    #expect(answer.status < 500, "\(example.signature)")
                    #expect(answer.headers[.contentType] == "application/json", "\(example.signature)")
                    _ = try answer.json()
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredAtTheRoot(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { try await Self.laws.answerHealth(of: $0) }
    }
}
