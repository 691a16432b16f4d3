import ContractCheck
import DeuceDiaryClient
import Foundation
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// The SDK reads whole lists in pages.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryPagesTests {
    private func all<Pages: AsyncSequence>(_ pages: Pages) async throws -> [Pages.Element] {
        var all: [Pages.Element] = []
        for try await element in pages { all.append(element) }
        return all
    }

    @Test("Entries keep their authors, also those who have left", arguments: Stack.Engine.available)
    func authorsWhoHaveLeft(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            let (john, jane, joan) = try await host.world().trio()
            let group = try await john.group(with: jane, joan)
            for person in [john, jane, joan, jane] { try await person.log(in: group) }
            for person in [jane, joan] { try await person.client.leave(group) }
            let detail = try await john.send(DeuceDiary.GetGroup(group: group))
            #expect(detail.members.map(\.userId) == [john.id])
            #expect(detail.entries.map(\.user.id) == [jane, joan, jane, john].map(\.id))
            #expect(detail.entries.map(\.userId) == detail.entries.map(\.user.id))
            #expect(detail.entries.filter { $0.user.email != nil }.map(\.user.id) == [john.id])
        }
    }

    @Test(arguments: Stack.all)
    func everyListIsReadToItsEnd(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, clock: TestClock(step: 1)) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            var invites: [DeuceDiary.Invite.ID] = []
            for _ in 0..<5 { invites.append(try await john.send(DeuceDiary.CreateInvite(group: group)).id) }
            #expect(try await all(john.client.invites(to: group, pageSize: 2)).map(\.id) == invites.reversed())
            let logged = try await john.send(
                DeuceDiary.LogDeuce(groups: [group], location: "Home", thoughts: ""))
            let entry = try #require(logged.entries.first).id
            let emojis = ["1", "2", "3", "4", "5"]
            for emoji in emojis { try await john.send(DeuceDiary.AddReaction(entry: entry, emoji: emoji)) }
            #expect(try await all(john.client.reactions(to: entry, pageSize: 2)).map(\.emoji) == emojis)
            let places = try await john.client.locations()
            #expect(try await all(john.client.allLocations(pageSize: 3)) == places)
        }
    }

    @Test func invitesMayBeRevokedWhileTheyAreRead() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 1)) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            for _ in 0..<5 { try await john.send(DeuceDiary.CreateInvite(group: group)) }
            var seen = 0
            for try await invite in john.client.invites(to: group, pageSize: 2) {
                seen += 1
                // The first of each page stays: a cursor needs one that is there.
                if seen.isMultiple(of: 2) { try await john.client.revoke(invite.id) }
            }
            #expect(seen == 5)
        }
    }
}
