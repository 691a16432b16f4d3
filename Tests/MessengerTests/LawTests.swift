import Backend
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerAPI
import Testbed
import Testing

extension Example {
    /// One for every operation; of each optional field one that has it.
    static let all: [Example] = {
        do {
            return [
                try Example(
                    Messenger.Register(
                        username: "älice \"b\"", email: "a+b@example.com", password: "p\\ss/word 🎉", displayName: "A")),
                try Example(Messenger.Login(username: "alice", password: " ")),
                try Example(Messenger.Refresh(refreshToken: "eyJ.a-b_c")),
                try Example(Messenger.Logout(refreshToken: "eyJ.a-b_c")),
                try Example(Messenger.GetMe()),
                try Example(Messenger.UpdateMe()),
                try Example(
                    Messenger.UpdateMe(displayName: "Älice \"b\"", bio: .to("\r\n\t\u{1F}é🎉"), avatar: .to(.init(.max)))
                ),
                try Example(Messenger.UpdateMe(bio: .cleared, avatar: .cleared)),
                try Example(Messenger.DeleteMe(password: "p\\ss/word 🎉")),
                try Example(Messenger.BlockUser(7)),
                try Example(Messenger.UnblockUser(7)),
                try Example(Messenger.ListBlocks()),
                try Example(Messenger.GetUser(id: 7)),
                try Example(Messenger.SearchUsers("50% & a+b=c?/#é")),
                try Example(Messenger.CreateChat.direct(with: 2)),
                try Example(Messenger.CreateChat.group("Team \"α\"", members: [2, 3, .init(.max)])),
                try Example(Messenger.ListChats()),
                try Example(Messenger.ListChats(limit: 3, before: 9)),
                try Example(Messenger.GetChat(id: 7)),
                try Example(Messenger.AddMembers(chat: 7, users: [8, .init(.max)])),
                try Example(Messenger.RemoveMember(chat: 7, user: 7)),
                try Example(Messenger.LeaveChat(chat: 7)),
                try Example(Messenger.SendMessage(chat: 7, content: "\r\n\t\u{1F}é🎉")),
                try Example(Messenger.SendMessage(chat: 7, content: "", type: .voice, file: 8)),
                try Example(Messenger.ListMessages(chat: 7)),
                try Example(Messenger.ListMessages(chat: 7, limit: 50, before: 99)),
                try Example(Messenger.ListMessages(chat: 7, limit: 50, after: 0)),
                try Example(Messenger.ListMessages(chat: 7, include: .edited)),
                try Example(Messenger.ListChats(include: .init(rawValue: "unread, x&y"))),
                try Example(Messenger.EditMessage(chat: 7, message: 7, content: "\r\n\t\u{1F}é🎉")),
                try Example(Messenger.DeleteMessage(chat: 7, message: 7)),
                try Example(Messenger.MarkRead(chat: 7, message: 7)),
                try Example(Messenger.GetReceipts(chat: 7)),
                try Example(
                    Messenger.UploadFile(Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg"))),
                try Example(Messenger.DownloadFile(id: 7)),
                try Example(Messenger.DeleteFile(id: 7)),
                try Example(Messenger.CreateReport(user: 7, reason: "x")),
                try Example(Messenger.CreateReport(user: 7, message: 8, reason: "é🎉", details: "\r\n")),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct LawTests {
    /// The contract's headings, in its order, each followed by what the decisions add to its section.
    static let summary = [
        "POST /auth/register", "POST /auth/login", "POST /auth/refresh", "POST /auth/logout", "GET /me",
        "PUT /me", "DELETE /me",
        "GET /users/{id}", "GET /users/search",
        "POST /users/{id}/block", "DELETE /users/{id}/block", "GET /me/blocks",
        "POST /chats", "GET /chats", "GET /chats/{id}",
        "POST /chats/{id}/members", "DELETE /chats/{id}/members/{userId}", "POST /chats/{id}/leave",
        "POST /chats/{id}/messages", "GET /chats/{id}/messages",
        "PUT /chats/{id}/messages/{msgId}", "DELETE /chats/{id}/messages/{msgId}",
        "POST /chats/{id}/messages/{msgId}/read", "GET /chats/{id}/receipts",
        "POST /files", "GET /files/{id}/download", "DELETE /files/{id}",
        "POST /reports",
    ]

    /// Those that anybody may call (decisions §3).
    static let open: Set = ["POST /auth/register", "POST /auth/login", "POST /auth/refresh", "POST /auth/logout"]

    /// Decisions §1: "register, POST /chats, messages, files, members, reports".
    static let keyed: Set = [
        "POST /auth/register", "POST /chats", "POST /chats/{id}/messages", "POST /files", "POST /chats/{id}/members",
        "POST /reports",
    ]

    static let laws = Laws<Messenger>(summary: summary, open: open, examples: Example.all) { _, message, _ in
        #"{"error":"\#(message)"}"#
    }

    // MARK: Of the types

    @Test func theTypesAreTheContracts() {
        Self.laws.holdTheTypes()
        Self.laws.holdTheKeys(Self.keyed)
    }

    @Test(arguments: Example.all)
    func aRequestSurvivesTheWire(_ example: Example) throws { try example.surviveTheWire() }

    // MARK: Of the server

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let beyond = Self.laws.beyond(host.app.router)
            // Stored objects refuse every method but two in their own words: the signature names it.
            let objects = beyond.filter { $0.hasSuffix(" /objects/{key*}") }
            #expect(beyond.subtracting(objects) == ["GET /health", "GET /ready"])
            #expect(objects.isSuperset(of: ["GET /objects/{key*}", "HEAD /objects/{key*}"]))
        }
    }

    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            try await Self.laws.refuseStrangers(of: host, "Missing Authorization header")
        }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredToAnybody(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { try await Self.laws.answerHealth(of: $0) }
    }

    @Test(arguments: [
        ("Basic YTpi", "Authorization header must start with 'Bearer '"),
        ("Bearer", "Authorization header must start with 'Bearer '"),
        ("Bearer x", "Invalid or expired token"),
        ("Bearer a.b.c", "Invalid or expired token"),
    ])
    func withABadTokenNothingIsLookedAtEither(_ header: String, _ message: String) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in Example.all where example.needsCaller {
                let answer = try await raw.send(
                    example.route.method, example.path, headers: [.authorization: header], body: "{")
                #expect(answer.status == 401, "\(example.signature)")
                #expect(try answer.json() == ["error": .string(message)])
            }
        }
    }

    @Test(arguments: Stack.all)
    func unknownPathsAre404(_ stack: Stack) async throws {
        let paths = [
            "/", "/nowhere", "/ME", "/me/", "/me/x", "/users", "/users/abc", "/users/1.0", "/users/-1", "/users/1/x",
            "/users/%D9%A1", "/users/search/", "/chats/", "/chats/x/messages", "/chats/1/messages/",
            "/chats/1/messages/x", "/files/1/x", "/files/x/download", "/files/1/download/", "/auth", "/auth/login/",
            "/health/", "/ws/x",
        ]
        try await withMessenger(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for path in paths {
                for method in [HTTPRequest.Method.get, .post, .delete] {
                    let answer = try await raw.send(method, path)
                    #expect(answer.status == 404, "\(method) \(path)")
                    #expect(answer.text == #"{"error":"Not found"}"#)
                }
            }
        }
    }
}
