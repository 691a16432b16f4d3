import Contract
import DeuceDiaryAPI
import Testbed
import Testing

/// The requests equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryRequestWireTests {
    private static let group = DeuceDiary.Group.ID("6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
    private static let entry = DeuceDiary.DeuceEntry.ID("a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d")
    private static let invite = DeuceDiary.GroupInvite.ID("0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e")
    private static let odd = "ä \"b\"\\ /?&+%\r\n\u{1F}👨‍👩‍👧‍👦"
    private static let oddName = "ä \"b\"\\ /?&+%👨‍👩‍👧‍👦"

    /// The requests of all examples, as an app writes them.
    static let requests: [ExampleRequest] = [
        .init(DeuceDiary.GetUser()),
        .init(DeuceDiary.UpdateUser(username: "newname")),
        .init(DeuceDiary.UpdateUser(username: "new_Name 7")),
        .init(
            DeuceDiary.UploadProfilePicture(Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg"))),
        .init(DeuceDiary.DeleteUser()),
        .init(DeuceDiary.ExportUser()),
        .init(DeuceDiary.RequestArchive()),
        .init(DeuceDiary.GetArchive()),
        .init(GetAbout<DeuceDiary>()),
        .init(DeuceDiary.CreateGroup(name: "Throne Room", description: "Optional group description")),
        .init(DeuceDiary.CreateGroup(name: "Throne Room")),
        .init(DeuceDiary.CreateGroup(name: oddName, description: odd)),
        .init(DeuceDiary.ListGroups()),
        .init(DeuceDiary.ListGroups(limit: 20, before: group)),
        .init(DeuceDiary.GetGroup(group: group)),
        .init(DeuceDiary.GetGroup(group: group, limit: 2, before: entry)),
        .init(DeuceDiary.LeaveGroup(group: group)),
        .init(DeuceDiary.RemoveMember(group: group, user: "user_def456")),
        .init(DeuceDiary.CreateInvite(group: group)),
        .init(DeuceDiary.JoinGroup(invite: invite)),
        .init(DeuceDiary.OpenInvite(invite: invite)),
        .init(DeuceDiary.PreviewInvite(invite: invite)),
        .init(DeuceDiary.ListInvites(group: group)),
        .init(DeuceDiary.ListInvites(group: group, limit: 2, before: invite)),
        .init(DeuceDiary.RevokeInvite(invite: invite)),
        .init(
            DeuceDiary.LogDeuce(
                groups: [group], location: "Home", thoughts: "A throne worthy of a king",
                loggedAt: time("2025-06-10T08:00:00.000Z"))),
        .init(DeuceDiary.LogDeuce(groups: [group, "other"], location: "Home", thoughts: "")),
        .init(DeuceDiary.LogDeuce(groups: [group], location: odd, thoughts: odd)),
        .init(DeuceDiary.ListDeuces()),
        .init(DeuceDiary.ListDeuces(group: group, limit: 2, before: entry)),
        .init(DeuceDiary.DeleteDeuce(entry: entry)),
        .init(DeuceDiary.AddReaction(entry: entry, emoji: "💩")),
        .init(DeuceDiary.AddReaction(entry: entry, emoji: "👨‍👩‍👧‍👦")),
        .init(DeuceDiary.RemoveReaction(entry: entry, emoji: "💩")),
        .init(DeuceDiary.ListReactions(entry: entry)),
        .init(DeuceDiary.ListReactions(entry: entry, limit: 2, after: 7)),
        .init(DeuceDiary.ListLocations()),
        .init(DeuceDiary.ListLocations(limit: 2, page: 3)),
        .init(DeuceDiary.CreateLocation(name: "Grandma's House")),
        .init(DeuceDiary.CreateLocation(name: oddName)),
        .init(DeuceDiary.ReportUser(user: "user_def456", reason: "rude")),
        .init(DeuceDiary.ReportUser(user: "user_def456", reason: odd, details: odd)),
        .init(DeuceDiary.ReportEntry(entry: entry, reason: "rude")),
        .init(DeuceDiary.ReportEntry(entry: entry, reason: odd, details: odd)),
        .init(DeuceDiary.BlockUser(user: "user_def456")),
        .init(DeuceDiary.UnblockUser(user: "user_def456")),
        .init(DeuceDiary.ListBlocks()),
        .init(DeuceDiary.GetMostDeuces()),
    ]

    @Test(arguments: requests)
    func aRequestIsAnExample(_ request: ExampleRequest) throws { try DeuceDiaryLawTests.laws.check(request) }

    // MARK: Forms of other programs

    private func log(_ json: String) throws -> DeuceDiary.LogDeuce {
        try RequestCoding.decode(DeuceDiary.LogDeuce.self, from: .init(body: Array(json.utf8)))
    }

    /// The contract says: "`groupId` (singular) is also accepted for backward compatibility."
    @Test(arguments: [
        (#""groupId": "a""#, ["a"]), (#""groupIds": null, "groupId": "a""#, ["a"]),
        (#""groupIds": ["b"], "groupId": "a""#, ["b"]), (#""groupIds": ["b", "a", "b"]"#, ["b", "a", "b"]),
    ])
    func oneGroupMayHaveItsOlderName(_ member: String, _ groups: [DeuceDiary.Group.ID]) throws {
        #expect(try log(#"{\#(member), "location": "Home", "thoughts": ""}"#).groups == groups)
    }

    @Test(arguments: [
        #""groupIds": [], "groupId": "a""#, #""x": 1"#, #""groupId": null"#, #""groupIds": "a""#, #""groupIds": [5]"#,
        #""groupId": 5"#,
    ])
    func thereIsAtLeastOneGroup(_ member: String) {
        let problem = #expect(throws: Problem.self) {
            try log(#"{\#(member), "location": "Home", "thoughts": ""}"#)
        }
        #expect(problem?.message == "At least one group must be selected")
    }

    @Test(arguments: [
        (#""2025-06-10T08:00:00Z""#, "2025-06-10T08:00:00.000Z"),
        (#""2025-05-21T01:30:00+02:00""#, "2025-05-20T23:30:00.000Z"),
        (#""2025-06-10T08:00:00.123456789Z""#, "2025-06-10T08:00:00.123Z"),
        (#""2025-06-10""#, "2025-06-10T00:00:00.000Z"),
    ])
    func timesAreReadInAllCommonForms(_ text: String, _ expected: String) throws {
        let request = try log(#"{"groupIds": ["a"], "location": "Home", "thoughts": "", "loggedAt": \#(text)}"#)
        #expect(request.loggedAt?.description == expected)
        try request.validate()
    }

    @Test(arguments: [#""""#, "null", "5"])
    func aTimeMayBeAbsent(_ text: String) throws {
        let request = try log(#"{"groupIds": ["a"], "location": "Home", "thoughts": "", "loggedAt": \#(text)}"#)
        #expect(request.loggedAt == nil)
        try request.validate()
    }

    @Test func requestsAreRefusedBeforeTheyAreSent() {
        func refusal(_ request: some Endpoint) -> String? {
            do throws(Problem) { try request.validate() } catch { return error.message }
            return nil
        }
        #expect(refusal(DeuceDiary.UpdateUser(username: "ab")) == "String must contain at least 3 character(s)")
        #expect(
            refusal(DeuceDiary.CreateGroup(name: " "))
                == "Invalid group data: name is required (max 100 chars)")
        #expect(
            refusal(DeuceDiary.LogDeuce(groups: [], location: "x", thoughts: ""))
                == "At least one group must be selected")
        #expect(refusal(DeuceDiary.AddReaction(entry: "e", emoji: "")) == "Emoji is required")
        #expect(refusal(DeuceDiary.CreateLocation(name: "")) == "Location name is required")
        #expect(refusal(DeuceDiary.ListGroups(limit: 0)) == "Invalid limit")
        #expect(refusal(DeuceDiary.ListReactions(entry: "e", after: 0)) == "Invalid cursor")
    }
}
