import Contract
import ContractCheck
import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import MessengerService
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The list of a chat's changes is complete within a bound, and says so beyond it.
@Suite(.timeLimit(.minutes(30))) struct ChangesTests {
    @Test(arguments: Stack.Engine.available)
    func deletionsOfTheLastChangesAreRemembered(_ engine: Stack.Engine) async throws {
        var settings = MessengerService.Settings()
        settings.keptDeletions = 5
        try await withMessenger(on: Stack(engine, .inProcess), settings: settings) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            let start = try await bob.client.changes(of: chat, after: nil)
            var sent: [Messenger.Message.ID] = []
            for text in ["0", "1", "2", "3", "4", "5", "6"] {
                sent.append(try await alice.send(Messenger.SendMessage(chat: chat, content: text)).id)
            }
            try await alice.send(Messenger.EditMessage(chat: chat, message: sent[6], content: "edited"))
            for id in sent.prefix(4) { try await alice.send(Messenger.DeleteMessage(chat: chat, message: id)) }
            let known = try await bob.client.changes(of: chat, after: start.version)
            #expect(known.isComplete)
            #expect(known.changes.map(\.id) == [sent[6]] + sent.prefix(4))
            #expect(known.changes.map(\.isDeletion) == [false, true, true, true, true])

            // The sixth and the seventh change make the first two too old; the second was a deletion.
            for id in sent[4...5] { try await alice.send(Messenger.DeleteMessage(chat: chat, message: id)) }
            let late = try await bob.client.changes(of: chat, after: start.version)
            #expect(!late.isComplete)
            #expect(late.changes.isEmpty)
            #expect(late.version == known.version + 2)
            let inTime = try await bob.client.changes(of: chat, after: start.version + 2)
            #expect(inTime.isComplete)
            #expect(inTime.changes.map(\.id) == Array(sent[1...5]))
            #expect(try await bob.client.changes(of: chat, after: late.version).changes.isEmpty)
        }
    }

    /// Answers the pages of a list of changes, one after the other.
    private struct Pages: Transport {
        let rest: NIOLockedValueBox<[String]>

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            let page = rest.withLockedValue { $0.removeFirst() }
            return TransportResponse(status: .ok, headers: [.contentType: "application/json"], body: Array(page.utf8))
        }
    }

    @Test func changesForgottenBetweenTwoPagesAreSaid() async throws {
        let page = #"{"version":1,"is_complete":true,"changes":[{"id":1,"content":null,"edited_at":null}]}"#
        let rest = NIOLockedValueBox([page, #"{"version":9,"is_complete":false,"changes":[]}"#])
        let tokens = StoredTokens(accessToken: "a", refreshToken: "b", expiresAt: .distantFuture, user: "1")
        let client = MessengerClient(
            baseURL: try #require(URL(string: "http://test")), store: MemoryTokenStore(tokens),
            transport: Pages(rest: rest), retry: .never)
        let found = try await client.changes(of: 5, after: 0)
        #expect(!found.isComplete && found.version == 9 && found.changes.isEmpty)
        #expect(rest.withLockedValue { $0.isEmpty })
    }

    /// An app that was away asks for the changes, and has what a list shows.
    @Test(arguments: Stack.all)
    func aCopyIsBroughtUpToDate(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            var copy: [Messenger.Message.ID: String] = [:]
            var version = try await bob.client.changes(of: chat, after: nil).version
            for round in 0..<3 {
                var sent: [Messenger.Message.ID] = []
                for index in 0..<120 {
                    let message = Messenger.SendMessage(chat: chat, content: "\(round) \(index)")
                    sent.append(try await alice.send(message).id)
                }
                for try await message in bob.client.history(of: chat) { copy[message.id] = message.content }
                for (index, id) in sent.enumerated() where index % 8 != 0 {
                    if index % 2 == 0 {
                        try await alice.send(Messenger.EditMessage(chat: chat, message: id, content: "edited \(index)"))
                    } else {
                        try await alice.send(Messenger.DeleteMessage(chat: chat, message: id))
                    }
                }
                let answer = try await bob.client.changes(of: chat, after: version)
                #expect(answer.isComplete && answer.changes.count == 105)
                for change in answer.changes { copy[change.id] = change.content }
                version = answer.version
                var list: [Messenger.Message.ID: String] = [:]
                for try await message in bob.client.history(of: chat) { list[message.id] = message.content }
                #expect(copy == list)
            }
        }
    }
}
