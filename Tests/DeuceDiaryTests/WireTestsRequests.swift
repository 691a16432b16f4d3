import Contract
import DeuceDiaryAPI
import Testbed
import Testing

/// Every request of the contract, from its code blocks.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryRequestWireTests {
    static let literals: [WireRequest] = [
        WireRequest(DeuceDiary.GetUser(), is: "GET /api/auth/user"),
        WireRequest(
            DeuceDiary.UpdateUser(username: "newname"), is: "PUT /api/auth/user", #"{ "username": "newname" }"#),
        WireRequest(
            DeuceDiary.UploadProfilePicture(Upload(.bytes([1]), filename: "me.jpg", contentType: "image/jpeg")),
            is: "POST /api/auth/user/profile-picture"),
        WireRequest(DeuceDiary.DeleteUser(), is: "DELETE /api/auth/user"),
        WireRequest(DeuceDiary.ExportUser(), is: "GET /api/auth/user/export"),
        WireRequest(
            DeuceDiary.CreateGroup(name: "Throne Room", description: "Optional group description"),
            is: "POST /api/groups",
            #"{ "name": "Throne Room", "description": "Optional group description" }"#),
        WireRequest(DeuceDiary.ListGroups(), is: "GET /api/groups"),
        WireRequest(DeuceDiary.GetGroup(group: "uuid-v4"), is: "GET /api/groups/uuid-v4"),
        WireRequest(DeuceDiary.LeaveGroup(group: "uuid-v4"), is: "POST /api/groups/uuid-v4/leave", "{}"),
        WireRequest(
            DeuceDiary.RemoveMember(group: "uuid-v4", user: "user_abc123"),
            is: "DELETE /api/groups/uuid-v4/members/user_abc123"),
        WireRequest(DeuceDiary.CreateInvite(group: "uuid-v4"), is: "POST /api/groups/uuid-v4/invite", "{}"),
        WireRequest(DeuceDiary.JoinGroup(invite: "uuid-v4"), is: "POST /api/join/uuid-v4", "{}"),
        WireRequest(DeuceDiary.OpenInvite(invite: "uuid-v4"), is: "GET /join/uuid-v4"),
        WireRequest(DeuceDiary.PreviewInvite(invite: "uuid-v4"), is: "GET /api/groups/preview/uuid-v4"),
        WireRequest(DeuceDiary.ListInvites(group: "uuid-v4"), is: "GET /api/groups/uuid-v4/invites"),
        WireRequest(DeuceDiary.RevokeInvite(invite: "uuid-v4"), is: "DELETE /api/invites/uuid-v4"),
        WireRequest(
            DeuceDiary.LogDeuce(
                groups: ["uuid-group-1", "uuid-group-2"], location: "Home", thoughts: "A throne worthy of a king",
                loggedAt: time("2025-06-10T08:00:00.000Z")),
            is: "POST /api/deuces",
            """
            {
              "groupIds": ["uuid-group-1", "uuid-group-2"],
              "location": "Home",
              "thoughts": "A throne worthy of a king",
              "loggedAt": "2025-06-10T08:00:00.000Z"
            }
            """),
        WireRequest(DeuceDiary.ListDeuces(), is: "GET /api/deuces"),
        WireRequest(DeuceDiary.DeleteDeuce(entry: "uuid-v4"), is: "DELETE /api/deuces/uuid-v4"),
        WireRequest(
            DeuceDiary.AddReaction(entry: "uuid-v4", emoji: "💩"), is: "POST /api/entries/uuid-v4/reactions",
            #"{ "emoji": "💩" }"#),
        WireRequest(
            DeuceDiary.RemoveReaction(entry: "uuid-v4", emoji: "💩"), is: "DELETE /api/entries/uuid-v4/reactions",
            #"{ "emoji": "💩" }"#),
        WireRequest(DeuceDiary.ListReactions(entry: "uuid-v4"), is: "GET /api/entries/uuid-v4/reactions"),
        WireRequest(DeuceDiary.ListLocations(), is: "GET /api/locations"),
        WireRequest(
            DeuceDiary.CreateLocation(name: "Grandma's House"), is: "POST /api/locations",
            #"{ "name": "Grandma's House" }"#),
        WireRequest(DeuceDiary.GetMostDeuces(), is: "GET /api/analytics/most-deuces"),
    ]

    /// What the decisions add, and fields that may be absent.
    static let additions: [WireRequest] = [
        WireRequest(DeuceDiary.CreateGroup(name: "Throne Room"), is: "POST /api/groups", #"{ "name": "Throne Room" }"#),
        WireRequest(
            DeuceDiary.LogDeuce(groups: ["g"], location: "Home", thoughts: ""), is: "POST /api/deuces",
            #"{ "groupIds": ["g"], "location": "Home", "thoughts": "" }"#),
        WireRequest(DeuceDiary.ListGroups(limit: 20, before: "g"), is: "GET /api/groups?limit=20&before=g"),
        WireRequest(
            DeuceDiary.GetGroup(group: "g", limit: 2, before: "e4"), is: "GET /api/groups/g?limit=2&before=e4"),
        WireRequest(
            DeuceDiary.ListReactions(entry: "e", limit: 2, after: 7), is: "GET /api/entries/e/reactions?limit=2&after=7"
        ),
        WireRequest(
            DeuceDiary.ListDeuces(group: "g", limit: 2, before: "e4"), is: "GET /api/deuces?groupId=g&limit=2&before=e4"
        ),
        WireRequest(
            DeuceDiary.ListInvites(group: "g", limit: 2, before: "i"), is: "GET /api/groups/g/invites?limit=2&before=i"),
        WireRequest(DeuceDiary.ListLocations(limit: 2, page: 3), is: "GET /api/locations?limit=2&page=3"),
    ]

    @Test(arguments: literals + additions)
    func travelsSo(_ request: WireRequest) throws { try request.encodes() }

    @Test(arguments: literals + additions)
    func isReadSo(_ request: WireRequest) throws { try request.decodes() }

    @Test func everyOperationHasALiteral() {
        let lines = Self.literals.map { $0.line }
        #expect(lines.count == DeuceDiary.endpoints.count)
        for (line, endpoint) in zip(lines, DeuceDiary.endpoints) {
            #expect(line.hasPrefix(endpoint.route.method.rawValue + " "), "\(line) is not \(endpoint.signature)")
        }
    }

    // MARK: As others write it

    private func log(_ json: String) throws -> DeuceDiary.LogDeuce {
        try RequestCoding.decode(DeuceDiary.LogDeuce.self, from: .init(body: Array(json.utf8)))
    }

    /// "`groupId` (singular) is also accepted for backward compatibility."
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
    func aTimeIsReadAsAnybodyWritesIt(_ text: String, _ expected: String) throws {
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
