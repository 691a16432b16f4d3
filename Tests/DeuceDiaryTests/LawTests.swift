import Contract
import DeuceDiaryAPI
import Testbed
import Testing

extension Example {
    private static let id = "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071"

    /// One for every operation; of each optional field one that has it.
    static let all: [Example] = {
        let group = DeuceDiary.Group.ID(id)
        let entry = DeuceDiary.DeuceEntry.ID(id)
        let odd = "ä \"b\"\\ /?&+%\r\n\u{1F}👨‍👩‍👧‍👦"
        do {
            return [
                try Example(DeuceDiary.GetUser()),
                try Example(DeuceDiary.UpdateUser(username: "new_Name 7")),
                try Example(
                    DeuceDiary.UploadProfilePicture(
                        Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg"))),
                try Example(DeuceDiary.DeleteUser()),
                try Example(DeuceDiary.ExportUser()),
                try Example(DeuceDiary.CreateGroup(name: odd)),
                try Example(DeuceDiary.CreateGroup(name: "Throne Room", description: odd)),
                try Example(DeuceDiary.ListGroups()),
                try Example(DeuceDiary.ListGroups(limit: 500, before: group)),
                try Example(DeuceDiary.GetGroup(group: group)),
                try Example(DeuceDiary.GetGroup(group: group, limit: 1, before: entry)),
                try Example(DeuceDiary.LeaveGroup(group: group)),
                try Example(DeuceDiary.RemoveMember(group: group, user: "user_7")),
                try Example(DeuceDiary.CreateInvite(group: group)),
                try Example(DeuceDiary.JoinGroup(invite: .init(id))),
                try Example(DeuceDiary.OpenInvite(invite: .init(id))),
                try Example(DeuceDiary.PreviewInvite(invite: .init(id))),
                try Example(DeuceDiary.ListInvites(group: group)),
                try Example(DeuceDiary.ListInvites(group: group, limit: 500, before: .init(id))),
                try Example(DeuceDiary.RevokeInvite(invite: .init(id))),
                try Example(DeuceDiary.ListDeuces()),
                try Example(DeuceDiary.ListDeuces(group: group, limit: 100, before: entry)),
                try Example(DeuceDiary.DeleteDeuce(entry: entry)),
                try Example(DeuceDiary.LogDeuce(groups: [group, "other"], location: odd, thoughts: "")),
                try Example(
                    DeuceDiary.LogDeuce(
                        groups: [group], location: "Home", thoughts: odd, loggedAt: .init(milliseconds: 1))),
                try Example(DeuceDiary.AddReaction(entry: entry, emoji: "👨‍👩‍👧‍👦")),
                try Example(DeuceDiary.RemoveReaction(entry: entry, emoji: "💩")),
                try Example(DeuceDiary.ListReactions(entry: entry)),
                try Example(DeuceDiary.ListReactions(entry: entry, limit: 1000, after: .init(.max))),
                try Example(DeuceDiary.ListLocations()),
                try Example(DeuceDiary.ListLocations(limit: 2, page: 3)),
                try Example(DeuceDiary.CreateLocation(name: odd)),
                try Example(DeuceDiary.GetMostDeuces()),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryLawTests {
    /// The contract's headings, in its order, each followed by what the decisions add to its section.
    static let summary = [
        "GET /api/auth/user", "PUT /api/auth/user", "POST /api/auth/user/profile-picture", "DELETE /api/auth/user",
        "GET /api/auth/user/export", "POST /api/groups", "GET /api/groups", "GET /api/groups/{groupId}",
        "POST /api/groups/{groupId}/leave", "DELETE /api/groups/{groupId}/members/{userId}",
        "POST /api/groups/{groupId}/invite", "POST /api/join/{inviteId}", "GET /join/{inviteId}",
        "GET /api/groups/preview/{inviteId}", "GET /api/groups/{groupId}/invites", "DELETE /api/invites/{inviteId}",
        "POST /api/deuces", "GET /api/deuces", "DELETE /api/deuces/{entryId}",
        "POST /api/entries/{entryId}/reactions", "DELETE /api/entries/{entryId}/reactions",
        "GET /api/entries/{entryId}/reactions", "GET /api/locations", "POST /api/locations",
        "GET /api/analytics/most-deuces",
    ]

    /// Those that anybody may call (decisions §3).
    static let open: Set = ["GET /join/{inviteId}", "GET /api/groups/preview/{inviteId}", "GET /api/locations"]

    static let laws = Laws<DeuceDiary>(summary: summary, open: open, examples: Example.all) { _, message, _ in
        #"{"message":"\#(message)"}"#
    }

    // MARK: Of the types

    @Test func theTypesAreTheContracts() { Self.laws.holdTheTypes() }

    /// Decisions §1: "on every POST above except join". Leaving makes nothing.
    @Test func everyCreatingPostTakesAnIdempotencyKey() {
        for endpoint in DeuceDiary.endpoints {
            let others = ["POST /api/join/{inviteId}", "POST /api/groups/{groupId}/leave"]
            let isCreating = endpoint.route.method == .post && !others.contains(endpoint.signature)
            #expect(endpoint.route.acceptsIdempotencyKey == isCreating, "\(endpoint.signature)")
        }
    }

    /// "Every success is 200; the browser redirect is 302."
    @Test func everySuccessIs200() {
        for endpoint in DeuceDiary.endpoints {
            #expect(endpoint.route.status == (endpoint.signature == "GET /join/{inviteId}" ? .found : .ok))
        }
    }

    @Test(arguments: Example.all)
    func aRequestSurvivesTheWire(_ example: Example) throws { try example.surviveTheWire() }

    // MARK: Of the server

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let files: Set = ["GET /uploads/{name*}", "HEAD /uploads/{name*}"]
            #expect(Self.laws.beyond(host.app.router) == files.union(["GET /health", "GET /ready"]))
        }
    }

    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { try await Self.laws.refuseStrangers(of: $0, "Unauthorized") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredToAnybody(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { try await Self.laws.answerHealth(of: $0) }
    }
}
