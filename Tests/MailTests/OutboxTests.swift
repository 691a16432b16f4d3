import NIOConcurrencyHelpers
import Testing

@testable import Mail

/// Letters that are sent beside everything else.
@Suite struct OutboxTests {
    /// Answers one letter after the other as it was told, then takes all.
    private final class Script: Mailer {
        let outcomes: NIOLockedValueBox<[MailError?]>
        let sent = NIOLockedValueBox<[String]>([])

        init(_ outcomes: MailError?...) { self.outcomes = NIOLockedValueBox(outcomes) }

        func send(_ message: MailMessage) async throws {
            let outcome = outcomes.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
            if let outcome { throw outcome }
            sent.withLockedValue { $0.append(message.subject) }
        }
    }

    private static let passing = MailError("later", mayPass: true)
    private static let final = MailError("never", mayPass: false)

    private func run(_ script: Script, _ subjects: String...) async -> (waits: [Duration], reported: [MailError]) {
        let waits = NIOLockedValueBox<[Duration]>([])
        let reported = NIOLockedValueBox<[MailError]>([])
        let outbox = Outbox(
            script, pauses: [.seconds(2), .seconds(10)], limit: 2,
            sleep: { wait in waits.withLockedValue { $0.append(wait) } },
            report: { error in reported.withLockedValue { $0.append(error) } })
        for subject in subjects {
            outbox.post(.init(to: "a@b", subject: subject, text: ""))
            await outbox.settle()
        }
        return (waits.withLockedValue { $0 }, reported.withLockedValue { $0 })
    }

    @Test func whatMayPassIsSentAgain() async {
        let script = Script(Self.passing, Self.passing, nil)
        let (waits, reported) = await run(script, "a")
        #expect(waits == [.seconds(2), .seconds(10)])
        #expect(reported == [])
        #expect(script.sent.withLockedValue { $0 } == ["a"])
    }

    @Test func whatDoesNotPassIsReported() async {
        let script = Script(Self.passing, Self.passing, Self.passing, Self.final)
        let (waits, reported) = await run(script, "a", "b", "c")
        #expect(waits == [.seconds(2), .seconds(10)])
        #expect(reported == [Self.passing, Self.final])
        #expect(script.sent.withLockedValue { $0 } == ["c"])
    }

    @Test func closingWaitsForNoRepeat() async {
        let script = Script(Self.passing)
        let reported = NIOLockedValueBox<[MailError]>([])
        let outbox = Outbox(script, pauses: [.seconds(3600)]) { error in reported.withLockedValue { $0.append(error) } }
        outbox.post(.init(to: "a@b", subject: "a", text: ""))
        await outbox.close()
        #expect(reported.withLockedValue { $0 } == [Self.passing])
        outbox.post(.init(to: "a@b", subject: "b", text: ""))
        #expect(reported.withLockedValue { $0.count } == 2)
        #expect(script.sent.withLockedValue { $0 } == [])
    }
}
