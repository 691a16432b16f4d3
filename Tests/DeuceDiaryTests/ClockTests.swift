import Backend
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes
import ObjectStore
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// Rules that depend on time hold. The requests stay in the process, because a network would add nothing to the test.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryClockTests {
    private let stack = Stack(.sqlite, .inProcess)

    @Test("An invite is valid for 7 days to the millisecond, however often it is used")
    func invites() async throws {
        try await withDeuceDiary(on: stack) { host in
            let world = host.world()
            let people = try await world.people(4)
            let group = try await people[0].group()
            let invite = try await people[0].send(DeuceDiary.CreateInvite(group: group)).id
            // Tokens expire earlier.
            func join(_ index: Int) async throws -> RawAnswer {
                let bearer = Bearer(subject: people[index].id.rawValue)
                return try await world.stranger(bearer).raw(.post, "/api/join/\(invite)")
            }
            host.clock.advance(by: .seconds(7 * 86_400))
            try await host.service.sweep()
            for index in 1...2 { try await join(index).succeeded() }
            host.clock.advance(by: .milliseconds(1))
            try await join(3).refused(400, "Invalid or expired invite")
            try await host.service.sweep()
            try await join(3).refused(400, "Invalid or expired invite")
            // An expired invite is refused for a member, too.
            try await join(1).refused(400, "Invalid or expired invite")
            let left = try await host.database.read { try $0.value("SELECT COUNT(*) FROM invites", as: Int.self) }
            #expect(left == 0)
        }
    }

    @Test("A log may be a minute ahead of the server, and no further")
    func clocksAhead() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            let now = host.clock.source.milliseconds()
            for (ahead, isAccepted) in [(59_000, true), (60_000, true), (60_001, false), (61_000, false)]
                as [(Int64, _)]
            {
                let time = DeuceDiary.Timestamp(milliseconds: now + ahead)
                let answer = try await john.raw(
                    .post, "/api/deuces",
                    body: #"{"groupIds":["\#(group)"],"location":"x","thoughts":"","loggedAt":"\#(time)"}"#)
                if isAccepted {
                    let logged = try answer.succeeded()
                    #expect(logged["entries"]?[0]?["loggedAt"] == .string(time.description))
                } else {
                    try answer.refused(400, "Cannot log a deuce in the future")
                }
            }
        }
    }

    @Test("An entry's time is the server's, and later than every entry before it in its group")
    func entriesInOneMillisecond() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let (one, two) = (try await john.group(), try await john.group())
            let now = host.clock.source.milliseconds()
            var times: [Int64] = []
            for groups in [[one], [one], [one, two], [two]] {
                let logged = try await john.send(DeuceDiary.LogDeuce(groups: groups, location: "x", thoughts: ""))
                #expect(Set(logged.entries.map(\.createdAt)).count == 1)
                #expect(logged.entries.allSatisfy { $0.loggedAt.milliseconds == now })
                times.append(logged.entries[0].createdAt.milliseconds)
            }
            #expect(times == [now, now + 1, now + 2, now + 3])
            // Setting the clock back does not change the order.
            host.clock.advance(by: .seconds(-10))
            let late = try await john.send(DeuceDiary.LogDeuce(groups: [one], location: "x", thoughts: "late"))
            let newest = try await john.send(DeuceDiary.GetGroup(group: one, limit: 1)).entries
            #expect(newest.map(\.id) == late.entries.map(\.id))
        }
    }

    @Test("Entries' times grow even past those of deleted entries")
    func entriesAfterADeletion() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            var last = Int64.min
            for _ in 0..<3 {
                var logged: [DeuceDiary.DeuceEntry] = []
                for _ in 0..<2 { logged += try await john.log(in: group) }
                for entry in logged {
                    #expect(entry.createdAt.milliseconds > last)
                    last = entry.createdAt.milliseconds
                    try await john.client.delete(entry.id)
                }
            }
            let row = try await john.send(DeuceDiary.ListGroups()).first { $0.id == group }
            #expect(row?.lastActivity == nil)
        }
    }

    @Test("A member has at most 200 open invites to a group, also with many requests at once")
    func inviteLimit() async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let (group, other) = (try await john.group(with: jane), try await john.group())
            // Jane has used one of these invites.
            let made = try await john.send(DeuceDiary.ListInvites(group: group)).count
            let answers = try await together(205) { _ in try await john.post("/api/groups/\(group)/invite") }
            #expect(answers.filter { $0.status == 200 }.count == 200 - made)
            for answer in answers where answer.status != 200 { try answer.refused(400, "Invite limit reached") }
            let invites = try await john.send(DeuceDiary.ListInvites(group: group))
            #expect(invites.count == 200)
            // The limit is for each member and group.
            try await jane.send(DeuceDiary.CreateInvite(group: group))
            try await john.send(DeuceDiary.CreateInvite(group: other))
            try await john.client.revoke(try #require(invites.last?.id))
            try await john.send(DeuceDiary.CreateInvite(group: group))
            try await john.post("/api/groups/\(group)/invite").refused(400, "Invite limit reached")
            // Expired invites do not count, even before they are swept.
            host.clock.advance(by: .seconds(7 * 24 * 3600) + .milliseconds(1))
            let later = try await host.world().afresh(john)
            try await later.send(DeuceDiary.CreateInvite(group: group))
        }
    }

    @Test("An invite can be previewed until it expires")
    func previews() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let invite = try await john.send(DeuceDiary.CreateInvite(group: try await john.group())).id
            let expiry = host.clock.source.milliseconds() + 7 * 86_400_000
            host.clock.advance(by: .seconds(7 * 86_400))
            let preview = try await john.send(DeuceDiary.PreviewInvite(invite: invite))
            #expect(preview.expiresAt.milliseconds == expiry)
            host.clock.advance(by: .milliseconds(1))
            try await host.world().raw.send(.get, "/api/groups/preview/\(invite)")
                .refused(404, "Invite not found or expired")
        }
    }

    @Test("A token belongs to the deleted account if it was issued up to the second of the deletion, or requested it")
    func tokensOfADeletedAccount() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            func status() async throws -> Int {
                try await host.world().stranger(Bearer(subject: john.id.rawValue)).get("/api/auth/user").status
            }
            host.clock.advance(by: .milliseconds(2500))
            try await john.client.deleteAccount()
            #expect(try await status() == 401)
            host.clock.advance(by: .milliseconds(499))
            #expect(try await status() == 401)
            host.clock.advance(by: .milliseconds(1))
            #expect(try await status() == 200)
            // An issuer's clock may be ahead of the server's.
            let ahead = try await host.world().stranger(Bearer(subject: john.id.rawValue))
            host.clock.advance(by: .seconds(-2))
            try await ahead.client.deleteAccount()
            host.clock.advance(by: .seconds(2))
            try await ahead.get("/api/auth/user").refused(401, "Unauthorized")
            host.clock.advance(by: .seconds(1))
            #expect(try await status() == 200)
        }
    }

    @Test("A picture that a deleted account left behind is swept")
    func picturesOfDeletedAccounts() async throws {
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withDeuceDiary(on: stack, clock: clock) { host in
            let john = try await host.world().person()
            _ = try await john.client.uploadProfilePicture(.sample)
            let picture = try #require(try await host.objects.allKeys().first.flatMap(ObjectKey.init))
            try await john.client.deleteAccount()
            #expect(try await host.objects.allKeys() == [])
            // This is the state after a crash between the commit and the removal of the file.
            try await host.objects.put(try await host.objects.spool(), at: picture, contentType: "image/jpeg")
            clock.advance(by: .seconds(7200))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [])
        }
    }

    @Test("With rate limits, each user has a number of requests a minute, and each address without a token")
    func requestLimit() async throws {
        try await withDeuceDiary(on: stack, requestsPerMinute: 5) { host in
            let world = host.world()
            let (john, jane) = (
                try await world.stranger(Bearer(subject: "john")), try await world.stranger(Bearer(subject: "jane"))
            )
            let text = "Too many requests, please try again later."
            for _ in 0..<4 { try await john.get("/api/groups").succeeded() }
            // Refused requests count, unless the token was refused.
            try await john.get("/api/groups?limit=x").refused(400, "Invalid limit")
            for _ in 0..<9 { try await world.raw.send(.get, "/api/groups").refused(401, "Unauthorized") }
            host.clock.advance(by: .milliseconds(20_500))
            // The limit is checked before the body.
            let refused = try await john.raw(.post, "/api/groups", body: "{").refused(429, text)
            #expect(refused.headers[.retryAfter] == "40")
            try await jane.get("/api/groups").succeeded()
            for path in ["/api/locations", "/join/\(UUID())", "/api/locations", "/api/locations"] {
                #expect(try await world.raw.send(.get, path).status < 400)
            }
            try await world.raw.send(.get, "/api/groups/preview/x").refused(404, "Invite not found or expired")
            for path in ["/api/locations", "/join/\(UUID())", "/api/groups/preview/x"] {
                try await world.raw.send(.get, path).refused(429, text, path)
            }
            host.clock.advance(by: .milliseconds(39_500))
            try await john.get("/api/groups").succeeded()
        }
    }

    @Test("Groups are listed by their newest entry, groups without one by their age; example 4")
    func orderOfGroups() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            func group(_ name: String) async throws -> DeuceDiary.Group.ID {
                host.clock.advance(by: .seconds(60))
                return try await john.group(name)
            }
            let (x, y) = (try await group("X"), try await group("Y"))
            _ = (try await group("S"), try await group("T"))
            for group in [x, y] {
                host.clock.advance(by: .seconds(60))
                try await john.log(in: group)
            }
            func names() async throws -> [String] { try await john.send(DeuceDiary.ListGroups()).map(\.name) }
            #expect(try await names() == ["Y", "X", "T", "S", "Solo Deuces"])
            host.clock.advance(by: .seconds(60))
            try await john.log(in: x)
            #expect(try await names() == ["X", "Y", "T", "S", "Solo Deuces"])
            let pages = try await john.send(DeuceDiary.ListGroups(limit: 2, before: y)).map(\.name)
            #expect(pages == ["T", "S"])
        }
    }

    @Test("A membership that ended takes effect on the next request")
    func memberships() async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            try await jane.log(in: group)
            try await host.database.write { db in
                try db.run("DELETE FROM members WHERE group_id = \(group.rawValue) AND user_id = \(jane.id.rawValue)")
            }
            try await jane.raw(.get, "/api/groups/\(group)").refused(403, "Not authorized")
            try await jane.raw(
                .post, "/api/deuces", body: #"{"groupIds":["\#(group)"],"location":"x","thoughts":""}"#
            ).refused(403, "Not authorized for group \(group)")
        }
    }

    @Test("A user in no group gets Solo Deuces again, once")
    func soloIsRestored() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            try await host.database.write { db in _ = try db.run("DELETE FROM members") }
            let names = try await john.send(DeuceDiary.ListGroups()).map(\.name)
            #expect(names == [])
            _ = try await together(10) { _ in try await john.send(DeuceDiary.GetUser()) }
            let restored = try await john.send(DeuceDiary.ListGroups()).map(\.name)
            #expect(restored == ["Solo Deuces"])
        }
    }

    @Test("A token is valid until its end and 5 seconds of leeway; the SDK asks for another")
    func tokens() async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            host.clock.advance(by: .seconds(3604))
            try await john.raw(.get, "/api/auth/user").succeeded()
            host.clock.advance(by: .seconds(1))
            try await john.raw(.get, "/api/auth/user").refused(401, "Invalid token")
            let tokens = Tokens([john.token, try host.issuer.issue(john.id.rawValue)])
            let client = DeuceDiaryClient(
                baseURL: host.baseURL, transport: host.transport, retry: .never, token: { await tokens.next() })
            #expect(try await client.send(DeuceDiary.GetUser()).id == john.id)
            #expect(await tokens.asked == 2)
        }
    }

    @Test("An idempotency key is remembered for 24 hours")
    func idempotencyKeys() async throws {
        try await withDeuceDiary(on: stack) { host in
            let world = host.world()
            let id = try await world.person().id.rawValue
            func create() async throws -> RawAnswer {
                // The token has expired by then.
                try await world.stranger(Bearer(subject: id)).raw(
                    .post, "/api/groups", headers: [.idempotencyKey: "k"], body: #"{"name":"N"}"#)
            }
            let first = try await create()
            host.clock.advance(by: .seconds(86_399))
            try await host.service.sweep()
            #expect(try await create().body == first.body)
            host.clock.advance(by: .seconds(1))
            let second = try await create()
            #expect(second.headers[.idempotentReplayed] == nil)
            #expect(second.body != first.body)
        }
    }

    @Test("Unused pictures are removed once they are an hour old, and no others")
    func orphans() async throws {
        // The file system's time is the time of an object.
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withDeuceDiary(on: stack, clock: clock) { host in
            let john = try await host.world().person()
            let path = try #require(try await john.client.uploadProfilePicture(.sample).profileImageUrl)
            let picture = String(path.dropFirst())
            let orphan = try #require(ObjectKey("uploads/orphan-1.jpg"))
            try await host.objects.put(try await host.objects.spool(), at: orphan, contentType: "image/jpeg")
            clock.advance(by: .seconds(3000))
            try await host.service.sweep()
            #expect(Set(try await host.objects.allKeys()) == ["uploads/orphan-1.jpg", picture])
            // The file may be minutes old already: the clock was set before the test could start.
            clock.advance(by: .seconds(3600))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [picture])
        }
    }

    @Test("Two pictures in one millisecond, and users whose ids look alike, get different names")
    func names() async throws {
        try await withDeuceDiary(on: stack) { host in
            let world = host.world()
            let now = host.clock.source.milliseconds()
            var paths: [String?] = []
            for subject in ["a:b", "a.b", "a b"] {
                let person = try await world.stranger(Bearer(subject: subject))
                paths.append(try await person.client.uploadProfilePicture(.sample).profileImageUrl)
            }
            #expect(paths == (0..<3).map { "/uploads/a_b-\(now + Int64($0)).jpg" })
        }
    }
}

/// Tokens that an app hands out one after the other.
actor Tokens {
    private var tokens: [String]
    private(set) var asked = 0

    init(_ tokens: [String]) { self.tokens = tokens }

    func next() -> String {
        asked += 1
        return tokens.count > 1 ? tokens.removeFirst() : tokens[0]
    }
}
