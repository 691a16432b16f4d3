import ContractCheck
import ContractClient
import DeuceDiaryClient
import DeuceDiaryService
import Foundation
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// A log that is made without a network arrives once, with the time at which it was made.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct DeuceDiaryOutboxTests {
    @Test func whatIsLoggedOfflineArrivesOnceWithItsTime() async throws {
        let begun = ContinuousClock.now
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            var count = 0
            for seed in OutboxSchedule<DeuceDiary.LogDeuce>.seeds {
                let (written, logged) = try await run(seed, on: host)
                var violations = written.violations
                for (number, time) in written.taken where logged[number] != [DeuceDiary.Timestamp(time)] {
                    violations.append("item \(number) of \(time): \(logged[number] ?? [])")
                }
                for number in written.uncertain where logged[number, default: []].count > 1 {
                    violations.append("item \(number): \(logged[number] ?? [])")
                }
                count += written.taken.count
                #expect(violations.isEmpty, "seed \(seed)")
            }
            print(
                "\(count) logs of \(OutboxSchedule<DeuceDiary.LogDeuce>.seeds.count) schedules in \(begun.duration(to: .now))"
            )
        }
    }

    /// Runs a schedule, and returns the times of the entries that the server has, by their number.
    private func run(
        _ seed: UInt64, on host: DeuceDiaryHost
    ) async throws -> (OutboxSchedule<DeuceDiary.LogDeuce>.Written, [Int: [DeuceDiary.Timestamp]]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("diary-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = DeuceDiary.User.ID("user_\(seed)")
        let token = { @Sendable [issuer = host.issuer] in try issuer.issue(user.rawValue) }
        let calm = DeuceDiaryClient(baseURL: host.baseURL, transport: host.transport, token: token)
        let group = try await calm.send(DeuceDiary.CreateGroup(name: "Throne Room")).id
        let schedule = OutboxSchedule<DeuceDiary.LogDeuce>(seed: seed, over: host.transport, clock: host.clock)
        let written = try await schedule.run(items: 20) { [clock = host.clock, baseURL = host.baseURL] process in
            let client = DeuceDiaryClient(baseURL: baseURL, transport: process, token: token)
            return try await client.open(
                of: user, in: folder, settings: process.adapt(client.outboxSettings(of: user), clock: clock),
                pacing: process.pacing)
        } _: { outbox, number in
            try await outbox.log(.init(groups: [group], location: "Home", thoughts: "\(number)"))
        }
        var logged: [Int: [DeuceDiary.Timestamp]] = [:]
        for try await entry in calm.entries(of: group) {
            logged[Int(entry.thoughts) ?? 0, default: []].append(entry.loggedAt)
        }
        return (written, logged)
    }

    private func withOutbox(
        _ host: DeuceDiaryHost, of user: DeuceDiary.User.ID, over client: DeuceDiaryClient,
        _ body: (DeuceDiaryOutbox) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("diary-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = client.outboxSettings(of: user)
        settings.now = { [clock = host.clock] in clock.date }
        try await body(
            try await client.open(
                of: user, in: folder, settings: settings,
                pacing: .init(sleep: { _ in try await Task.sleep(for: .milliseconds(2)) })))
    }

    @Test(arguments: Stack.all)
    func anEntryOfTwoDaysAgoKeepsItsTimeAndItsKey(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            let entry = DeuceDiary.LogDeuce(
                groups: [group], location: "Home", thoughts: "In a tunnel", loggedAt: .init(host.clock.date))
            let first = try await john.client.answer(entry, idempotencyKey: "k")
            for hours in [25, 46] {
                host.clock.advance(by: .seconds(hours * 3600))
                try await host.service.sweep()
                let later = try await host.world().person(john.id)
                let again = try await later.answer(entry, idempotencyKey: "k")
                #expect(again.headers[.idempotentReplayed] == "true")
                #expect(again.output?.entries == first.output?.entries)
            }
            // The key of three days ago is forgotten, and that of another operation after a day.
            host.clock.advance(by: .seconds(2 * 3600))
            try await host.service.sweep()
            let last = try await host.world().person(john.id)
            #expect(try await last.answer(entry, idempotencyKey: "k").headers[.idempotentReplayed] == nil)
            let kept = try await host.database.read { try $0.value("SELECT COUNT(*) FROM once_only", as: Int.self) }
            #expect(kept == 1)
        }
    }

    @Test func nothingIsSentAsAnotherUser() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let signedIn = Locked(jane.token)
            let client = DeuceDiaryClient(baseURL: host.baseURL, transport: host.transport) { signedIn.use { $0 } }
            try await withOutbox(host, of: john.id, over: client) { outbox in
                let changes = outbox.changes
                try await outbox.log(.init(groups: [group], location: "Home", thoughts: "Of John"))
                var attempts = 0
                for await case .changed(let item) in changes where item.state == .waiting {
                    attempts += 1
                    if attempts == 3 { break }
                }
                #expect(try await jane.send(DeuceDiary.ListDeuces(group: group)).isEmpty)
                signedIn.use { $0 = john.token }
                try await outbox.becomeEmpty()
                #expect(try await jane.send(DeuceDiary.ListDeuces(group: group)).map(\.userId) == [john.id])
            }
        }
    }

    @Test func aRefusedEntryIsKeptAndAnImpossibleOneIsNotTaken() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await jane.group()
            try await withOutbox(host, of: john.id, over: john.client) { outbox in
                await #expect(throws: APIError.self) {
                    try await outbox.log(.init(groups: [], location: "Home", thoughts: ""))
                }
                let item = try await outbox.log(.init(groups: [group], location: "Home", thoughts: "Mine"))
                try await outbox.becomeEmpty()
                guard case .failed(let failure)? = await outbox.items.first?.state else {
                    return #expect(Bool(false), "it is not refused")
                }
                #expect(failure.reason == .refused(status: 403))
                #expect(failure.errorDescription == "Not authorized for group \(group)")
                let invite = try await jane.send(DeuceDiary.CreateInvite(group: group)).id
                try await john.send(DeuceDiary.JoinGroup(invite: invite))
                try await outbox.retry(item.id)
                try await outbox.becomeEmpty()
                #expect(try await jane.send(DeuceDiary.ListDeuces(group: group)).map(\.thoughts) == ["Mine"])
            }
        }
    }

    @Test func aDeletedAccountLeavesNothing() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await jane.group()
            try await withOutbox(host, of: john.id, over: john.client) { outbox in
                try await outbox.log(.init(groups: [group], location: "Home", thoughts: "Mine"))
                try await outbox.becomeEmpty()
                #expect(await outbox.items.count == 1)
                try await john.client.deleteAccount()
                #expect(await outbox.items.isEmpty)
            }
        }
    }
}

extension DeuceDiaryWorld {
    /// Returns a client of a user, with a token that is valid now.
    fileprivate func person(_ id: DeuceDiary.User.ID) async throws -> DeuceDiaryClient {
        try await stranger(Bearer(subject: id.rawValue)).client
    }
}
