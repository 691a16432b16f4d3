import Database
import Foundation
import Mail
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Backend

/// E-mails wait in the database until a mail server has accepted them.
@Suite(.timeLimit(.minutes(30))) struct JobQueueTests {
    private typealias Letters = JobQueue<String>

    private static let schema = Schema("emails", [.init("emails", Letters.table)])
    private static let start: Int64 = 1_771_840_800_000

    /// A mailer that fails as its script says, one e-mail after the other, and then accepts all.
    private final class Script: Mailer {
        private let outcomes: NIOLockedValueBox<[(any Error)?]>
        private let taken = NIOLockedValueBox<[String]>([])
        private let callers = NIOLockedValueBox<[@Sendable () -> Void]>([])

        init(_ outcomes: (any Error)?...) { self.outcomes = NIOLockedValueBox(outcomes) }

        var emails: [String] { taken.withLockedValue { $0 } }

        func send(_ message: MailMessage) async throws {
            let outcome = outcomes.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
            if let outcome { throw outcome }
            taken.withLockedValue { $0.append(message.text) }
            for caller in callers.withLockedValue({ $0 }) { caller() }
        }

        /// Returns once this number of e-mails has been accepted.
        func wait(for count: Int) async {
            let (news, continuation) = AsyncStream<Void>.makeStream()
            callers.withLockedValue { $0.append { continuation.yield() } }
            continuation.yield()
            for await _ in news where emails.count >= count { return }
        }
    }

    private struct Away: Error {}

    /// The error for an address that cannot appear in an e-mail. It is permanent, and no mail server is asked.
    private static var refusal: (any Error)? {
        get async {
            let folder = MailboxFolder(path: "/nonexistent", from: "none", now: { 0 })
            do {
                try await folder.send(.init(to: "a@b", subject: "", text: ""))
                return nil
            } catch {
                return error
            }
        }
    }

    private struct Host {
        let database: Database
        let clock: TestClock
        let reports = NIOLockedValueBox<[Bool]>([])

        func outbox(_ mailer: any Mailer, key: UInt8 = 7, former: UInt8? = nil) -> Letters {
            Letters(
                database: database, mailer: mailer, secret: .ofTests(key, former: former), time: clock.source,
                compose: { text in
                    text.isEmpty ? nil : MailMessage(to: "a@b", subject: "s", text: text)
                },
                report: { [reports] _, _, isTriedAgain in reports.withLockedValue { $0.append(isTriedAgain) } })
        }

        func post(_ texts: String..., on outbox: Letters) async throws {
            let now = clock.source.milliseconds()
            try await database.write { db in for text in texts { try outbox.post(text, at: now, in: db) } }
        }

        var waiting: Int {
            get async throws {
                try await database.read { try $0.value("SELECT COUNT(*) FROM outbox", as: Int.self) } ?? -1
            }
        }
    }

    private func withHost(on engine: Stack.Engine, _ body: (Host) async throws -> Void) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            try await body(Host(database: database, clock: TestClock(milliseconds: Self.start)))
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func committedEmailsAreSentOnce(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let script = Script()
            let outbox = host.outbox(script)
            try await host.post("one", "two", on: outbox)
            await #expect(throws: Away.self) {
                try await host.database.write { db in
                    try outbox.post("undone", at: Self.start, in: db)
                    throw Away()
                }
            }
            for _ in 0..<2 { try await outbox.sendDue() }
            #expect(script.emails.sorted() == ["one", "two"])
            let waiting = try await host.waiting
            #expect(waiting == 0)
        }
    }

    /// Another process finds the e-mails that a killed process left.
    @Test(arguments: Stack.Engine.available)
    func emailsLeftBehindAreSentByTheNextProcess(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            try await host.post("left", on: host.outbox(Script()))
            let script = Script()
            try await host.outbox(script).sendDue()
            #expect(script.emails == ["left"])
        }
    }

    /// An e-mail was put off while the clock was ahead. It is due when the clock is right, and is given up a day later as any other.
    @Test(arguments: Stack.Engine.available)
    func anEmailDoesNotWaitForAWrongTime(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let year = Duration.seconds(31_536_000)
            host.clock.advance(by: year)
            let script = Script(Away(), Away())
            let outbox = host.outbox(script)
            try await host.post("late", on: outbox)
            try await outbox.sendDue()
            host.clock.advance(by: .zero - year)
            try await outbox.sendDue()
            let created = try await host.database.read { try $0.value("SELECT created_at FROM outbox", as: Int64.self) }
            #expect(created == Self.start)
            host.clock.advance(by: .seconds(10))
            try await outbox.sendDue()
            #expect(script.emails == ["late"])
        }
    }

    /// A node that dies while it sends an e-mail keeps it reserved for a minute.
    @Test(arguments: Stack.Engine.available)
    func anEmailOfADeadNodeIsSentLater(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            try await host.post("half sent", on: host.outbox(Script()))
            // The state that such a node leaves.
            try await host.database.write { db in
                try db.run("UPDATE outbox SET due_at = \(Self.start + Letters.lease), attempts = 1")
            }
            let script = Script()
            let outbox = host.outbox(script)
            host.clock.advance(by: .seconds(59))
            try await outbox.sendDue()
            #expect(script.emails == [])
            host.clock.advance(by: .seconds(1))
            try await outbox.sendDue()
            #expect(script.emails == ["half sent"])
        }
    }

    @Test func pausesGrowUpToAnHour() {
        #expect((1...8).map(Letters.pause) == [2, 10, 50, 250, 1250, 3600, 3600, 3600].map { $0 * 1000 })
        #expect(Letters.pause(after: .max) == 3_600_000)
    }

    @Test(arguments: Stack.Engine.available)
    func transientErrorsAreRetriedForADay(_ engine: Stack.Engine) async throws {
        struct Refusing: Mailer {
            let tries = NIOLockedValueBox(0)
            func send(_ message: MailMessage) async throws {
                tries.withLockedValue { $0 += 1 }
                throw Away()
            }
        }
        try await withHost(on: engine) { host in
            let mailer = Refusing()
            let outbox = host.outbox(mailer)
            try await host.post("never taken", on: outbox)
            try await outbox.sendDue()
            for _ in 0..<2 { try await outbox.sendDue() }
            #expect(mailer.tries.withLockedValue { $0 } == 1)
            for (seconds, tries) in [(1, 1), (1, 2), (9, 2), (1, 3), (50, 4)] {
                host.clock.advance(by: .seconds(seconds))
                try await outbox.sendDue()
                #expect(mailer.tries.withLockedValue { $0 } == tries)
            }
            var waiting = try await host.waiting
            #expect(waiting == 1)
            for _ in 0..<24 {
                host.clock.advance(by: .seconds(3600))
                try await outbox.sendDue()
            }
            waiting = try await host.waiting
            #expect(waiting == 0)
            let reports = host.reports.withLockedValue { $0 }
            #expect(reports.count == mailer.tries.withLockedValue { $0 })
            #expect(reports.last == false)
            #expect(reports.dropLast().allSatisfy { $0 })
            #expect(reports.count >= 26)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func permanentFailuresAreNotRetried(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let script = Script(try #require(await Self.refusal))
            let outbox = host.outbox(script)
            try await host.post("refused", on: outbox)
            try await outbox.sendDue()
            #expect(host.reports.withLockedValue { $0 } == [false])
            // An e-mail that is no longer needed is dropped without a report.
            try await host.post("", on: outbox)
            try await outbox.sendDue()
            #expect(host.reports.withLockedValue { $0 } == [false])
            let waiting = try await host.waiting
            #expect(waiting == 0)
            #expect(script.emails == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func waitingEmailsAreEncrypted(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let outbox = host.outbox(Script())
            let secret = "opens an account"
            try await host.post(secret, secret, on: outbox)
            let stored = try await host.database.read { db in
                try db.all("SELECT sealed FROM outbox") { try $0.get(0, as: [UInt8].self) }
            }
            #expect(stored.count == 2)
            #expect(stored[0] != stored[1])
            for text in stored { #expect(!String(decoding: text, as: UTF8.self).contains("account")) }
        }
    }

    /// A node without the key leaves an e-mail to a node that has the key, and reports that.
    @Test(arguments: Stack.Engine.available)
    func emailsThatOneNodeCannotReadAreLeftToAnother(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let (script, deaf) = (Script(), Script())
            let (outbox, other) = (host.outbox(script), host.outbox(deaf, key: 8))
            try await host.post("one", "two", on: outbox)
            try await other.sendDue()
            #expect(deaf.emails == [])
            #expect(host.reports.withLockedValue { $0 } == [true, true])
            // It does not try them again while the node with the key is absent.
            host.clock.advance(by: .seconds(3))
            try await other.sendDue()
            #expect(host.reports.withLockedValue { $0 } == [true, true])
            try await outbox.sendDue()
            #expect(script.emails.sorted() == ["one", "two"])
            let waiting = try await host.waiting
            #expect(waiting == 0)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func emailsOfTheFormerKeyAreSent(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            try await host.post("before", on: host.outbox(Script()))
            let mailer = Script()
            let rotated = host.outbox(mailer, key: 8, former: 7)
            try await host.post("after", on: rotated)
            while try await host.waiting > 0 { try await rotated.sendDue() }
            #expect(mailer.emails.sorted() == ["after", "before"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func unreadableEmailsAreGivenUpAfterADay(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            try await host.post("lost", on: host.outbox(Script()))
            let deaf = Script()
            let other = host.outbox(deaf, key: 8)
            for _ in 0..<(23 * 12) {
                try await other.sendDue()
                host.clock.advance(by: .seconds(301))
            }
            var waiting = try await host.waiting
            #expect(waiting == 1)
            let reports = host.reports.withLockedValue { $0 }
            #expect(reports.count > 200)
            #expect(!reports.contains(false))
            for _ in 0..<12 {
                try await other.sendDue()
                host.clock.advance(by: .seconds(301))
            }
            waiting = try await host.waiting
            #expect(waiting == 0)
            #expect(host.reports.withLockedValue { $0.last } == false)
            #expect(deaf.emails == [])
        }
    }

    /// Two nodes that send several batches at the same time send each e-mail once.
    @Test(arguments: Stack.Engine.available)
    func twoNodesShareOneQueue(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let script = Script()
            let outboxes = [host.outbox(script), host.outbox(script)]
            let texts = (0..<100).map { "email \($0)" }
            try await host.database.write { db in
                for text in texts { try outboxes[0].post(text, at: Self.start, in: db) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for outbox in outboxes { group.addTask { try await outbox.sendDue() } }
                try await group.waitForAll()
            }
            #expect(script.emails.sorted() == texts.sorted())
        }
    }

    @Test(arguments: Stack.Engine.available)
    func itSendsByItselfUntilItIsCancelled(_ engine: Stack.Engine) async throws {
        try await withHost(on: engine) { host in
            let script = Script()
            let outbox = host.outbox(script)
            try await host.post("before it began", on: outbox)
            let running = Task { await outbox.run() }
            await script.wait(for: 1)
            try await host.post("while it runs", on: outbox)
            await script.wait(for: 2)
            running.cancel()
            await running.value
            #expect(script.emails == ["before it began", "while it runs"])
        }
    }
}
