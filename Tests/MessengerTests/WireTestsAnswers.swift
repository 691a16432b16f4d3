import Contract
import ContractServer
import Foundation
import MessengerAPI
import NIOCore
import Testbed
import Testing

/// The answers equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct AnswerWireTests {
    private static let ten = time("2026-02-23T10:00:00Z")
    private static let eleven = time("2026-02-23T11:00:00Z")
    private static let sent = time("2026-02-23T11:01:00Z")

    private static let account = Messenger.Account(
        id: 1, username: "alice", email: "alice@example.com", displayName: "Alice", bio: "Hello world", createdAt: ten,
        avatar: nil)
    private static let chat = Messenger.Chat(
        id: 5, type: .group, name: "Team Alpha", owner: 1, createdAt: ten,
        members: [
            .init(id: 1, username: "alice", displayName: "Alice", role: .owner),
            .init(id: 2, username: "bob", displayName: "Bob", role: .member),
        ])
    private static let row = Messenger.ChatSummary(
        id: 5, type: .direct, name: nil, updatedAt: eleven, lastMessage: "Hey there!")
    private static let hello = Messenger.Message(
        id: 99, chat: 5, sender: 1, content: "Hello!", type: .text, file: nil, createdAt: sent)
    private static let edited: Messenger.Message = {
        var message = hello
        message.edited = .init(wrappedValue: time("2026-02-23T11:05:00Z"))
        return message
    }()
    private static let withFile: Messenger.Message = {
        var message = hello
        message.described = .init(
            wrappedValue: .init(filename: "photo.jpg", mimeType: "image/jpeg", size: 52_100))
        return message
    }()

    private static let withPeer: Messenger.ChatSummary = {
        var chat = row
        chat.describedPeer = .init(
            wrappedValue: .init(id: 2, username: "bob", displayName: "Bob", avatar: nil))
        return chat
    }()
    private static let withNewest: Messenger.ChatSummary = {
        var chat = row
        chat.describedMessage = .init(wrappedValue: hello)
        return chat
    }()

    private static let muted: Messenger.ChatSummary = {
        var chat = row
        chat.describedMute = .init(wrappedValue: nil)
        return chat
    }()

    /// The values of the answers in the examples.
    static let answers: [ExampleAnswer] = [
        .init(of: Messenger.Register.self, .init(id: 1, username: "alice")),
        .init(
            of: Messenger.Login.self,
            .init(accessToken: "eyJ...", refreshToken: "eyJ...", expiresIn: 3600, user: 1)),
        .init(of: Messenger.Refresh.self, .init(accessToken: "eyJ...", expiresIn: 3600)),
        .init(of: Messenger.GetMe.self, account),
        .init(of: GetAbout<Messenger>.self, .example),
        .init(of: Messenger.UpdateMe.self, account),
        .init(
            of: Messenger.RequestArchive.self,
            .init(
                state: .ready, requestedAt: time("2026-02-23T10:00:00Z"), size: 1_048_576,
                url: "https://example.com/objects/archive.zip", expiresAt: time("2026-02-25T10:00:00Z"))),
        .init(
            of: Messenger.GetArchive.self,
            .init(
                state: .ready, requestedAt: time("2026-02-23T10:00:00Z"), size: 1_048_576,
                url: "https://example.com/objects/archive.zip", expiresAt: time("2026-02-25T10:00:00Z"))),
        .init(
            of: Messenger.ListSessions.self,
            [
                .init(
                    id: 4_503_599_627_370_496, device: "Alice's iPhone", createdAt: ten, lastUsedAt: eleven,
                    address: "203.0.113.7", current: true)
            ]),
        .init(of: Messenger.GetUser.self, .init(id: 2, username: "bob", displayName: "Bob", bio: nil, avatar: nil)),
        .init(of: Messenger.SearchUsers.self, [.init(id: 1, username: "alice", displayName: "Alice")]),
        .init(of: Messenger.ListBlocks.self, [.init(id: 2, username: "bob", displayName: "Bob")]),
        .init(of: Messenger.CreateChat.self, .init(id: 5, type: "created")),
        .init(of: Messenger.CreateChat.self, .init(id: 5, type: "existing")),
        .init(of: Messenger.ListChats.self, [row]),
        .init(
            of: Messenger.ListChats.self,
            [
                .init(
                    id: 5, type: .direct, name: nil, updatedAt: eleven, lastMessage: "Hey there!", unreadCount: 3)
            ], contractAlone: [row]),
        .init(of: Messenger.ListChats.self, [withPeer], contractAlone: [row]),
        .init(of: Messenger.ListChats.self, [withNewest], contractAlone: [row]),
        .init(of: Messenger.ListChats.self, [muted], contractAlone: [row]),
        .init(of: Messenger.GetChat.self, chat),
        .init(of: Messenger.AddMembers.self, chat),
        .init(of: Messenger.SendMessage.self, .init(hello)),
        .init(of: Messenger.ListMessages.self, [hello]),
        .init(of: Messenger.ListMessages.self, [edited], contractAlone: [hello]),
        .init(of: Messenger.ListMessages.self, [withFile], contractAlone: [hello]),
        .init(of: Messenger.EditMessage.self, .init(edited)),
        .init(
            of: Messenger.ListChanges.self,
            .init(
                version: 12, isComplete: true,
                changes: [.init(id: 99, content: "Hey?", editedAt: time("2026-02-23T11:05:00Z"))])),
        .init(
            of: Messenger.GetReceipts.self, [.init(user: 2, lastRead: 99, readAt: time("2026-02-23T11:02:00Z"))]),
        .init(
            of: Messenger.UploadFile.self,
            .init(id: 42, filename: "photo.jpg", mimeType: "image/jpeg", objectKey: "uuid_photo.jpg")),
        .init(of: Messenger.RegisterDevice.self, .init(id: 7, token: "0a1b2c3d4e5f", environment: .production)),
        .init(of: Messenger.CreateReport.self, .init(id: 1)),
    ]

    @Test(arguments: answers)
    func anAnswerIsAnExample(_ answer: ExampleAnswer) throws { try LawTests.laws.check(answer) }

    @Test func everyExampleHasItsValue() { LawTests.laws.checkExamplesAreUsed(Self.answers) }

    @Test func everyVariantOfAnAnswerIsReadAndWritten() throws { try LawTests.laws.checkAnswers() }

    // MARK: Errors

    @Test(arguments: [
        (400, #"{ "error": "Username must be 3–32 characters" }"#, "Username must be 3–32 characters"),
        (409, #"{ "error": "Username or email already taken" }"#, "Username or email already taken"),
    ])
    func errors(_ status: Int, _ literal: String, _ message: String) throws {
        let problem = Problem(.init(code: status), message)
        let failure = Messenger.Failure(problem, requestID: "never shown")
        #expect(String(buffer: try JSONBody.encode(failure)) == minified(literal))
        #expect(try read(Messenger.Failure.self, literal) == failure)
        #expect(try read(Messenger.Failure.self, literal).message == message)
    }

    @Test func theContractsRefusalOfAUsernameIsTheTypes() {
        let problem = #expect(throws: Problem.self) {
            try Messenger.Register(username: "al", email: "a@b", password: "secret123").validate()
        }
        #expect(problem?.status == .badRequest)
        #expect(problem?.message == "Username must be 3–32 characters")
    }
}

