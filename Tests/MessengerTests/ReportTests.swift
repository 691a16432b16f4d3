import Foundation
import MessengerCheck
import MessengerClient
import MessengerService
import Testbed
import Testing

/// The operator can read reports.
@Suite(.timeLimit(.minutes(30))) struct ReportTests {
    @Test("A report has the names and texts of its time, even after they change", arguments: Stack.Engine.available)
    func reports(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            let file = try await bob.client.upload(Upload(.bytes([1]), filename: "a")).id
            let message = try await bob.send(Messenger.SendMessage(chat: chat, content: "rude", file: file))
            let ids = [
                try await alice.send(Messenger.CreateReport(user: bob.id, reason: " spam ", details: " Every day\n"))
                    .id,
                try await alice.send(Messenger.CreateReport(message: message.id, reason: "rude")).id,
            ]
            try await bob.send(Messenger.EditMessage(chat: chat, message: message.id, content: "kind"))
            try await bob.send(Messenger.DeleteMessage(chat: chat, message: message.id))
            try await alice.client.deleteAccount(password: alice.password)

            let reports = try await MessengerService.reports(after: 0, limit: 10, in: host.database)
            #expect(reports.map(\.id) == ids)
            let (first, second) = (try #require(reports.first), try #require(reports.last))
            #expect(first.user?.id == bob.id)
            #expect(first.user?.username == bob.name)
            #expect(first.message?.id == nil)
            #expect(first.reason == "spam")
            #expect(first.details == " Every day\n")
            #expect(first.reporter.id == .init(0))
            #expect(first.reporter.username == nil)
            #expect(first.createdAt.milliseconds == host.clock.source.milliseconds())
            let reported = try #require(second.message)
            #expect(second.user?.id == nil)
            #expect(second.details == nil)
            #expect(reported.id == message.id)
            #expect(reported.chat == chat)
            #expect(reported.sender.id == bob.id)
            #expect(reported.sender.username == bob.name)
            #expect(reported.content == "rude")
            #expect(reported.file == file)
            #expect(
                try await MessengerService.reports(after: ids[0], limit: 10, in: host.database).map(\.id) == [ids[1]])
            #expect(try await MessengerService.reports(after: 0, limit: 1, in: host.database).map(\.id) == [ids[0]])
        }
    }
}
