import ContractCheck
import DeuceDiaryClient
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// The samples work on a real server. Those of Testing.md are tests themselves.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiarySampleRuns {
    private static let stack = Stack(.sqlite, .live)

    @Test func overview() async throws {
        try await withDeuceDiary(on: Self.stack) { host in
            let session = SignInSession(current: try host.issuer.issue("user_john", firstName: "John"))
            let (diary, me, group) = try await OverviewSamples.begin(host.baseURL, session: session)
            #expect(me.id == "user_john")
            let feed = try await diary.send(DeuceDiary.GetGroup(group: group.id)).entries
            #expect(feed.map(\.thoughts) == ["A throne worthy of a king"])
            // Jane follows the group, with a transport that supports sockets on Linux, too.
            let (jane, john) = (try await host.world().person(), diary)
            _ = try await jane.client.join(try await john.send(DeuceDiary.CreateInvite(group: group.id)).id)
            let missed = try await john.log(.init(groups: [group.id], location: "Home", thoughts: "Again"))
            let shown = NIOLockedValueBox<[DeuceDiary.DeuceEntry.ID]>([])
            try await Task {
                try await OverviewSamples.follow(jane.client, group: group, feed: feed) { notice in
                    shown.withLockedValue { $0.append(notice.entry.id) }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }.value
            #expect(shown.withLockedValue { $0 } == missed.entries.map(\.id))
        }
    }

    @Test func logging() async throws {
        // The outbox dates entries by the clock of this machine, and a server takes none from its future.
        let clock = TestClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 600_000)
        try await withDeuceDiary(on: Self.stack, clock: clock) { host in
            let john = try await host.world().person()
            let groups = [try await john.group(), try await john.group()]
            var logged: [DeuceDiary.DeuceEntry] = []
            try await LoggingSamples.log(john.client, groups: groups) { logged = $0 }
            #expect(logged.map(\.groupId) == groups)
            #expect(logged.first?.location == "Airport")
            let entry = try #require(logged.first?.id)
            #expect(try await LoggingSamples.react(john.client, entry: entry).map(\.emoji) == ["💩"])
            #expect(try await LoggingSamples.react(john.client, entry: entry).isEmpty)
            try await LoggingSamples.record(john.client)
            try await john.send(DeuceDiary.AddReaction(entry: entry, emoji: "💩"))
            var shown: [String] = []
            try await LoggingSamples.feed(john.client) { shown.append("\($0) \($1) \($2)") }
            let text = "John Doe A throne worthy of a king"
            #expect(Set(shown) == [#"\#(text) ["💩"]"#, "\(text) []"])
            try await LoggingSamples.delete(john.client, entry: entry)
            #expect(try await john.send(DeuceDiary.ListDeuces()).count == 1)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let outbox = try await LoggingSamples.keep(john.client, me: john.id, groups: groups, in: folder) { _ in }
            try await outbox.becomeEmpty()
            #expect(try await john.send(DeuceDiary.ListDeuces()).map(\.thoughts).contains("In a tunnel"))
            try await LoggingSamples.keepToOneself(john.client, groups: groups)
            #expect(try await john.client.locations(refresh: true).allSatisfy(\.isDefault))
        }
    }

    @Test func groups() async throws {
        try await withDeuceDiary(on: Self.stack) { host in
            let (john, jane) = try await host.world().pair()
            var hints: [String] = []
            for name in ["ab", "johndoe"] { try await GroupsSamples.rename(john.client, to: name) { hints.append($0) } }
            #expect(hints == ["String must contain at least 3 character(s)", "You are johndoe."])
            let photo = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(SampleImage.jpeg(width: 16, height: 16)).write(to: photo)
            defer { try? FileManager.default.removeItem(at: photo) }
            let url = try await GroupsSamples.picture(john.client, photo: photo)
            #expect(url?.absoluteString.hasPrefix(host.baseURL.absoluteString + "/uploads/") == true)

            let group = try await john.group()
            for index in 0..<60 { try await john.log("\(index)", in: group) }
            var shown: [String] = []
            try await GroupsSamples.detail(john.client, group: group) { shown.append($0.thoughts) }
            #expect(shown == (0..<60).reversed().map(String.init))

            var link = ""
            try await GroupsSamples.invite(john.client, group: group) { link = $0 }
            let opened = NIOLockedValueBox<[String]>([])
            let opener = LinkOpener(
                diary: jane.client,
                welcome: { group in opened.withLockedValue { $0.append("welcome to \(group.name)") } },
                show: { group in opened.withLockedValue { $0.append(group.name) } })
            let invite = try #require(URL(string: link))
            for _ in 0..<2 { try await opener.open(invite) }
            #expect(opened.withLockedValue { $0 } == ["welcome to Throne Room", "Throne Room"])
            var asked = ""
            let id = try #require(DeuceDiary.Invite.id(in: invite))
            try await GroupsSamples.preview(jane.client, invite: id) { asked = $0 }
            #expect(asked == "Join 2 people in Throne Room?")

            try await jane.client.revoke(try await jane.send(DeuceDiary.CreateInvite(group: group)).id)
            try await GroupsSamples.revoke(john.client, group: group, me: john.id)
            #expect(try await john.send(DeuceDiary.ListInvites(group: group)).isEmpty)
            try await jane.log("rude", in: group)
            let rude = try #require(try await john.send(DeuceDiary.GetGroup(group: group, limit: 1)).entries.first)
            #expect(try await GroupsSamples.block(john.client, entry: rude).map(\.id) == [jane.id])
            try await GroupsSamples.leave(john.client, group: group, member: jane.id)
            #expect(try await john.send(DeuceDiary.ListGroups()).map(\.name) == ["Solo Deuces"])
            try await withTemporaryFolder { folder in
                let place = URL(fileURLWithPath: folder + "/archive.zip")
                try await GroupsSamples.delete(john.client, to: place) { #expect($0 == place) }
            }
            try await john.get("/api/auth/user").refused(401, "Unauthorized")
        }
    }

    @Test func live() async throws {
        try await withDeuceDiary(on: Self.stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            try await john.log("before", in: group)
            let model = await GroupModel(jane.client, group: group)
            let running = Task { try await model.run() }
            while await model.feed.isEmpty { await Task.yield() }
            try await john.log("after", in: group)
            while await model.banner == nil { await Task.yield() }
            running.cancel()
            try? await running.value
            #expect(await model.feed.map(\.thoughts) == ["after", "before"])
            #expect(await model.banner == "John Doe logged a new deuce")
        }
    }
}
