import Contract
import ContractClient
import Database
import DeuceDiaryClient
import DeuceDiaryService
import DunbarClient
import DunbarService
import Foundation
import Identity
import MessengerClient
import MessengerService
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Backend

/// The list of words that a server reports (`--flag-words`): what has one is published, and stands in the queue of reports.
@Suite(.timeLimit(.minutes(30))) struct FlaggedWordTests {
    private func setup() throws -> TestSetup {
        var setup = TestSetup()
        setup.flaggedWords = try WordList("darn\nheck no")
        return setup
    }

    /// A report of the queue: the kind, the thing's id, the copied text and the word.
    private struct Flag: Hashable {
        let kind: ReportedKind
        let thing: String
        let text: String?
        let word: String?

        init(_ kind: ReportedKind, _ thing: some RawRepresentable, _ text: String, _ word: String = "darn") {
            self.kind = kind
            self.thing = "\(thing.rawValue)"
            self.text = text
            self.word = word
        }

        init(_ report: FiledReport) {
            kind = report.kind
            thing = report.thing
            text = report.content
            word = report.flaggedWord
        }
    }

    /// Notes which operations a server accepted with a flagged word, so that none of those that publish texts is forgotten.
    private struct NotingTransport: Transport {
        let base: any Transport
        private let noted = NIOLockedValueBox<[TransportRequest]>([])

        init(_ base: any Transport) { self.base = base }

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            let response = try await base.send(request, progress: progress)
            let text = request.text.lowercased()
            if response.status.code < 300, ["darn", "heck"].contains(where: text.contains) {
                noted.withLockedValue { $0.append(request) }
            }
            return response
        }

        /// Checks that every request of an API with texts that strangers read has been sent with a flagged word.
        func expectAll<API: ServiceAPI>(of _: API.Type) {
            let sent = noted.withLockedValue { $0 }
            let missed = API.endpoints.filter { $0 is any PublishesTexts.Type }.map { $0.signature }.filter {
                operation in
                !sent.contains { $0.isFor(operation) }
            }
            #expect(missed == [])
        }
    }

    private func reports(on node: TestNode<some HostedAPI>) async throws -> [FiledReport] {
        guard let table = node.api.tableOfPeople else { return [] }
        return try await reports(table, node.database)
    }

    private func reports<Table: PeopleTable>(_: Table.Type, _ database: Database) async throws -> [FiledReport] {
        try await database.read { db in
            try ReportQueue<Table>.list(.open, of: "", limit: 100, at: TimeSource.system.milliseconds(), in: db)
        }
    }

    private func flags(on node: TestNode<some HostedAPI>) async throws -> [Flag] {
        try await reports(on: node).sorted { $0.id < $1.id }.map(Flag.init)
    }

    @Test("A message, an edit and a name of Messenger are reported once and published", arguments: Stack.all)
    func messenger(_ stack: Stack) async throws {
        try await withNodes(of: HostedMessenger(), on: stack, try setup()) { nodes in
            let host = nodes[0]
            let transport = NotingTransport(host.transport)
            let client = MessengerClient(baseURL: host.baseURL, transport: transport, retry: .never)
            try await client.send(
                Messenger.Register(username: "darn", email: "anna@example.com", password: "darn darn"))
            let anna = try await client.signIn(username: "darn", password: "darn darn")
            try await client.send(Messenger.UpdateMe(displayName: "Darn it"))
            let chat = try await client.send(Messenger.CreateChat(type: .group, name: "fine", members: [])).id
            let file = try await client.upload(Upload(.bytes(Array("x".utf8)), filename: "a.txt")).id
            let first = try await client.send(
                Messenger.SendMessage(chat: chat, content: "Oh, DARN!", type: .file, file: file)
            ).id
            let second = try await client.send(Messenger.SendMessage(chat: chat, content: "darning")).id
            try await client.send(Messenger.EditMessage(chat: chat, message: second, content: "heck, no"))
            try await client.send(Messenger.EditMessage(chat: chat, message: second, content: "heck no no"))
            let third = try await client.send(Messenger.SendMessage(chat: chat, content: "darn")).id
            let contents = try await client.send(Messenger.ListMessages(chat: chat)).map(\.content)
            #expect(Set(contents) == ["Oh, DARN!", "heck no no", "darn"])
            #expect(
                try await flags(on: host) == [
                    Flag(.person, anna, "darn"), Flag(.message, first, "Oh, DARN!"),
                    Flag(.message, second, "heck, no", "heck no"), Flag(.message, third, "darn"),
                ])
            // The name that changed later is of the person who is reported already; others are reported for theirs.
            for name in ["bert", "cleo"] {
                let other = MessengerClient(baseURL: host.baseURL, transport: transport, retry: .never)
                try await other.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "Secret-123"))
                let id = try await other.signIn(username: name, password: "Secret-123")
                if name == "bert" {
                    try await other.send(Messenger.UpdateMe(bio: .to("so darn")))
                } else {
                    try await other.send(Messenger.CreateChat(type: .group, name: "darn club", members: []))
                }
                let text = name == "bert" ? "so darn" : "darn club"
                #expect(try await flags(on: host).last == Flag(.person, id, text))
            }
            transport.expectAll(of: Messenger.self)
            let shown = try await host.perform(ShowReport(2, format: .text))
            #expect(shown.contains("reported by: the list of words, for \"darn\"\n"), "\(shown)")
            #expect(shown.contains("file 1: \"a.txt\""), "\(shown)")
        }
    }

    @Test("Nobody fills the queue with flagged words", arguments: Stack.Engine.available)
    func bounded(_ engine: Stack.Engine) async throws {
        try await withNodes(of: HostedMessenger(), on: Stack(engine, .inProcess), try setup()) { nodes in
            let host = nodes[0]
            func client(_ name: String) async throws -> MessengerClient {
                let client = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "Secret-123"))
                try await client.signIn(username: name, password: "Secret-123")
                return client
            }
            let (anna, bert) = (try await client("anna"), try await client("bert"))
            for (client, count) in [(anna, 25), (bert, 2)] {
                let chat = try await client.send(Messenger.CreateChat(type: .group, name: "x", members: [])).id
                for number in 1...count {
                    try await client.send(Messenger.SendMessage(chat: chat, content: "darn \(number)"))
                }
            }
            #expect(try await flags(on: host).count == 22)
            // A report that is closed makes room for the next.
            try await host.perform(DismissReport(1, because: "no harm", format: .text))
            let chat = try await anna.send(Messenger.ListChats()).first?.id
            let message = try await anna.send(Messenger.SendMessage(chat: try #require(chat), content: "darn again")).id
            #expect(try await flags(on: host).last == Flag(.message, message, "darn again"))
        }
    }

    @Test("A post, a comment and a profile of Dunbar are reported and published", arguments: Stack.all)
    func dunbar(_ stack: Stack) async throws {
        let hosted = HostedDunbar(
            settings: { DunbarService.Settings(publicURL: $0) }, images: { _ in { _, _, _ in nil } },
            mailer: { _ in TestMailbox() })
        try await withNodes(of: hosted, on: stack, try setup()) { nodes in
            let host = nodes[0]
            let transport = NotingTransport(host.transport)
            func client(_ name: String, _ shown: String) async throws -> (DunbarClient, Dunbar.User.ID) {
                let client = DunbarClient(
                    baseURL: host.baseURL, store: MemoryCookieStore(), transport: transport, retry: .never)
                let registration = Dunbar.Register(
                    username: name, email: "\(name)@example.com", password: "darn darn", displayName: shown)
                return (client, try await client.register(registration).id)
            }
            let (first, anna) = try await client("anna", "Darn")
            let (second, bert) = try await client("bert", "Bert")
            try await second.send(Dunbar.UpdateUser(id: bert, bio: "so darn"))
            let post = try await first.send(Dunbar.CreatePost(content: "heck no"))
            let comment = try await first.send(Dunbar.AddComment(post: post.id, content: " darn "))
            #expect(
                try await flags(on: host) == [
                    Flag(.person, anna, "anna\nDarn"), Flag(.person, bert, "so darn"),
                    Flag(.post, post.id, "heck no", "heck no"), Flag(.comment, comment.id, "darn"),
                ])
            transport.expectAll(of: Dunbar.self)
            // An operator acts on such a report as on any other.
            try await host.perform(ActOnReport(on: 4, [.remove], until: nil, because: "rude", format: .text))
            #expect(try await first.send(Dunbar.ListComments(post: post.id)).isEmpty)
        }
    }

    @Test("An entry, a username, a group and a location of Deuce Diary", arguments: Stack.Engine.available)
    func deuceDiary(_ engine: Stack.Engine) async throws {
        let hosted = HostedDeuceDiary(
            settings: { DeuceDiaryService.Settings(publicURL: $0) },
            tokens: { _ in
                {
                    BearerClaims(
                        subject: $0, email: nil, firstName: "Anna", lastName: "Lee", issuedAt: 0, expiresAt: .max)
                }
            }, pictures: { _ in { _, _ in nil } })
        try await withNodes(of: hosted, on: Stack(engine, .inProcess), try setup()) { nodes in
            let host = nodes[0]
            let transport = NotingTransport(host.transport)
            func client(_ name: String) async throws -> (DeuceDiaryClient, DeuceDiary.User.ID) {
                let client = DeuceDiaryClient(
                    baseURL: host.baseURL, transport: transport, retry: .never, token: { name })
                return (client, try await client.send(DeuceDiary.GetUser()).id)
            }
            let (anna, first) = try await client("user_anna")
            let (bert, second) = try await client("user_bert")
            let (cleo, third) = try await client("user_cleo")
            try await anna.send(DeuceDiary.UpdateUser(username: "darn it"))
            let group = try await bert.send(DeuceDiary.CreateGroup(name: "darn", description: "why not")).id
            try await cleo.send(DeuceDiary.CreateLocation(name: "Darn place"))
            let entry = try await bert.send(
                DeuceDiary.LogDeuce(groups: [group], location: "Home", thoughts: "heck no")
            ).entries[0].id
            #expect(
                try await flags(on: host) == [
                    Flag(.person, first, "darn it"), Flag(.person, second, "darn\nwhy not"),
                    Flag(.person, third, "Darn place"), Flag(.entry, entry, "Home\nheck no", "heck no"),
                ])
            transport.expectAll(of: DeuceDiary.self)
        }
    }
}
