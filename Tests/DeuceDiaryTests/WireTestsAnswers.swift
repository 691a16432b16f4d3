import Contract
import ContractServer
import DeuceDiaryAPI
import Foundation
import NIOCore
import Testbed
import Testing

/// Every answer of the contract, from its code blocks. Where a block has "…", the types of its §9 are filled in.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryAnswerWireTests {
    private static let userJSON = """
        {
          "id": "user_abc123",
          "email": "john@example.com",
          "firstName": "John",
          "lastName": "Doe",
          "username": "johndoe",
          "profileImageUrl": "/uploads/user_abc123-1700000000.jpg",
          "deuceCount": 42,
          "createdAt": "2025-01-15T10:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """

    private static let user = DeuceDiary.User(
        id: "user_abc123", email: "john@example.com", firstName: "John", lastName: "Doe", username: "johndoe",
        profileImageUrl: "/uploads/user_abc123-1700000000.jpg", deuceCount: 42,
        createdAt: time("2025-01-15T10:00:00.000Z"), updatedAt: time("2025-06-01T12:00:00.000Z"))

    private static let group = DeuceDiary.Group(
        id: "uuid-v4", name: "Throne Room", description: "Optional group description", createdBy: "user_abc123",
        createdAt: time("2025-06-01T12:00:00.000Z"), updatedAt: time("2025-06-01T12:00:00.000Z"))

    private static let groupJSON = """
        {
          "id": "uuid-v4",
          "name": "Throne Room",
          "description": "Optional group description",
          "createdBy": "user_abc123",
          "createdAt": "2025-06-01T12:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """

    private static let entryMembers = """
          "id": "uuid-v4",
          "userId": "user_abc123",
          "groupId": "uuid-group-1",
          "location": "Home",
          "thoughts": "A throne worthy of a king",
          "loggedAt": "2025-06-10T08:00:00.000Z",
          "createdAt": "2025-06-10T08:01:00.000Z"
        """

    private static let entry = DeuceDiary.DeuceEntry(
        id: "uuid-v4", userId: "user_abc123", groupId: "uuid-group-1", location: "Home",
        thoughts: "A throne worthy of a king", loggedAt: time("2025-06-10T08:00:00.000Z"),
        createdAt: time("2025-06-10T08:01:00.000Z"))

    private static let reaction = DeuceDiary.Reaction(
        id: 1, entryId: "uuid-v4", userId: "user_abc123", emoji: "💩", createdAt: time("2025-06-10T09:00:00.000Z"))

    private static let reactionMembers = """
        "id": 1, "entryId": "uuid-v4", "userId": "user_abc123", "emoji": "💩", "createdAt": "2025-06-10T09:00:00.000Z"
        """

    static let literals: [WireAnswer] = [
        WireAnswer(of: DeuceDiary.GetUser.self, 200, userJSON, is: user),
        WireAnswer(of: DeuceDiary.UpdateUser.self, 200, userJSON, is: user),
        WireAnswer(of: DeuceDiary.UploadProfilePicture.self, 200, userJSON, is: user),
        WireAnswer(
            of: DeuceDiary.DeleteUser.self, 200, #"{ "message": "Account deleted" }"#,
            is: .init(message: "Account deleted")),
        WireAnswer(
            of: DeuceDiary.ExportUser.self, 200,
            """
            {
              "exportedAt": "2025-06-10T12:00:00.000Z",
              "user": \(userJSON),
              "groups": [
                { "id": "uuid-v4", "name": "Throne Room", "role": "admin", "joinedAt": "2025-06-01T12:00:00.000Z" }
              ],
              "entries": [{ \(entryMembers) }],
              "reactions": [{ \(reactionMembers) }],
              "locations": [
                {
                  "id": 6,
                  "name": "Grandma's House",
                  "isDefault": false,
                  "createdBy": "user_abc123",
                  "createdAt": "2025-06-10T12:00:00.000Z"
                }
              ]
            }
            """,
            is: .init(
                exportedAt: time("2025-06-10T12:00:00.000Z"), user: user,
                groups: [.init(id: "uuid-v4", name: "Throne Room", role: .admin, joinedAt: group.createdAt)],
                entries: [entry], reactions: [reaction],
                locations: [
                    .init(
                        id: 6, name: "Grandma's House", isDefault: false, createdBy: "user_abc123",
                        createdAt: time("2025-06-10T12:00:00.000Z"))
                ])),
        WireAnswer(of: DeuceDiary.CreateGroup.self, 200, groupJSON, is: group),
        WireAnswer(
            of: DeuceDiary.ListGroups.self, 200,
            """
            [
              {
                "id": "uuid-v4",
                "name": "Solo Deuces",
                "description": "Your personal throne log",
                "createdBy": "user_abc123",
                "createdAt": "2025-06-01T12:00:00.000Z",
                "updatedAt": "2025-06-01T12:00:00.000Z",
                "memberCount": 1,
                "entryCount": 14,
                "lastActivity": "2025-06-10T08:00:00.000Z"
              }
            ]
            """,
            is: [
                .init(
                    .init(
                        id: "uuid-v4", name: "Solo Deuces", description: "Your personal throne log",
                        createdBy: "user_abc123", createdAt: group.createdAt, updatedAt: group.updatedAt),
                    memberCount: 1, entryCount: 14, lastActivity: time("2025-06-10T08:00:00.000Z"))
            ]),
        WireAnswer(
            of: DeuceDiary.GetGroup.self, 200,
            """
            {
              "group": \(groupJSON),
              "members": [
                {
                  "id": 1,
                  "groupId": "uuid-v4",
                  "userId": "user_abc123",
                  "role": "admin",
                  "joinedAt": "2025-06-01T12:00:00.000Z",
                  "user": \(userJSON),
                  "personalRecord": {
                    "date": "2025-05-20",
                    "count": 5
                  }
                }
              ],
              "entries": [
                {
                  \(entryMembers),
                  "user": \(userJSON)
                }
              ]
            }
            """,
            is: .init(
                group: group,
                members: [
                    .init(
                        id: 1, groupId: "uuid-v4", userId: "user_abc123", role: .admin, joinedAt: group.createdAt,
                        user: user, personalRecord: .init(date: Day("2025-05-20")!, count: 5))
                ],
                entries: [.init(entry, by: user)])),
        WireAnswer(
            of: DeuceDiary.LeaveGroup.self, 200, #"{ "message": "Left group" }"#, is: .init(message: "Left group")),
        WireAnswer(
            of: DeuceDiary.RemoveMember.self, 200, #"{ "message": "Member removed" }"#,
            is: .init(message: "Member removed")),
        WireAnswer(
            of: DeuceDiary.PreviewInvite.self, 200,
            """
            { "name": "Throne Room", "memberCount": 2, "deuceCount": 14, "expiresAt": "2025-06-17T08:00:00.000Z" }
            """,
            is: .init(
                name: "Throne Room", memberCount: 2, deuceCount: 14, expiresAt: time("2025-06-17T08:00:00.000Z"))),
        WireAnswer(
            of: DeuceDiary.ListInvites.self, 200,
            """
            [{
              "id": "uuid-v4",
              "inviteLink": "https://deucediary.com/join/uuid-v4",
              "createdBy": "user_abc123",
              "expiresAt": "2025-06-17T08:00:00.000Z",
              "createdAt": "2025-06-10T08:00:00.000Z"
            }]
            """,
            is: [
                .init(
                    id: "uuid-v4", inviteLink: "https://deucediary.com/join/uuid-v4", createdBy: "user_abc123",
                    expiresAt: time("2025-06-17T08:00:00.000Z"), createdAt: time("2025-06-10T08:00:00.000Z"))
            ]),
        WireAnswer(
            of: DeuceDiary.RevokeInvite.self, 200, #"{ "message": "Invite revoked" }"#,
            is: .init(message: "Invite revoked")),
        WireAnswer(
            of: DeuceDiary.CreateInvite.self, 200,
            #"{ "inviteLink": "https://deucediary.com/join/uuid-v4", "id": "uuid-v4" }"#,
            is: .init(inviteLink: "https://deucediary.com/join/uuid-v4", id: "uuid-v4")),
        WireAnswer(of: DeuceDiary.JoinGroup.self, 200, #"{ "group": \#(groupJSON) }"#, is: .init(group: group)),
        WireAnswer(
            of: DeuceDiary.JoinGroup.self, 200,
            #"{ "group": \#(groupJSON), "message": "Already a member of this group" }"#,
            is: .init(group: group, message: "Already a member of this group")),
        WireAnswer(
            of: DeuceDiary.LogDeuce.self, 200, #"{ "entries": [{ \#(entryMembers) }], "count": 1 }"#,
            is: .init(entries: [entry])),
        WireAnswer(
            of: DeuceDiary.ListDeuces.self, 200,
            """
            [{ \(entryMembers), "user": \(userJSON), "reactions": [{ \(reactionMembers) }] }]
            """,
            is: [.init(.init(entry, by: user), reactions: [reaction])]),
        WireAnswer(
            of: DeuceDiary.DeleteDeuce.self, 200, #"{ "message": "Entry deleted" }"#,
            is: .init(message: "Entry deleted")),
        WireAnswer(of: DeuceDiary.AddReaction.self, 200, "{\(reactionMembers)}", is: reaction),
        WireAnswer(
            of: DeuceDiary.RemoveReaction.self, 200, #"{ "message": "Reaction removed" }"#,
            is: .init(message: "Reaction removed")),
        WireAnswer(
            of: DeuceDiary.ListReactions.self, 200, #"[{\#(reactionMembers), "user": \#(userJSON)}]"#,
            is: [.init(reaction, by: user)]),
        WireAnswer(
            of: DeuceDiary.ListLocations.self, 200,
            """
            [
              {
                "id": 1,
                "name": "Home",
                "isDefault": true,
                "createdBy": null,
                "createdAt": "2025-01-01T00:00:00.000Z"
              },
              {
                "id": 5,
                "name": "The Office",
                "isDefault": false,
                "createdBy": "user_abc123",
                "createdAt": "2025-06-01T12:00:00.000Z"
              }
            ]
            """,
            is: [
                .init(
                    id: 1, name: "Home", isDefault: true, createdBy: nil, createdAt: time("2025-01-01T00:00:00.000Z")),
                .init(
                    id: 5, name: "The Office", isDefault: false, createdBy: "user_abc123",
                    createdAt: time("2025-06-01T12:00:00.000Z")),
            ]),
        WireAnswer(
            of: DeuceDiary.CreateLocation.self, 200,
            """
            {
              "id": 6,
              "name": "Grandma's House",
              "isDefault": false,
              "createdBy": "user_abc123",
              "createdAt": "2025-06-10T12:00:00.000Z"
            }
            """,
            is: .init(
                id: 6, name: "Grandma's House", isDefault: false, createdBy: "user_abc123",
                createdAt: time("2025-06-10T12:00:00.000Z"))),
        WireAnswer(
            of: DeuceDiary.GetMostDeuces.self, 200, #"{ "date": "2025-05-20", "count": 5 }"#,
            is: .init(topDay: .init(date: Day("2025-05-20")!, count: 5))),
        WireAnswer(
            of: DeuceDiary.GetMostDeuces.self, 200, #"{ "date": "", "count": 0 }"#, is: .init(topDay: nil)),
    ]

    /// What may be null is written so.
    static let variants: [WireAnswer] = [
        WireAnswer(
            of: DeuceDiary.GetUser.self, 200,
            """
            {"id": "u", "email": null, "firstName": null, "lastName": null, "username": null, "profileImageUrl": null,
             "deuceCount": 0, "createdAt": "2025-01-15T10:00:00.000Z", "updatedAt": "2025-01-15T10:00:00.000Z"}
            """,
            is: .init(
                id: "u", email: nil, firstName: nil, lastName: nil, username: nil, profileImageUrl: nil, deuceCount: 0,
                createdAt: time("2025-01-15T10:00:00.000Z"), updatedAt: time("2025-01-15T10:00:00.000Z"))),
        WireAnswer(
            of: DeuceDiary.ListGroups.self, 200,
            """
            [{"id": "g", "name": "N", "description": null, "createdBy": "u", "createdAt": "2025-06-01T12:00:00.000Z",
              "updatedAt": "2025-06-01T12:00:00.000Z", "memberCount": 1, "entryCount": 0, "lastActivity": null}]
            """,
            is: [
                .init(
                    .init(
                        id: "g", name: "N", description: nil, createdBy: "u", createdAt: group.createdAt,
                        updatedAt: group.updatedAt),
                    memberCount: 1, entryCount: 0, lastActivity: nil)
            ]),
        WireAnswer(
            of: DeuceDiary.GetGroup.self, 200,
            """
            {"group": \(groupJSON), "members": [{"id": 1, "groupId": "uuid-v4", "userId": "user_abc123",
             "role": "member", "joinedAt": "2025-06-01T12:00:00.000Z", "user": \(userJSON), "personalRecord": null}],
             "entries": []}
            """,
            is: .init(
                group: group,
                members: [
                    .init(
                        id: 1, groupId: "uuid-v4", userId: "user_abc123", role: .member, joinedAt: group.createdAt,
                        user: user, personalRecord: nil)
                ],
                entries: [])),
    ]

    @Test(arguments: literals + variants)
    func isRead(_ answer: WireAnswer) throws { try answer.decodes() }

    @Test(arguments: literals + variants)
    func isWritten(_ answer: WireAnswer) throws { try answer.encodes() }

    @Test func everyAnswerHasALiteral() {
        // A redirect has no body.
        let answering = DeuceDiary.endpoints.map { $0.signature }.filter { $0 != "GET /join/{inviteId}" }
        #expect(Set(Self.literals.map(\.signature)) == Set(answering))
    }

    /// Every error: `{ "message": "<human-readable string>" }`.
    @Test func aFailureIsAMessage() throws {
        let failure = DeuceDiary.Failure(Problem(.badRequest, "Invalid \"limit\""), requestID: "r")
        #expect(String(buffer: try JSONBody.encode(failure)) == #"{"message":"Invalid \"limit\""}"#)
        #expect(try read(DeuceDiary.Failure.self, #"{"message":"no","more":1}"#).message == "no")
    }

    // MARK: What comes from elsewhere

    /// A server of the published document alone may leave out what is null, and have more than is known here.
    @Test func answersAreReadLeniently() throws {
        let user = try read(
            DeuceDiary.User.self,
            #"{"id":"u","deuceCount":1,"createdAt":"2025-01-15T10:00:00Z","updatedAt":"2025-01-15T10:00:00.5Z","x":{}}"#
        )
        #expect([user.email, user.username, user.profileImageUrl] == [nil, nil, nil])
        #expect(user.updatedAt.milliseconds - user.createdAt.milliseconds == 500)
        let summary = try read(
            [DeuceDiary.GroupSummary].self,
            """
            [{"id":"g","name":"N","createdBy":"u","createdAt":"2025-06-01T12:00:00Z",
              "updatedAt":"2025-06-01T12:00:00Z","memberCount":1,"entryCount":0}]
            """)
        #expect(summary.first?.lastActivity == nil)
        let member = try read(
            DeuceDiary.GroupMember.self,
            """
            {"id":1,"groupId":"g","userId":"u","role":"owner","joinedAt":"2025-06-01T12:00:00Z","user":\(Self.userJSON)}
            """)
        #expect(member.role.rawValue == "owner")
        #expect(member.personalRecord == nil)
    }

    @Test(arguments: [#"{"date":"","count":0}"#, #"{"date":"2025-05-20","count":0}"#, #"{"count":0}"#])
    func noLogsAreNoDay(_ json: String) throws {
        #expect(try read(DeuceDiary.MostDeuces.self, json).topDay == nil)
    }
}
