import Contract
import ContractCheck
import ContractClient
import Database
import DeuceDiaryClient
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// Stored counts (a user's logs in total and per day, a group's entries) equal the numbers of rows.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryCountTests {
    @Test(
        "With random operations at once, counts stay correct and every group has an admin",
        arguments: Stack.Engine.available)
    func nothingDrifts(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess), clock: TestClock(step: 1)) { host in
            let crowd = Crowd(host: host, people: try await host.world().people(7))
            for round in 0..<4 {
                _ = try await together(8) { worker in
                    var generator = SeededGenerator(seed: UInt64(20_251_121 + 100 * round + worker))
                    for _ in 0..<50 { try await crowd.act(&generator) }
                }
                let wrong = try await host.database.read(Self.audit)
                #expect(wrong == [:], "after round \(round)")
            }
            let done = crowd.done
            // Every operation must have succeeded at least once, or the test proves nothing.
            #expect(Set(done.keys) == Set(Crowd.Operation.allCases), "\(done)")
            print("\(engine): \(done.map { "\($1) \($0)" }.sorted().joined(separator: ", "))")
        }
    }

    @Test("When two admins of three members leave at once, the third is admin", arguments: Stack.Engine.available)
    func twoAdmins(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            for _ in 0..<10 {
                let (john, jane, joan) = try await host.world().trio()
                let group = try await john.group(with: jane, joan)
                // The API does not appoint a second admin.
                try await host.database.write { db in
                    try db.run(
                        """
                        UPDATE members SET role = 'admin'
                        WHERE group_id = \(group.rawValue) AND user_id = \(jane.id.rawValue)
                        """)
                }
                _ = try await together(2) { try await ($0 == 0 ? john : jane).client.leave(group) }
                let members = try await joan.send(DeuceDiary.GetGroup(group: group)).members
                #expect(members.map(\.userId) == [joan.id])
                #expect(members.map(\.role) == [.admin])
            }
        }
    }

    @Test(
        "Two who delete their accounts at once leave each other's groups to a third", arguments: Stack.Engine.available)
    func twoDeletions(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            for _ in 0..<10 {
                let (john, jane, joan) = try await host.world().trio()
                let shared = [try await john.group(with: jane, joan), try await jane.group(with: joan, john)]
                let between = [try await john.group(with: jane), try await jane.group(with: john)]
                for person in [john, jane, joan] { try await person.log(in: shared[0], shared[1]) }
                for person in [john, jane] { try await person.log(in: between[0], between[1]) }
                _ = try await together(2) { try await ($0 == 0 ? john : jane).client.deleteAccount() }
                for group in shared {
                    let detail = try await joan.send(DeuceDiary.GetGroup(group: group))
                    #expect(detail.group.createdBy == joan.id)
                    #expect(detail.members.map(\.role) == [.admin])
                    #expect(detail.entries.map(\.userId) == [joan.id])
                }
                let wrong = try await host.database.read(Self.audit)
                #expect(wrong == [:])
                let left = try await host.database.read { db in
                    try db.all("SELECT id FROM groups WHERE id IN (\(list: between.map(\.rawValue)))") {
                        try $0.get(0, as: String.self)
                    }
                }
                #expect(left == [])
            }
        }
    }

    /// Returns the number of rows that violate each rule.
    @Sendable private static func audit(_ db: Session) throws -> [String: Int] {
        let checks: [(String, SQL)] = [
            (
                "invites of those who have left",
                """
                SELECT COUNT(*) FROM invites i WHERE NOT EXISTS (
                    SELECT 1 FROM members m WHERE m.group_id = i.group_id AND m.user_id = i.created_by)
                """
            ),
            (
                "a user's logs",
                """
                SELECT COUNT(*) FROM users u
                WHERE u.deuce_count <> (SELECT COUNT(DISTINCT e.log_id) FROM entries e WHERE e.user_id = u.id)
                """
            ),
            (
                "a day's logs",
                """
                SELECT COUNT(*) FROM days d WHERE d.logs <> (
                    SELECT COUNT(DISTINCT e.log_id) FROM entries e
                    WHERE e.user_id = d.user_id AND e.logged_at / 86400000 = d.day)
                """
            ),
            (
                "all days' logs",
                """
                SELECT COUNT(*) FROM users u
                WHERE u.deuce_count <> (SELECT COALESCE(SUM(d.logs), 0) FROM days d WHERE d.user_id = u.id)
                """
            ),
            (
                "a group's entries",
                """
                SELECT COUNT(*) FROM groups g
                WHERE g.entry_count <> (SELECT COUNT(*) FROM entries e WHERE e.group_id = g.id)
                """
            ),
            (
                "a group's activity",
                """
                SELECT COUNT(*) FROM groups g WHERE COALESCE(g.last_activity, -1) <> (
                    SELECT COALESCE(MAX(e.created_at), -1) FROM entries e WHERE e.group_id = g.id)
                """
            ),
            (
                "a group's admin",
                """
                SELECT COUNT(*) FROM groups g
                WHERE NOT EXISTS (SELECT 1 FROM members m WHERE m.group_id = g.id AND m.role = 'admin')
                """
            ),
            (
                "an entry's author",
                "SELECT COUNT(*) FROM entries e WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = e.user_id)"
            ),
        ]
        var wrong: [String: Int] = [:]
        for (name, query) in checks {
            let count = try db.value(query, as: Int.self) ?? 0
            if count > 0 { wrong[name] = count }
        }
        return wrong
    }
}

