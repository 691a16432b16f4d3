import ContractClient
import DeuceDiaryClient
import DeuceDiaryService
import DunbarClient
import DunbarService
import Foundation
import Identity
import MessengerClient
import MessengerService
import Testbed
import Testing

@testable import Backend

/// The list of words that a server refuses, by itself and in the APIs whose texts strangers read.
@Suite(.timeLimit(.minutes(30))) struct WordListTests {
    private static let refusal = "Text contains a word that is not allowed here"

    private static func has(_ text: String, _ list: WordList) -> Bool {
        do {
            try list.review([text])
            return false
        } catch {
            return true
        }
    }

    @Test func wordsAreFoundAsNamesAreCompared() throws {
        let list = try WordList("# rude\n\nDarn\r\nheck no\nStraße\n愚か\n")
        for text in [
            "darn", "DARN!", "oh, darn.", "ｄａｒｎ", "da\u{200B}rn", "darn_it", "heck no", "Heck,\n NO", "heck-no",
            "STRASSE",
            "(愚か)",
        ] {
            #expect(Self.has(text, list), "\(text)")
        }
        for text in ["", "darning", "undarn", "heck", "no heck", "heck not", "heck yes no", "d a r n"] {
            #expect(!Self.has(text, list), "\(text)")
        }
    }

    @Test func aListThatCannotBeUsedIsRefused() throws {
        let mistakes = [
            ("ok\n!!\n", "line 2 has no word"),
            (String(repeating: "x", count: 101), "line 1 is longer than 100 characters"),
            ((0...10_000).map { "word\($0)" }.joined(separator: "\n"), "it has more than 10000 entries"),
        ]
        for (text, sentence) in mistakes {
            let mistake = #expect(throws: WordList.Mistake.self) { try WordList(text) }
            #expect(mistake?.description == sentence)
        }
        #expect(!Self.has("anything", try WordList("")))
    }

    private func setup() throws -> TestSetup {
        var setup = TestSetup()
        setup.words = try WordList("darn")
        return setup
    }

    @Test(arguments: Stack.all)
    func messenger(_ stack: Stack) async throws {
        try await withNodes(of: HostedMessenger(), on: stack, try setup()) { nodes in
            let host = nodes[0]
            let client = MessengerClient(baseURL: host.baseURL, transport: host.transport, retry: .never)
            func refused(_ body: () async throws -> Void) async {
                let error = await #expect(throws: Messenger.APIError.self) { try await body() }
                #expect(error?.status.code == 400 && error?.message == Self.refusal)
            }
            func registration(_ name: String) -> Messenger.Register {
                Messenger.Register(username: name, email: "anna@example.com", password: "darn darn")
            }
            await refused { try await client.send(registration("the darn one")) }
            try await client.send(registration("anna"))
            try await client.signIn(username: "anna", password: "darn darn")
            await refused { try await client.send(Messenger.UpdateMe(displayName: "Darn")) }
            await refused { try await client.send(Messenger.UpdateMe(bio: .to("so darn"))) }
            await refused { try await client.send(Messenger.CreateChat(type: .group, name: "darn", members: [])) }
            let chat = try await client.send(Messenger.CreateChat(type: .group, name: "fine", members: [])).id
            await refused { try await client.send(Messenger.SendMessage(chat: chat, content: "darn!")) }
            let message = try await client.send(Messenger.SendMessage(chat: chat, content: "darning")).id
            await refused {
                try await client.send(Messenger.EditMessage(chat: chat, message: message, content: "DARN"))
            }
            try await client.send(Messenger.UpdateMe(displayName: "Anna", bio: .cleared))
        }
    }

    @Test(arguments: Stack.all)
    func dunbar(_ stack: Stack) async throws {
        let hosted = HostedDunbar(
            settings: { DunbarService.Settings(publicURL: $0) }, images: { _ in { _, _, _ in nil } },
            mailer: { _ in TestMailbox() })
        try await withNodes(of: hosted, on: stack, try setup()) { nodes in
            let host = nodes[0]
            let client = DunbarClient(
                baseURL: host.baseURL, store: MemoryCookieStore(), transport: host.transport, retry: .never)
            func refused(_ body: () async throws -> Void) async {
                let error = await #expect(throws: Dunbar.APIError.self) { try await body() }
                #expect(error?.status == 400 && error?.message == Self.refusal)
            }
            func registration(_ name: String) -> Dunbar.Register {
                .init(username: "anna", email: "anna@example.com", password: "darn darn", displayName: name)
            }
            await refused { try await client.register(registration("Darn")) }
            let anna = try await client.register(registration("Anna")).id
            await refused { try await client.send(Dunbar.UpdateUser(id: anna, bio: "darn")) }
            await refused { try await client.send(Dunbar.CreatePost(content: "darn")) }
            let post = try await client.send(Dunbar.CreatePost(content: "fine")).id
            await refused { try await client.send(Dunbar.AddComment(post: post, content: "darn")) }
            _ = try await client.send(Dunbar.AddComment(post: post, content: "fine"))
        }
    }

    @Test(arguments: Stack.Engine.available)
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
            let client = DeuceDiaryClient(
                baseURL: host.baseURL, transport: host.transport, retry: .never, token: { "user_anna" })
            func refused(_ body: () async throws -> Void) async {
                let error = await #expect(throws: DeuceDiary.APIError.self) { try await body() }
                #expect(error?.status.code == 400 && error?.message == Self.refusal)
            }
            await refused { try await client.send(DeuceDiary.UpdateUser(username: "darn it")) }
            await refused { try await client.send(DeuceDiary.CreateGroup(name: "darn")) }
            let group = try await client.send(DeuceDiary.CreateGroup(name: "fine")).id
            await refused {
                try await client.send(DeuceDiary.LogDeuce(groups: [group], location: "Home", thoughts: "darn"))
            }
            try await client.send(DeuceDiary.LogDeuce(groups: [group], location: "Home", thoughts: "fine"))
        }
    }
}
