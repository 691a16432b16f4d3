import Contract
import ContractServer
import DeuceDiaryAPI
import Foundation
import NIOCore
import Testbed
import Testing

/// The answers equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryAnswerWireTests {
    private static let made = time("2025-06-01T12:00:00.000Z")

    static let user = DeuceDiary.User(
        id: "user_abc123", email: "john@example.com", firstName: "John", lastName: "Doe", username: "johndoe",
        profileImageUrl: "/uploads/user_abc123-1700000000.jpg", deuceCount: 42,
        createdAt: time("2025-01-15T10:00:00.000Z"), updatedAt: made)

    private static let jane = DeuceDiary.User(
        id: "user_def456", email: nil, firstName: "Jane", lastName: "Roe", username: "janeroe", profileImageUrl: nil,
        deuceCount: 7, createdAt: time("2025-02-01T10:00:00.000Z"), updatedAt: made)

    private static let group = DeuceDiary.Group(
        id: "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071", name: "Throne Room", description: "Optional group description",
        createdBy: "user_abc123", createdAt: made, updatedAt: made)

    static let entry = DeuceDiary.DeuceEntry(
        id: "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d", userId: "user_abc123", groupId: group.id, location: "Home",
        thoughts: "A throne worthy of a king", loggedAt: time("2025-06-10T08:00:00.000Z"),
        createdAt: time("2025-06-10T08:01:00.000Z"))

    private static let reaction = DeuceDiary.Reaction(
        id: 1, entryId: entry.id, userId: "user_abc123", emoji: "💩", createdAt: time("2025-06-10T09:00:00.000Z"))

    private static let office = DeuceDiary.Location(
        id: 5, name: "The Office", isDefault: false, createdBy: "user_abc123", createdAt: made)

    private static let invite = DeuceDiary.GroupInvite.ID("0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e")
    private static let link = "https://deucediary.com/join/0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e"
    private static let expiry = time("2025-06-17T08:00:00.000Z")

    /// The values of the answers in the examples.
    static let answers: [ExampleAnswer] = [
        .init(of: DeuceDiary.GetUser.self, user),
        .init(of: DeuceDiary.UpdateUser.self, user),
        .init(of: DeuceDiary.UploadProfilePicture.self, user),
        .init(of: DeuceDiary.DeleteUser.self, .init(message: "Account deleted")),
        .init(
            of: DeuceDiary.ExportUser.self,
            .init(
                exportedAt: time("2025-06-10T12:00:00.000Z"), user: user,
                groups: [.init(id: .init(group.id.rawValue), name: "Throne Room", role: .admin, joinedAt: made)],
                entries: [entry], reactions: [reaction], locations: [office])),
        .init(
            of: DeuceDiary.RequestArchive.self,
            .init(
                state: .ready, requestedAt: time("2025-06-10T12:00:00.000Z"), size: 1_048_576,
                url: "https://example.com/objects/archive.zip", expiresAt: time("2025-06-12T12:00:00.000Z"))),
        .init(
            of: DeuceDiary.GetArchive.self,
            .init(
                state: .ready, requestedAt: time("2025-06-10T12:00:00.000Z"), size: 1_048_576,
                url: "https://example.com/objects/archive.zip", expiresAt: time("2025-06-12T12:00:00.000Z"))),
        .init(of: GetAbout<DeuceDiary>.self, .example),
        .init(of: DeuceDiary.CreateGroup.self, group),
        .init(
            of: DeuceDiary.ListGroups.self,
            [.init(group, memberCount: 2, entryCount: 14, lastActivity: time("2025-06-10T08:00:00.000Z"))]),
        .init(
            of: DeuceDiary.GetGroup.self,
            .init(
                group: group,
                members: [
                    .init(
                        id: 1, groupId: group.id, userId: "user_abc123", role: .admin, joinedAt: made, user: user,
                        personalRecord: .init(date: Day("2025-05-20")!, count: 5))
                ],
                entries: [.init(entry, by: user)])),
        .init(of: DeuceDiary.LeaveGroup.self, .init(message: "Left group")),
        .init(of: DeuceDiary.RemoveMember.self, .init(message: "Member removed")),
        .init(of: DeuceDiary.CreateInvite.self, .init(inviteLink: link, id: invite)),
        .init(of: DeuceDiary.JoinGroup.self, .init(group: group, message: "Already a member of this group")),
        .init(
            of: DeuceDiary.PreviewInvite.self,
            .init(name: "Throne Room", memberCount: 2, deuceCount: 1, expiresAt: expiry)),
        .init(
            of: DeuceDiary.ListInvites.self,
            [
                .init(
                    id: invite, groupId: group.id, inviteLink: link, createdBy: "user_abc123", expiresAt: expiry,
                    createdAt: time("2025-06-10T08:00:00.000Z"))
            ]),
        .init(of: DeuceDiary.RevokeInvite.self, .init(message: "Invite revoked")),
        .init(of: DeuceDiary.LogDeuce.self, .init(entries: [entry])),
        .init(of: DeuceDiary.ListDeuces.self, [.init(.init(entry, by: user), reactions: [reaction])]),
        .init(of: DeuceDiary.DeleteDeuce.self, .init(message: "Entry deleted")),
        .init(of: DeuceDiary.AddReaction.self, reaction),
        .init(of: DeuceDiary.RemoveReaction.self, .init(message: "Reaction removed")),
        .init(of: DeuceDiary.ListReactions.self, [.init(reaction, by: user)]),
        .init(of: DeuceDiary.ReportUser.self, .init(message: "User reported")),
        .init(of: DeuceDiary.ReportEntry.self, .init(message: "Entry reported")),
        .init(of: DeuceDiary.BlockUser.self, .init(message: "User blocked")),
        .init(of: DeuceDiary.UnblockUser.self, .init(message: "User unblocked")),
        .init(of: DeuceDiary.ListBlocks.self, [jane]),
        .init(
            of: DeuceDiary.ListLocations.self,
            [
                .init(
                    id: 1, name: "Home", isDefault: true, createdBy: nil, createdAt: time("2025-01-01T00:00:00.000Z")),
                office,
            ]),
        .init(
            of: DeuceDiary.CreateLocation.self,
            .init(
                id: 6, name: "Grandma's House", isDefault: false, createdBy: "user_abc123",
                createdAt: time("2025-06-10T12:00:00.000Z"))),
        .init(of: DeuceDiary.GetMostDeuces.self, .init(topDay: .init(date: Day("2025-05-20")!, count: 5))),
    ]

    @Test(arguments: answers)
    func anAnswerIsAnExample(_ answer: ExampleAnswer) throws { try DeuceDiaryLawTests.laws.check(answer) }

    @Test func everyExampleHasItsValue() { DeuceDiaryLawTests.laws.checkExamplesAreUsed(Self.answers) }

    @Test func everyVariantOfAnAnswerIsReadAndWritten() throws { try DeuceDiaryLawTests.laws.checkAnswers() }

    /// Every error has the form `{ "message": "<human-readable string>" }`.
    @Test func aFailureIsAMessage() throws {
        let failure = DeuceDiary.Failure(Problem(.badRequest, "Invalid \"limit\""), requestID: "r")
        #expect(String(buffer: try JSONBody.encode(failure)) == #"{"message":"Invalid \"limit\""}"#)
        #expect(try read(DeuceDiary.Failure.self, #"{"message":"no","more":1}"#).message == "no")
    }

    // MARK: Input of other programs

    /// A server of the published document alone may leave out null members, and add unknown ones.
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
            {"id":1,"groupId":"g","userId":"u","role":"owner","joinedAt":"2025-06-01T12:00:00Z",
             "user":{"id":"u","deuceCount":1,"createdAt":"2025-01-15T10:00:00Z","updatedAt":"2025-01-15T10:00:00Z"}}
            """)
        #expect(member.role.rawValue == "owner")
        #expect(member.personalRecord == nil)
    }

    @Test(arguments: [#"{"date":"","count":0}"#, #"{"date":"2025-05-20","count":0}"#, #"{"count":0}"#])
    func withoutLogsThereIsNoTopDay(_ json: String) throws {
        #expect(try read(DeuceDiary.MostDeuces.self, json).topDay == nil)
    }
}
