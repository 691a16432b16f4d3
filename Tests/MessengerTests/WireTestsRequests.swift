import Contract
import MessengerAPI
import Testbed
import Testing

/// Every request of the contract, from its code blocks.
@Suite(.timeLimit(.minutes(30))) struct RequestWireTests {
    static let literals: [WireRequest] = [
        WireRequest(
            Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"),
            is: "POST /auth/register",
            #"{ "username": "alice", "email": "alice@example.com", "password": "secret123" }"#),
        WireRequest(
            Messenger.Login(username: "alice", password: "secret123"),
            is: "POST /auth/login",
            #"{ "username": "alice", "password": "secret123" }"#),
        WireRequest(
            Messenger.Refresh(refreshToken: "eyJ..."),
            is: "POST /auth/refresh",
            #"{ "refresh_token": "eyJ..." }"#),
        WireRequest(Messenger.GetMe(), is: "GET /me"),
        WireRequest(Messenger.GetUser(id: 2), is: "GET /users/2"),
        WireRequest(Messenger.SearchUsers("ali"), is: "GET /users/search?q=ali"),
        WireRequest(
            Messenger.CreateChat(type: .direct, members: [2]),
            is: "POST /chats",
            #"{ "type": "direct", "member_ids": [2] }"#),
        WireRequest(
            Messenger.CreateChat(type: .group, name: "Team Alpha", members: [2, 3, 4]),
            is: "POST /chats",
            #"{ "type": "group", "name": "Team Alpha", "member_ids": [2, 3, 4] }"#),
        WireRequest(Messenger.ListChats(), is: "GET /chats"),
        WireRequest(Messenger.GetChat(id: 5), is: "GET /chats/5"),
        WireRequest(
            Messenger.SendMessage(chat: 5, content: "Hello!"),
            is: "POST /chats/5/messages",
            #"{ "content": "Hello!", "type": "text" }"#),
        WireRequest(
            Messenger.SendMessage(chat: 5, content: "", type: .file, file: 42),
            is: "POST /chats/5/messages",
            #"{ "content": "", "type": "file", "file_id": 42 }"#),
        WireRequest(
            Messenger.ListMessages(chat: 5, limit: 50, before: 99), is: "GET /chats/5/messages?limit=50&before=99"),
        WireRequest(
            Messenger.UploadFile(Upload(.bytes([1]), filename: "photo.jpg", contentType: "image/jpeg")),
            is: "POST /files"),
        WireRequest(Messenger.DownloadFile(id: 42), is: "GET /files/42/download"),
    ]

    /// What the decisions add.
    static let additions: [WireRequest] = [
        WireRequest(
            Messenger.Register(username: "alice", email: "a@b", password: "secret123", displayName: "Alice"),
            is: "POST /auth/register",
            #"{"username": "alice", "email": "a@b", "password": "secret123", "display_name": "Alice"}"#),
        WireRequest(
            Messenger.Logout(refreshToken: "eyJ..."), is: "POST /auth/logout", #"{ "refresh_token": "eyJ..." }"#),
        WireRequest(
            Messenger.UpdateMe(displayName: "Alice", bio: .to("Hello world"), avatar: .to(42)), is: "PUT /me",
            #"{"display_name": "Alice", "bio": "Hello world", "avatar_file_id": 42}"#),
        WireRequest(
            Messenger.UpdateMe(bio: .cleared, avatar: .cleared), is: "PUT /me",
            #"{"bio": null, "avatar_file_id": null}"#),
        WireRequest(Messenger.UpdateMe(), is: "PUT /me", "{}"),
        WireRequest(
            Messenger.DeleteMe(password: "secret123"), is: "DELETE /me", #"{"password": "secret123"}"#),
        WireRequest(Messenger.BlockUser(2), is: "POST /users/2/block", "{}"),
        WireRequest(Messenger.UnblockUser(2), is: "DELETE /users/2/block"),
        WireRequest(Messenger.DeleteFile(id: 42), is: "DELETE /files/42"),
        WireRequest(Messenger.ListBlocks(), is: "GET /me/blocks"),
        WireRequest(
            Messenger.CreateReport(user: 2, reason: "spam", details: "Every day"), is: "POST /reports",
            #"{"user_id": 2, "reason": "spam", "details": "Every day"}"#),
        WireRequest(
            Messenger.CreateReport(message: 99, reason: "rude"), is: "POST /reports",
            #"{"message_id": 99, "reason": "rude"}"#),
        WireRequest(
            Messenger.AddMembers(chat: 5, users: [3, 4]), is: "POST /chats/5/members", #"{"user_ids": [3, 4]}"#),
        WireRequest(Messenger.RemoveMember(chat: 5, user: 3), is: "DELETE /chats/5/members/3"),
        WireRequest(Messenger.LeaveChat(chat: 5), is: "POST /chats/5/leave", "{}"),
        WireRequest(
            Messenger.EditMessage(chat: 5, message: 99, content: "Hello?"), is: "PUT /chats/5/messages/99",
            #"{"content": "Hello?"}"#),
        WireRequest(Messenger.DeleteMessage(chat: 5, message: 99), is: "DELETE /chats/5/messages/99"),
        WireRequest(Messenger.MarkRead(chat: 5, message: 99), is: "POST /chats/5/messages/99/read", "{}"),
        WireRequest(Messenger.GetReceipts(chat: 5), is: "GET /chats/5/receipts"),
        WireRequest(Messenger.ListChats(include: .unread), is: "GET /chats?include=unread"),
        WireRequest(
            Messenger.ListMessages(chat: 5, limit: 50, include: .edited),
            is: "GET /chats/5/messages?limit=50&include=edited"),
        WireRequest(Messenger.ListChats(limit: 20, before: 5), is: "GET /chats?limit=20&before=5"),
        WireRequest(
            Messenger.ListMessages(chat: 5, limit: 2, after: 118), is: "GET /chats/5/messages?limit=2&after=118"),
        WireRequest(Messenger.ListMessages(chat: 5), is: "GET /chats/5/messages"),
        WireRequest(
            Messenger.SendMessage(chat: 5, content: "caption", type: .voice, file: 42),
            is: "POST /chats/5/messages",
            #"{"content": "caption", "type": "voice", "file_id": 42}"#),
    ]

    @Test(arguments: literals + additions)
    func travelsAsTheContractSays(_ request: WireRequest) throws { try request.encodes() }

    @Test(arguments: literals + additions)
    func isReadAsTheContractSays(_ request: WireRequest) throws { try request.decodes() }

    /// What a client of another make sends, and what the decisions let it leave out.
    @Test func whatIsLeftOutHasItsDefault() throws {
        func body(_ json: String, id: String = "5") -> RequestCoding.Source {
            .init(captures: [("id", id)], body: Array(json.utf8))
        }
        let message = try RequestCoding.decode(Messenger.SendMessage.self, from: body(#"{"content":"Hi"}"#))
        #expect(message.type == .text)
        #expect(message.file == nil)
        let chat = try RequestCoding.decode(Messenger.CreateChat.self, from: body("{}"))
        #expect(chat.type == .direct)
        #expect(chat.members == [])
        #expect(try RequestCoding.decode(Messenger.AddMembers.self, from: body("{}")).users == [])
        let nulls = #"{"content":"Hi","type":null,"file_id":null,"id":9,"chat_id":9,"sender_id":9,"created_at":"x"}"#
        let full = try RequestCoding.decode(Messenger.SendMessage.self, from: body(nulls))
        #expect("\(full)" == "\(Messenger.SendMessage(chat: 5, content: "Hi"))")
    }

    /// Each operation is in the literals: none escapes the comparison.
    @Test func everyOperationIsHere() {
        let compared = (Self.literals + Self.additions).map { request in
            let path = request.line.split(separator: "?")[0]
            return path.split(separator: "/").map { $0.allSatisfy(\.isNumber) ? "{}" : String($0) }
                .joined(separator: "/")
        }
        for endpoint in Messenger.endpoints {
            let pattern = endpoint.signature.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : String($0) }
                .joined(separator: "/")
            #expect(compared.contains(pattern), "\(endpoint.signature)")
        }
    }
}
