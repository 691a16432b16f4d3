import Contract
import ContractServer
import Foundation
import HTTPTypes
import MessengerAPI
import NIOCore
import Testbed
import Testing

/// Every answer of the contract, from its code blocks.
@Suite(.timeLimit(.minutes(30))) struct AnswerWireTests {
    private static let noon = time("2026-02-23T11:01:00Z")

    static let literals: [WireAnswer] = [
        WireAnswer(
            of: Messenger.Register.self, 201, #"{ "id": 1, "username": "alice" }"#,
            is: .init(id: 1, username: "alice")),
        WireAnswer(
            of: Messenger.Login.self, 200,
            """
            {
              "access_token": "eyJ...",
              "refresh_token": "eyJ...",
              "token_type": "Bearer",
              "expires_in": 3600,
              "user_id": 1
            }
            """,
            is: .init(accessToken: "eyJ...", refreshToken: "eyJ...", expiresIn: 3600, user: 1)),
        WireAnswer(
            of: Messenger.Refresh.self, 200,
            #"{ "access_token": "eyJ...", "token_type": "Bearer", "expires_in": 3600 }"#,
            is: .init(accessToken: "eyJ...", expiresIn: 3600)),
        WireAnswer(
            of: Messenger.GetMe.self, 200,
            """
            {
              "id": 1,
              "username": "alice",
              "email": "alice@example.com",
              "display_name": "Alice",
              "bio": "Hello world",
              "created_at": "2026-02-23T10:00:00Z"
            }
            """,
            is: .init(
                id: 1, username: "alice", email: "alice@example.com", displayName: "Alice", bio: "Hello world",
                createdAt: time("2026-02-23T10:00:00Z"), avatar: nil),
            written: """
                {"id": 1, "username": "alice", "email": "alice@example.com", "display_name": "Alice",
                 "bio": "Hello world", "created_at": "2026-02-23T10:00:00Z", "avatar_file_id": null}
                """),
        WireAnswer(
            of: Messenger.GetUser.self, 200,
            #"{ "id": 2, "username": "bob", "display_name": "Bob", "bio": null }"#,
            is: .init(id: 2, username: "bob", displayName: "Bob", bio: nil, avatar: nil),
            written: #"{"id": 2, "username": "bob", "display_name": "Bob", "bio": null, "avatar_file_id": null}"#),
        WireAnswer(
            of: Messenger.SearchUsers.self, 200,
            #"[{ "id": 1, "username": "alice", "display_name": "Alice" }]"#,
            is: [.init(id: 1, username: "alice", displayName: "Alice")]),
        WireAnswer(
            of: Messenger.CreateChat.self, 201, #"{ "id": 5, "type": "created" }"#, is: .init(id: 5, type: "created")),
        WireAnswer(
            of: Messenger.ListChats.self, 200,
            """
            [{
              "id": 5,
              "type": "direct",
              "name": null,
              "updated_at": "2026-02-23T11:00:00Z",
              "last_message": "Hey there!"
            }]
            """,
            is: [
                .init(
                    id: 5, type: .direct, name: nil, updatedAt: time("2026-02-23T11:00:00Z"),
                    lastMessage: "Hey there!")
            ]),
        WireAnswer(
            of: Messenger.GetChat.self, 200,
            """
            {
              "id": 5,
              "type": "group",
              "name": "Team Alpha",
              "owner_id": 1,
              "created_at": "2026-02-23T10:00:00Z",
              "members": [
                { "id": 1, "username": "alice", "display_name": "Alice", "role": "owner" },
                { "id": 2, "username": "bob",   "display_name": "Bob",   "role": "member" }
              ]
            }
            """,
            is: .init(
                id: 5, type: .group, name: "Team Alpha", owner: 1, createdAt: time("2026-02-23T10:00:00Z"),
                members: [
                    .init(id: 1, username: "alice", displayName: "Alice", role: .owner),
                    .init(id: 2, username: "bob", displayName: "Bob", role: .member),
                ])),
        WireAnswer(
            of: Messenger.SendMessage.self, 201,
            """
            {
              "id": 99,
              "chat_id": 5,
              "sender_id": 1,
              "content": "Hello!",
              "type": "text",
              "created_at": "2026-02-23T11:01:00Z"
            }
            """,
            is: .init(.init(id: 99, chat: 5, sender: 1, content: "Hello!", type: .text, file: nil, createdAt: noon)),
            written: """
                {"id": 99, "chat_id": 5, "sender_id": 1, "content": "Hello!", "type": "text", "file_id": null,
                 "created_at": "2026-02-23T11:01:00Z"}
                """),
        WireAnswer(
            of: Messenger.ListMessages.self, 200,
            """
            [{
              "id": 99,
              "chat_id": 5,
              "sender_id": 1,
              "content": "Hello!",
              "message_type": "text",
              "created_at": "2026-02-23T11:01:00Z"
            }]
            """,
            is: [.init(id: 99, chat: 5, sender: 1, content: "Hello!", type: .text, file: nil, createdAt: noon)],
            written: """
                [{"id": 99, "chat_id": 5, "sender_id": 1, "content": "Hello!", "message_type": "text",
                  "file_id": null, "created_at": "2026-02-23T11:01:00Z"}]
                """),
        WireAnswer(
            of: Messenger.UploadFile.self, 201,
            """
            {
              "id": 42,
              "filename": "photo.jpg",
              "mime_type": "image/jpeg",
              "object_key": "uuid_photo.jpg"
            }
            """,
            is: .init(id: 42, filename: "photo.jpg", mimeType: "image/jpeg", objectKey: "uuid_photo.jpg")),
    ]

    /// What the contract's examples do not show: values where they have null, and null where they have values.
    static let variants: [WireAnswer] = [
        WireAnswer(
            of: Messenger.GetMe.self, 200,
            """
            {"id": 1, "username": "alice", "email": "a@b", "display_name": "Alice", "bio": null,
             "created_at": "2026-02-23T10:00:00Z", "avatar_file_id": 42}
            """,
            is: .init(
                id: 1, username: "alice", email: "a@b", displayName: "Alice", bio: nil,
                createdAt: time("2026-02-23T10:00:00Z"), avatar: 42)),
        WireAnswer(
            of: Messenger.UpdateMe.self, 200,
            """
            {"id": 1, "username": "alice", "email": "a@b", "display_name": "Alice", "bio": "Hello world",
             "created_at": "2026-02-23T10:00:00Z", "avatar_file_id": 42}
            """,
            is: .init(
                id: 1, username: "alice", email: "a@b", displayName: "Alice", bio: "Hello world",
                createdAt: time("2026-02-23T10:00:00Z"), avatar: 42)),
        WireAnswer(of: Messenger.ListBlocks.self, 200, "[]", is: []),
        WireAnswer(
            of: Messenger.ListBlocks.self, 200, #"[{"id": 2, "username": "bob", "display_name": "Bob"}]"#,
            is: [.init(id: 2, username: "bob", displayName: "Bob")]),
        WireAnswer(of: Messenger.CreateReport.self, 201, #"{"id": 12}"#, is: .init(id: 12)),
        WireAnswer(
            of: Messenger.GetUser.self, 200,
            #"{"id": 2, "username": "bob", "display_name": "Bob", "bio": "Hi", "avatar_file_id": 42}"#,
            is: .init(id: 2, username: "bob", displayName: "Bob", bio: "Hi", avatar: 42)),
        WireAnswer(
            of: Messenger.CreateChat.self, 201, #"{"id": 5, "type": "existing"}"#, is: .init(id: 5, type: "existing")),
        WireAnswer(
            of: Messenger.ListChats.self, 200,
            """
            [{"id": 6, "type": "group", "name": "Team", "updated_at": "2026-02-23T11:00:00Z", "last_message": null},
             {"id": 5, "type": "direct", "name": null, "updated_at": "2026-02-23T11:00:00Z", "last_message": ""}]
            """,
            is: [
                .init(id: 6, type: .group, name: "Team", updatedAt: time("2026-02-23T11:00:00Z"), lastMessage: nil),
                .init(id: 5, type: .direct, name: nil, updatedAt: time("2026-02-23T11:00:00Z"), lastMessage: ""),
            ]),
        WireAnswer(
            of: Messenger.GetChat.self, 200,
            """
            {"id": 5, "type": "direct", "name": null, "owner_id": 1, "created_at": "2026-02-23T10:00:00Z",
             "members": []}
            """,
            is: .init(
                id: 5, type: .direct, name: nil, owner: 1, createdAt: time("2026-02-23T10:00:00Z"), members: [])),
        WireAnswer(
            of: Messenger.AddMembers.self, 200,
            """
            {"id": 5, "type": "group", "name": "Team Alpha", "owner_id": 1, "created_at": "2026-02-23T10:00:00Z",
             "members": [{"id": 1, "username": "alice", "display_name": "Alice", "role": "owner"}]}
            """,
            is: .init(
                id: 5, type: .group, name: "Team Alpha", owner: 1, createdAt: time("2026-02-23T10:00:00Z"),
                members: [.init(id: 1, username: "alice", displayName: "Alice", role: .owner)])),
        WireAnswer(
            of: Messenger.SendMessage.self, 201,
            """
            {"id": 99, "chat_id": 5, "sender_id": 1, "content": "", "type": "file", "file_id": 42,
             "created_at": "2026-02-23T11:01:00Z"}
            """,
            is: .init(.init(id: 99, chat: 5, sender: 1, content: "", type: .file, file: 42, createdAt: noon))),
        WireAnswer(
            of: Messenger.ListMessages.self, 200,
            """
            [{"id": 99, "chat_id": 5, "sender_id": 1, "content": "", "message_type": "voice", "file_id": 42,
              "created_at": "2026-02-23T11:01:00Z"}]
            """,
            is: [.init(id: 99, chat: 5, sender: 1, content: "", type: .voice, file: 42, createdAt: noon)]),
        WireAnswer(
            of: Messenger.EditMessage.self, 200,
            """
            {"id": 99, "chat_id": 5, "sender_id": 1, "content": "Hello?", "type": "text", "file_id": null,
             "created_at": "2026-02-23T11:01:00Z", "edited_at": "2026-02-23T11:05:00Z"}
            """,
            is: .init(hello("Hello?", edited: time("2026-02-23T11:05:00Z")))),
        WireAnswer(
            of: Messenger.ListMessages.self, 200,
            """
            [{"id": 99, "chat_id": 5, "sender_id": 1, "content": "Hello?", "message_type": "text", "file_id": null,
              "created_at": "2026-02-23T11:01:00Z", "edited_at": "2026-02-23T11:05:00Z"},
             {"id": 99, "chat_id": 5, "sender_id": 1, "content": "Hello!", "message_type": "text", "file_id": null,
              "created_at": "2026-02-23T11:01:00Z", "edited_at": null}]
            """,
            is: [hello("Hello?", edited: time("2026-02-23T11:05:00Z")), hello("Hello!", edited: nil)]),
        WireAnswer(
            of: Messenger.ListChats.self, 200,
            """
            [{"id": 5, "type": "direct", "name": null, "updated_at": "2026-02-23T11:00:00Z", "last_message": "Hey",
              "unread_count": 3}]
            """,
            is: [
                .init(
                    id: 5, type: .direct, name: nil, updatedAt: time("2026-02-23T11:00:00Z"), lastMessage: "Hey",
                    unreadCount: 3)
            ]),
        WireAnswer(
            of: Messenger.GetReceipts.self, 200,
            #"[{"user_id": 2, "last_read_message_id": 99, "read_at": "2026-02-23T11:01:00Z"}]"#,
            is: [.init(user: 2, lastRead: 99, readAt: noon)]),
        WireAnswer(of: Messenger.GetReceipts.self, 200, "[]", is: []),
        WireAnswer(of: Messenger.ListMessages.self, 200, "[]", is: []),
        WireAnswer(of: Messenger.SearchUsers.self, 200, "[]", is: []),
        WireAnswer(of: Messenger.ListChats.self, 200, "[]", is: []),
    ]

    private static func hello(_ content: String, edited: Messenger.Timestamp?) -> Messenger.Message {
        var message = Messenger.Message(
            id: 99, chat: 5, sender: 1, content: content, type: .text, file: nil, createdAt: noon)
        message.edited = .init(wrappedValue: edited)
        return message
    }

    @Test(arguments: literals + variants)
    func isReadAsTheContractSays(_ answer: WireAnswer) throws { try answer.decodes() }

    @Test(arguments: literals + variants)
    func isWrittenAsTheContractSays(_ answer: WireAnswer) throws { try answer.encodes() }

    @Test func answersWithoutABody() {
        #expect(Messenger.DownloadFile.route.status.code == 302)
        #expect(Messenger.DownloadFile.Output.self == Empty.self)
        for endpoint in [
            Messenger.Logout.self, Messenger.RemoveMember.self, Messenger.LeaveChat.self, Messenger.DeleteMessage.self,
            Messenger.MarkRead.self, Messenger.DeleteFile.self, Messenger.DeleteMe.self, Messenger.BlockUser.self,
            Messenger.UnblockUser.self,
        ] as [any Endpoint.Type] {
            #expect(endpoint.route.status.code == 204, "\(endpoint.signature)")
            let hasNoOutput = endpoint.hasNoOutput
            #expect(hasNoOutput, "\(endpoint.signature)")
        }
    }

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

extension Endpoint {
    fileprivate static var hasNoOutput: Bool { Output.self == Empty.self }
}

/// What an app must survive of older, newer and other servers (decisions §7).
@Suite(.timeLimit(.minutes(30))) struct ToleranceTests {
    /// A message with these keys beside those that every message has.
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
    func aKindGoesByEitherName(_ keys: String, _ kind: String) throws {
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