/// An app decodes what older, newer and other servers send (decisions §7).
@Suite(.timeLimit(.minutes(30))) struct LenientDecodingTests {
    /// Decodes a message with additional or changed members.
    private func message(_ more: String, createdAt: String = "2026-02-23T11:01:00Z") throws -> Messenger.Message {
        try read(
            Messenger.Message.self,
            #"{"id": 99, "chat_id": 5, "sender_id": 1, \#(more) "created_at": "\#(createdAt)"}"#)
    }

    @Test(arguments: [
        (#""type": "file","#, "file"), (#""message_type": "file","#, "file"),
        (#""type": "message", "message_type": "voice","#, "voice"),
        (#""message_type": "text", "type": "file","#, "text"),
        ("", "text"), (#""type": null,"#, "text"), (#""type": "file", "message_type": null,"#, "file"),
        (#""message_type": "hologram","#, "hologram"),
    ])
    func aKindHasTwoNames(_ keys: String, _ kind: String) throws {
        #expect(try message(keys + #""content": "Hi","#).type.rawValue == kind)
    }

    @Test(arguments: [("", nil), (#""file_id": null,"#, nil), (#""file_id": 42,"#, 42)])
    func aFileMayBeAbsentNullOrSet(_ key: String, _ file: Int64?) throws {
        let file = file.map { Messenger.File.ID($0) }
        #expect(try message(key + #""type": "text", "content": "Hi","#).file == file)
    }

    @Test(arguments: [("", ""), (#""content": null,"#, ""), (#""content": "Hi","#, "Hi")])
    func contentMayBeNull(_ key: String, _ content: String) throws {
        #expect(try message(key + #""type": "file","#).content == content)
    }

    @Test(arguments: [
        ("2026-02-23T11:01:00Z", 0), ("2026-02-23T11:01:00.5Z", 500), ("2026-02-23T11:01:00.123456Z", 123),
        ("2026-02-23T12:01:00+01:00", 0), ("2026-02-23T11:01:00.000000000Z", 0),
    ])
    func timesHaveAFractionOrNot(_ text: String, _ fraction: Int64) throws {
        let message = try message(#""content": "Hi","#, createdAt: text)
        #expect(message.createdAt.milliseconds == time("2026-02-23T11:01:00Z").milliseconds + fraction)
    }

    @Test func unknownKindsAndRolesSurvive() throws {
        let text = """
            {"id": 5, "type": "channel", "name": null, "owner_id": 1, "created_at": "2026-02-23T10:00:00Z",
             "members": [{"id": 1, "username": "a", "display_name": "A", "role": "moderator", "since": 1}], "more": {}}
            """
        let chat = try read(Messenger.Chat.self, text)
        #expect(chat.type.rawValue == "channel")
        #expect(chat.members.map(\.role.rawValue) == ["moderator"])
        let summaries = try read(
            [Messenger.ChatSummary].self, #"[{"id": 5, "type": "channel", "updated_at": "2026-02-23T10:00:00Z"}]"#)
        #expect(summaries[0].type.rawValue == "channel")
        #expect(summaries[0].name == nil)
        #expect(summaries[0].lastMessage == nil)
    }

    @Test func requestsAreClosedWhereAnswersAreOpen() {
        let kind = Messenger.MessageType(rawValue: "hologram")
        let message = #expect(throws: Problem.self) {
            try Messenger.SendMessage(chat: 5, content: "Hi", type: kind).validate()
        }
        #expect(message?.message == "type must be 'text', 'file' or 'voice'")
        let chat = #expect(throws: Problem.self) {
            try Messenger.CreateChat(type: .init(rawValue: "channel"), members: [2]).validate()
        }
        #expect(chat?.message == "type must be 'direct' or 'group'")
    }
}
