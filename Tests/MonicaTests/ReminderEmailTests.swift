import Contract
import Database
import Foundation
import Mail
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// E-mails about reminders come at their account's hour, and once.
@Suite(.timeLimit(.minutes(30))) struct MonicaReminderEmailTests {
    /// Runs a test on nodes that send their e-mails into one mailbox. Their clock shows 2026-02-23T10:00:00Z, a Monday.
    private func withNodes(
        _ count: Int = 1, on engine: Stack.Engine, clock: TestClock = TestClock(),
        _ body: ([MonicaHost], TestMailbox) async throws -> Void
    ) async throws {
        let mailbox = TestMailbox()
        var setup = TestSetup(clock: clock)
        setup.listens = false
        try await Testbed.withNodes(
            count, of: HostedMonica(limits: .outOfTheWay, mailer: { _ in mailbox }), on: Stack(engine, .inProcess),
            setup
        ) { try await body($0, mailbox) }
    }

    /// Makes an account with a contact, John Doe.
    private func john(
        _ host: MonicaHost, email: String = "ann@example.com", _ settings: MonicaService.AccountSettings = .init()
    )
        async throws -> (client: MonicaAPIClient, john: Int)
    {
        let client = try await host.client("ann")
        var settings = settings
        settings.email = email
        #expect(try await host.service.change(settings, of: "ann", audit: .test) != nil)
        return (client, try await client.create(Monica.ContactDraft(firstName: "John", lastName: "Doe")).id)
    }

    private func remind(
        _ client: MonicaAPIClient, of contact: Int, _ title: String = "Plants", on day: String,
        every unit: Monica.ReminderFrequency = .oneTime
    ) async throws -> Int {
        try await client.create(
            Monica.ReminderDraft(
                contactID: contact, title: title, initialDate: try #require(Day(day)), frequencyType: unit,
                description: "Not the cactus")
        ).id
    }

    private func upcoming(_ client: MonicaAPIClient) async throws -> [String] {
        await client.forgetAnswers()
        return try await client.send(Monica.ListUpcomingReminders()).data.map(\.plannedDay.description)
    }

    @Test(arguments: Stack.Engine.available)
    func aReminderComesAtItsAccountsHourAndThenAtTheNextDate(_ engine: Stack.Engine) async throws {
        try await withNodes(on: engine) { nodes, mailbox in
            let host = nodes[0]
            let settings = MonicaService.AccountSettings(zone: "America/New_York", reminderHour: 7)
            let (client, john) = try await john(host, settings)
            #expect(try await client.send(Monica.GetMe()).data.timezone == "America/New_York")
            _ = try await remind(client, of: john, on: "2026-02-23", every: .week)
            // It is 5 o'clock in New York.
            #expect(try await upcoming(client) == ["2026-02-23"])
            host.clock.advance(by: .seconds(2 * 3600 - 1))
            try await host.service.sendDueReminders()
            #expect(mailbox.emails.isEmpty)
            host.clock.advance(by: .seconds(1))
            for _ in 0..<3 { try await host.service.sendDueReminders() }
            let reminder = try #require(try await client.send(Monica.List<Monica.Reminder>()).data.first)
            #expect(
                mailbox.emails == [
                    MailMessage(
                        from: "Monica", to: "ann@example.com", subject: "John Doe: Plants",
                        text: "This is your reminder of 2026-02-23 about John Doe:\n\nPlants\n\nNot the cactus",
                        id: "\(reminder.uuid).2026-02-23")
                ])
            #expect(try await upcoming(client) == [])
            // Summer time begins on 8 March. The date of 2 March came too long ago.
            host.clock.advance(by: .seconds(14 * 86_400 - 3600))
            try await host.service.sendDueReminders()
            #expect(mailbox.emails.count == 2)
            #expect(mailbox.emails.last?.text.contains("of 2026-03-09 about") == true)
            #expect(try await upcoming(client) == ["2026-03-16"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aDateThatCameLongAgoHasNoEmail(_ engine: Stack.Engine) async throws {
        try await withNodes(on: engine) { nodes, mailbox in
            let (client, john) = try await john(nodes[0])
            _ = try await remind(client, of: john, "Long\n\(String(repeating: "x", count: 500))", on: "2026-02-24")
            _ = try await remind(client, of: john, "Past", on: "2026-02-22")
            #expect(try await upcoming(client) == ["2026-02-24"])
            nodes[0].clock.advance(by: .seconds(400 * 86_400))
            // It came while no server ran, long ago.
            try await nodes[0].service.sendDueReminders()
            #expect(mailbox.emails.isEmpty)
            #expect(try await upcoming(client) == [])
        }
    }

    /// The e-mail about a date that came while no server ran is sent when one runs, if that is within a day.
    @Test(arguments: Stack.Engine.available)
    func whatCameWhileNoServerRanIsSentWithinADay(_ engine: Stack.Engine) async throws {
        for (hours, count) in [(23 + 24, 1), (23 + 25, 0)] {
            try await withNodes(on: engine) { nodes, mailbox in
                let (client, john) = try await john(nodes[0])
                _ = try await remind(client, of: john, on: "2026-02-24", every: .month)
                nodes[0].clock.advance(by: .seconds(hours * 3600))
                for _ in 0..<2 { try await nodes[0].service.sendDueReminders() }
                #expect(mailbox.emails.count == count, "after \(hours) hours")
                let next = try await client.send(Monica.ListUpcomingReminders(month: 1)).data.map(\.plannedDay)
                #expect(next == [Day("2026-03-24")])
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func nothingIsSentWithoutAnAddressOrAboutWhatIsGone(_ engine: Stack.Engine) async throws {
        try await withNodes(on: engine) { nodes, mailbox in
            let host = nodes[0]
            let (client, first) = try await john(host, email: "")
            let second = try await client.create(Monica.ContactDraft(firstName: "Jane")).id
            _ = try await remind(client, of: first, "no address", on: "2026-02-24")
            host.clock.advance(by: .seconds(86_400))
            try await host.service.sendDueReminders()
            #expect(
                try await host.service.change(.init(email: "ann@example.com"), of: "ann", audit: .test)?.zone == "UTC")
            // What is deleted when its date has come, or between that and its e-mail.
            let deleted = try await remind(client, of: first, "deleted", on: "2026-02-25")
            _ = try await remind(client, of: second, "of a deleted contact", on: "2026-02-25")
            let moved = try await remind(client, of: first, "moved", on: "2026-02-25")
            try await client.update(
                moved,
                Monica.ReminderDraft(contactID: first, title: "moved", initialDate: try #require(Day("2026-02-26"))))
            host.clock.advance(by: .seconds(86_400))
            try await host.service.reminderEmails?.queueDue()
            try await client.delete(Monica.Reminder.self, id: deleted)
            try await client.delete(Monica.Contact.self, id: second)
            try await host.service.sendDueReminders()
            #expect(mailbox.emails.isEmpty)
            let account = try #require(try await host.database.read { try Accounts.find("ann", in: $0) })
            let now = host.clock.source.milliseconds()
            try await host.database.write { try Accounts.suspend(account, until: nil, reason: "", at: now, in: $0) }
            host.clock.advance(by: .seconds(86_400))
            try await host.service.sendDueReminders()
            try await host.database.write { try Accounts.restore(account, in: $0) }
            _ = try await remind(client, of: first, "of a deleted account", on: "2026-02-27")
            _ = try await client.deleteAccount()
            host.clock.advance(by: .seconds(86_400))
            try await host.service.sendDueReminders()
            #expect(mailbox.emails.isEmpty)
            #expect(try await host.database.read { try $0.value("SELECT COUNT(*) FROM outbox", as: Int.self) } == 0)
        }
    }

    /// Neither a mail server that is away nor a transaction that fails loses a date or sends it twice.
    @Test(arguments: Stack.Engine.available)
    func whatFailsIsTriedAgain(_ engine: Stack.Engine) async throws {
        struct Interrupted: Error {}
        try await withNodes(on: engine) { nodes, mailbox in
            let host = nodes[0]
            let (client, john) = try await john(host)
            _ = try await remind(client, of: john, on: "2026-02-24")
            host.clock.advance(by: .seconds(86_400))
            let emails = try #require(host.service.reminderEmails)
            let now = host.clock.source.milliseconds()
            await #expect(throws: Interrupted.self) {
                try await host.database.write { db in
                    try emails.queueSome(at: now, in: db)
                    throw Interrupted()
                }
            }
            mailbox.fail(with: Interrupted())
            try await host.service.sendDueReminders()
            mailbox.fail(with: nil)
            host.clock.advance(by: .seconds(10))
            for _ in 0..<2 { try await host.service.sendDueReminders() }
            #expect(mailbox.emails.map(\.subject) == ["John Doe: Plants"])
        }
    }

    @Test(.enabled(if: Stack.Engine.available.contains(.postgreSQL)))
    func twoNodesSendOneEmailForEachDate() async throws {
        try await withNodes(2, on: .postgreSQL) { nodes, mailbox in
            let (client, john) = try await john(nodes[0])
            let titles = (0..<600).map { "Number \($0)" }
            _ = try await remind(client, of: john, titles[0], on: "2026-02-24", every: .week)
            try await nodes[0].database.write { db in
                for title in titles.dropFirst() {
                    try db.run(
                        """
                        INSERT INTO reminders (uuid, account_id, contact_id, title, initial_day, frequency_type,
                            frequency_number, due_day, due_at, created_at, updated_at)
                        SELECT uuid, account_id, contact_id, \(title), initial_day, frequency_type, frequency_number,
                            due_day, due_at, created_at, updated_at FROM reminders WHERE title = \(titles[0])
                        """)
                }
            }
            nodes[0].clock.advance(by: .seconds(86_400))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for node in nodes + nodes { group.addTask { try await node.service.sendDueReminders() } }
                try await group.waitForAll()
            }
            for node in nodes { try await node.service.sendDueReminders() }
            #expect(mailbox.emails.map(\.subject).sorted() == titles.map { "John Doe: \($0)" }.sorted())
        }
    }

    /// Another zone or hour counts from the next date on.
    @Test(arguments: Stack.Engine.available)
    func anotherZoneMovesTheNextDate(_ engine: Stack.Engine) async throws {
        try await withNodes(on: engine) { nodes, mailbox in
            let host = nodes[0]
            let (client, john) = try await john(host)
            _ = try await remind(client, of: john, "daily bread", on: "2026-02-24", every: .week)
            _ = try await remind(client, of: john, "too late", on: "2026-02-23")
            // In Kiritimati it is midnight of the 24th.
            let changed = try await host.service.change(
                .init(zone: "Pacific/Kiritimati", reminderHour: 1), of: "ann", audit: .test)
            #expect(changed == .init(email: "ann@example.com", zone: "Pacific/Kiritimati", reminderHour: 1))
            #expect(try await host.service.change(.init(), of: "ann", audit: .test) == changed)
            #expect(try await host.service.change(.init(), of: "nobody", audit: .test) == nil)
            host.clock.advance(by: .seconds(3600))
            try await host.service.sendDueReminders()
            // A later hour of the same day brings no second e-mail.
            _ = try await host.service.change(.init(reminderHour: 5), of: "ann", audit: .test)
            host.clock.advance(by: .seconds(6 * 3600))
            try await host.service.sendDueReminders()
            #expect(mailbox.emails.map(\.subject) == ["John Doe: daily bread"])
            #expect(try await client.send(Monica.GetMe()).data.timezone == "Pacific/Kiritimati")
        }
    }
}
