import Contract
import ContractClient
import DeuceDiaryClient
import DeuceDiaryMocks
import Foundation
import HTTPTypes
import Testbed
import Testing

/// The mock behaves as an app's tests and previews expect.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryMockTests {
    private let mock = DeuceDiaryMock()
    private let group = DeuceDiary.Group.example.id

    private func expectRefusal(
        _ status: HTTPResponse.Status, _ message: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: APIError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.status == status, sourceLocation: sourceLocation)
        #expect(error?.message == message, sourceLocation: sourceLocation)
    }

    @Test func aPreviewIsSignedInAsJohn() async throws {
        let diary = DeuceDiaryClient.mock()
        #expect(try await diary.send(DeuceDiary.GetUser()) == .example)
        #expect(try await diary.topDay() == .example)
        #expect(try await diary.locations().map(\.name) == ["Home", "The Office"])
    }

    @Test func aLogAppearsInTheGroupAtOnce() async throws {
        let diary = mock.client()
        let logged = try await diary.log(.init(groups: [group], location: "Home", thoughts: "Again"))
        let janes = mock.push("Hers")
        let detail = try await diary.send(DeuceDiary.GetGroup(group: group))
        #expect(detail.entries.map(\.id) == [janes.id, logged.entries[0].id, DeuceDiary.DeuceEntry.example.id])
        #expect(detail.members.map(\.user) == [.otherExample, .example])
        var paged: [DeuceDiary.DeuceEntry.ID] = []
        for try await entry in diary.entries(of: group, pageSize: 2) { paged.append(entry.id) }
        #expect(paged == detail.entries.map(\.id))
        let summary = try await diary.send(DeuceDiary.ListGroups())
        #expect(summary.map(\.entryCount) == [3])
        #expect(summary.first?.lastActivity == janes.createdAt)
    }

    @Test func deletedFilesAreGone() async throws {
        let diary = mock.client()
        let logged = try await diary.log(.init(groups: [group], location: "Home", thoughts: "Again")).entries[0]
        let janes = mock.push("Hers")
        await expectRefusal(.forbidden, "Not authorized to delete this entry") { try await diary.delete(janes.id) }
        try await diary.delete(DeuceDiary.DeuceEntry.example.id)
        await expectRefusal(.notFound, "Entry not found") {
            try await diary.delete(DeuceDiary.DeuceEntry.example.id)
        }
        var feed: [DeuceDiary.DeuceEntry.ID] = []
        for try await item in diary.feed(pageSize: 1) { feed.append(item.id) }
        #expect(feed == [janes.id, logged.id])
        let next = mock.push("Next")
        #expect(![janes.id, logged.id].contains(next.id))
        #expect(try await diary.send(DeuceDiary.ListGroups()).map(\.entryCount) == [3])
    }

    @Test func unknownIdsAreRefusedAsTheContractSays() async throws {
        let diary = mock.client()
        await expectRefusal(.notFound, "Group not found") { try await diary.send(DeuceDiary.GetGroup(group: "x")) }
        await expectRefusal(.forbidden, "Not authorized") { try await diary.send(DeuceDiary.CreateInvite(group: "x")) }
        await expectRefusal(.badRequest, "Invalid or expired invite") { _ = try await diary.join("x") }
        await expectRefusal(.forbidden, "Not authorized for group x") {
            try await diary.log(.init(groups: [group, "x"], location: "Home", thoughts: ""))
        }
        await expectRefusal(.notFound, "Entry not found") {
            try await diary.send(DeuceDiary.AddReaction(entry: "x", emoji: "💩"))
        }
        await expectRefusal(.notFound, "Entry not found") {
            try await diary.send(DeuceDiary.ListReactions(entry: "x"))
        }
        await expectRefusal(.notFound, "Group not found") { try await diary.leave("x") }
        await expectRefusal(.badRequest, "Use leave to remove yourself") {
            try await diary.send(DeuceDiary.RemoveMember(group: group, user: DeuceDiary.User.example.id))
        }
        await expectRefusal(.notFound, "Member not found") {
            try await diary.send(DeuceDiary.RemoveMember(group: group, user: "x"))
        }
        await expectRefusal(.notFound, "Invite not found or expired") {
            try await diary.send(DeuceDiary.PreviewInvite(invite: "x"))
        }
        await expectRefusal(.forbidden, "Not authorized") { try await diary.send(DeuceDiary.ListInvites(group: "x")) }
        await expectRefusal(.notFound, "Invite not found") { try await diary.revoke("x") }
        await expectRefusal(.badRequest, "Invalid cursor") {
            try await diary.send(DeuceDiary.ListDeuces(before: "x"))
        }
        await expectRefusal(.badRequest, "Location already exists") {
            try await diary.send(DeuceDiary.CreateLocation(name: "home"))
        }
        await expectRefusal(.badRequest, "Only image files are allowed") {
            _ = try await diary.uploadProfilePicture(
                Upload(.bytes([1]), filename: "a.txt", contentType: "text/plain"))
        }
    }

    @Test func joiningReportsTheStateOfTheInvite() async throws {
        let diary = mock.client()
        let invite = DeuceDiary.CreatedInvite.example.id
        #expect(try await diary.join(invite) == .joined(.example))
        mock.on(DeuceDiary.JoinGroup.self) { _ in
            .init(group: .example, message: "Already a member of this group")
        }
        #expect(try await diary.join(invite) == .alreadyMember(.example))
    }

    @Test func aRefusedTokenIsRenewedOnce() async throws {
        mock.refuse(token: "old")
        let tokens = Tokens(["old", "new"])
        let diary = mock.client(token: { await tokens.next() })
        #expect(try await diary.send(DeuceDiary.GetUser()) == .example)
        #expect(await tokens.asked == 2)
        let stale = Tokens(["old"])
        await expectRefusal(.unauthorized, "Invalid token") {
            try await mock.client(token: { await stale.next() }).send(DeuceDiary.GetUser())
        }
        #expect(await stale.asked == 2)
    }

    // MARK: Live

    @Test func othersLogsArriveAndMissedOnesFollow() async throws {
        let live = mock.client().live(group: group, pacing: .init(base: .zero))
        var heard: [String] = []
        for try await event in live {
            switch event {
            case .connected where heard.isEmpty:
                mock.push("mine", from: .example)
                mock.push("One")
            case .logged(let notice):
                heard.append(notice.entry.thoughts)
                #expect(notice.message == "janeroe logged a new deuce")
                if heard.count == 1 {
                    mock.offline()
                    mock.push("Two")
                }
            case .disconnected:
                mock.push("Three")
                mock.online()
            case .connected, .refused: break
            }
            if heard.count == 3 { break }
        }
        #expect(heard == ["One", "Two", "Three"])
    }

    @Test func aGroupThatRefusesTheUserIsReported() async throws {
        for try await event in mock.client().live(group: "x", pacing: .init(base: .zero)) {
            guard case .refused("x") = event else { return #expect(Bool(false), "\(event)") }
            break
        }
    }

    @Test func framesOfOtherTypesAreIgnored() async throws {
        let live = mock.client().live(group: group, pacing: .init(base: .zero))
        for try await event in live {
            if case .connected = event {
                mock.broadcast(UnknownFrame(type: "reaction_added"))
                mock.push("after it")
            }
            if case .logged(let notice) = event {
                #expect(notice.entry.thoughts == "after it")
                break
            }
            if case .disconnected = event { return #expect(Bool(false), "lost") }
        }
    }
}
