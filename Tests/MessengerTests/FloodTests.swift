import Backend
import ContractCheck
import Identity
import MessengerCheck
import MessengerService
import NIOConcurrencyHelpers
import NIOPosix
import Testbed
import Testing

/// A client that tries many names does not lock out other users.
@Suite(.timeLimit(.minutes(30))) struct FloodTests {
    /// The flood ends soon because of the limit per address. Without that limit, only the fair queue of password checks
    /// protects the other users.
    @Test(.timeLimit(.minutes(30)), arguments: Stack.Engine.available, [true, false])
    func fromOneAddress(_ engine: Stack.Engine, _ isLimited: Bool) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            // A hash takes some milliseconds, one at a time: 140 at once would fill the queue permanently.
            let cost = try #require(Passwords.Cost(logN: 11, blockSize: 8, parallelism: 1))
            var settings = MessengerService.Settings()
            if !isLimited { settings.attempts.failuresPerHourOfAddress = 1_000_000_000 }
            let service = MessengerService(
                database: host.database, objects: host.objects, passwords: Passwords(cost: cost, threads: 1),
                mailer: TestMailbox(),
                secret: .ofTests(9), group: MultiThreadedEventLoopGroup.ofTests,
                time: host.clock.source, settings: settings)
            let home = host.world(of: service, from: "198.51.100.1")
            let flood = host.world(of: service, from: "203.0.113.1")
            let names = (0..<8).map { _ in home.freshName() }
            for name in names { #expect(try await home.register(name).status == 201) }

            let (isOver, tries) = (NIOLockedValueBox(false), NIOLockedValueBox<[Int: Int]>([:]))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<140 {
                    group.addTask {
                        while !isOver.withLockedValue({ $0 }) {
                            let status = try await flood.signIn(flood.freshName(), "12345678").status
                            tries.withLockedValue { $0[status, default: 0] += 1 }
                        }
                    }
                }
                while tries.withLockedValue({ $0.values.reduce(0, +) }) < 140 { await Task.yield() }
                // The first address is a stranger's, the others are known.
                for index in 0..<24 {
                    let answer = try await home.signIn(names[index % names.count], "12345678")
                    #expect(answer.status == 200)
                }
                isOver.withLockedValue { $0 = true }
                try await group.waitForAll()
            }
            let statuses = tries.withLockedValue { $0 }
            #expect(Set(statuses.keys).isSubset(of: isLimited ? [401, 429, 503] : [401, 503]))
            if isLimited { #expect(statuses[401] ?? 0 <= 100) }
            // A request that was refused because the queue was full does not count as a failed attempt of the account.
            let failures = try await host.database.read { db in
                try db.value(
                    "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM attempts WHERE key LIKE 'address %'",
                    as: Int.self)
            }
            #expect(failures == statuses[401] ?? 0)
            print("A flood of one address on \(engine.rawValue), \(isLimited ? "" : "not ")limited: \(statuses)")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func ofRegistrationsFromOneNetwork(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host async throws in
            for index in 0..<40 {
                let world = host.world(from: "2001:db8:7:7::\(index)")
                #expect(try await world.register(world.freshName()).status == (index < 20 ? 201 : 429))
            }
            let world = host.world(from: "2001:db8:7:8::1")
            #expect(try await world.register(world.freshName()).status == 201)
        }
    }

    /// A request through a proxy that the operator has not named does not count as this machine's own.
    @Test func ofRegistrationsThroughAForgottenProxy() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world(from: "127.0.0.1")
            for index in 0..<24 {
                let name = world.freshName()
                let answer = try await world.raw.send(
                    .post, "/auth/register", headers: [.forwardedFor: "203.0.113.\(index)"],
                    body: #"{"username":"\#(name)","email":"\#(name)@example.com","password":"12345678"}"#)
                #expect(answer.status == (index < 20 ? 201 : 429))
            }
            // Without a proxy it counts as this machine's own.
            for _ in 0..<24 { #expect(try await world.register(world.freshName()).status == 201) }
        }
    }
}
