import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import DunbarCheck

/// Posts of a device without a network are published once, with their pictures.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct DunbarOutboxTests {
    private typealias Schedule = OutboxSchedule<DunbarClient.OutgoingPost>

    /// A client that reaches the server without waiting for it to wake up.
    private func client(
        _ host: DunbarHost, _ store: any CookieStore, over transport: (any Transport)? = nil
    ) -> DunbarClient {
        DunbarClient(
            baseURL: host.baseURL, store: store, transport: transport ?? host.transport, retry: .never,
            now: { [clock = host.clock] in clock.date }, isConnected: { true })
    }

    private func register(_ name: String) -> Dunbar.Register {
        Dunbar.Register(
            username: name, email: "\(name)@example.com", password: "secret123", displayName: "John Doe")
    }

    @Test func whatIsPostedOfflineIsPublishedOnce() async throws {
        let begun = ContinuousClock.now
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            var count = 0
            for seed in Schedule.seeds {
                let (written, published) = try await run(seed, on: host)
                var violations = written.violations
                for number in written.taken.keys where published[number] != [number.isMultiple(of: 3) ? 1 : 0] {
                    violations.append("item \(number): \(published[number] ?? [])")
                }
                for number in written.uncertain where published[number, default: []].count > 1 {
                    violations.append("item \(number): \(published[number] ?? [])")
                }
                count += written.taken.count
                #expect(violations.isEmpty, "seed \(seed)")
            }
            print("\(count) posts of \(Schedule.seeds.count) schedules in \(begun.duration(to: .now))")
        }
    }

    /// Runs a schedule, and returns the numbers of media of the posts that the server has, by the posts' numbers.
    private func run(_ seed: UInt64, on host: DunbarHost) async throws -> (Schedule.Written, [Int: [Int]]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dunbar-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = MemoryCookieStore()
        let calm = client(host, store)
        let user = try await calm.register(register("john\(seed)")).id
        let schedule = Schedule(seed: seed, over: host.transport, clock: host.clock)
        let written = try await schedule.run(items: 12) { process in
            let client = client(host, store, over: process)
            return try await client.open(
                of: user, in: folder, settings: process.adapt(client.outboxSettings(of: user), clock: host.clock),
                pacing: process.pacing)
        } _: { outbox, number in
            let picture = Upload(
                .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg", contentType: "image/jpeg")
            try await outbox.post("\(number)", media: number.isMultiple(of: 3) ? [picture] : [])
        }
        var published: [Int: [Int]] = [:]
        for try await post in calm.posts(of: user, pageSize: 5) {
            published[Int(post.content) ?? 0, default: []].append(post.media.count)
        }
        return (written, published)
    }

    @Test func nothingIsSentAsAnotherUser() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dunbar-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let client = client(host, MemoryCookieStore())
            let john = try await client.register(register("john"))
            let jane = try await client.register(register("jane"))
            let outbox = try await client.open(
                of: john.id, in: folder, settings: client.outboxSettings(of: john.id),
                pacing: .init(sleep: { _ in try await Task.sleep(for: .milliseconds(2)) }))
            let changes = outbox.changes
            try await outbox.post("Of John")
            var attempts = 0
            for await case .changed(let item) in changes where item.state == .waiting {
                attempts += 1
                if attempts == 3 { break }
            }
            #expect(try await client.send(Dunbar.ListUserPosts(user: jane.id)).isEmpty)
            try await client.signIn(username: "john", password: "secret123")
            try await outbox.becomeEmpty()
            #expect(try await client.send(Dunbar.ListUserPosts(user: john.id)).map(\.content) == ["Of John"])
        }
    }

    @Test func signingOutRemovesWhatWaits() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dunbar-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let client = client(host, MemoryCookieStore())
            let john = try await client.register(register("john"))
            let outbox = try await client.outbox(of: john.id, in: folder)
            await #expect(throws: DunbarClient.APIError.self) { try await outbox.post(" ") }
            // What looks like a picture and is none is refused.
            try await outbox.post("Look", media: [Upload(.bytes([1, 2, 3]), filename: "a.txt")])
            try await outbox.becomeEmpty()
            guard case .failed(let failure)? = await outbox.items.first?.state else {
                return #expect(Bool(false), "it is not refused")
            }
            #expect(failure.reason == .refused(status: 400))
            try await client.signOut()
            #expect(await outbox.items.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func theKeyOfAPostLivesForThreeDays() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let client = client(host, MemoryCookieStore())
            let john = try await client.register(register("john"))
            let first = try await client.answer(Dunbar.CreatePost(content: "a"), idempotencyKey: "k").output
            host.clock.advance(by: .seconds(71 * 3600))
            try await host.service.sweep()
            let again = try await client.answer(Dunbar.CreatePost(content: "a"), idempotencyKey: "k")
            #expect(again.headers[.idempotentReplayed] == "true")
            #expect(again.output?.id == first?.id)
            #expect(try await client.send(Dunbar.ListUserPosts(user: john.id)).count == 1)
        }
    }
}