/// Users who perform random operations of the API.
private struct Crowd: Sendable {
    enum Operation: String, CaseIterable {
        case found, invite, join, log, delete, leave, remove, react, depart
    }

    private struct State {
        var people: [Person]
        var invites: [DeuceDiary.Invite.ID] = []
        var entries: [DeuceDiary.DeuceEntry] = []
        var done: [Operation: Int] = [:]
    }

    private let host: DeuceDiaryHost
    private let state: Locked<State>

    init(host: DeuceDiaryHost, people: [Person]) {
        self.host = host
        state = Locked(State(people: people))
    }

    /// The number of successful operations of each kind.
    var done: [Operation: Int] { state.use { $0.done } }

    /// Performs one operation. It may be refused, but must not fail.
    func act(_ generator: inout SeededGenerator) async throws {
        let weighted: [Operation] = [
            .found, .invite, .invite, .join, .join, .join, .log, .log, .log, .log, .delete, .delete, .leave, .remove,
            .react,
        ]
        var operation = weighted.randomElement(using: &generator) ?? .log
        if Int.random(in: 0..<60, using: &generator) == 0 { operation = .depart }
        let (people, invites, entries) = state.use { ($0.people, $0.invites, $0.entries) }
        let index = Int.random(in: 0..<people.count, using: &generator)
        let person = people[index]
        // The list is empty while the account is being deleted.
        let own = (try? await person.send(DeuceDiary.ListGroups()).map(\.id)) ?? []
        let group = own.randomElement(using: &generator)?.rawValue ?? "none"
        let answer: RawAnswer
        switch operation {
        case .found:
            answer = try await person.post("/api/groups", ["name": "N"])
        case .invite:
            answer = try await person.post("/api/groups/\(group)/invite")
            if answer.status == 200, let id = try answer.json()["id"]?.string {
                state.use { $0.invites.append(.init(id)) }
            }
        case .join:
            let invite = invites.suffix(12).randomElement(using: &generator)?.rawValue ?? "none"
            answer = try await person.post("/api/join/\(invite)")
        case .log:
            let into = own.shuffled(using: &generator).prefix(.random(in: 1...3, using: &generator))
            let day = Int64.random(in: 20_000..<20_005, using: &generator)
            let time = DeuceDiary.Timestamp(milliseconds: day * 86_400_000 + 1000)
            answer = try await person.post(
                "/api/deuces",
                [
                    "groupIds": .list(into.map(\.json)), "location": "x", "thoughts": "",
                    "loggedAt": .string(time.description),
                ])
            if answer.status == 200 {
                let logged = try JSONDecoder().decode(DeuceDiary.LoggedDeuce.self, from: Data(answer.body))
                state.use { $0.entries += logged.entries }
            }
        case .delete:
            let mine = entries.filter { $0.userId == person.id }.suffix(20)
            let entry = mine.randomElement(using: &generator)?.id.rawValue ?? "none"
            answer = try await person.raw(.delete, "/api/deuces/\(entry)")
        case .leave: answer = try await person.post("/api/groups/\(group)/leave")
        case .remove:
            let members = (try? await person.send(DeuceDiary.GetGroup(group: .init(group))).members) ?? []
            let other = members.randomElement(using: &generator)?.userId.rawValue ?? "none"
            answer = try await person.raw(.delete, "/api/groups/\(group)/members/\(other)")
        case .react:
            let entry = entries.suffix(20).randomElement(using: &generator)?.id.rawValue ?? "none"
            let emoji = JSONValue.string(String(Int.random(in: 0..<100, using: &generator)))
            answer = try await person.post("/api/entries/\(entry)/reactions", ["emoji": emoji])
        case .depart:
            answer = try await person.raw(.delete, "/api/auth/user")
            if answer.status == 200 {
                host.clock.advance(by: .seconds(1))
                let again = try await host.world().stranger(Bearer(subject: person.id.rawValue))
                state.use { $0.people[index] = again }
            }
        }
        try expect(answer.status < 500, "\(operation): \(answer.status) \(answer.text)")
        if answer.status == 200 { state.use { $0.done[operation, default: 0] += 1 } }
    }
}
