import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import MessengerMocks
import Testbed
import Testing

/// The mock behaves as an app's tests and previews expect.
@Suite(.timeLimit(.minutes(30))) struct MessengerMockTests {
    private let mock = MessengerMock()

    private func refusal(_ body: () async throws -> Void) async throws -> APIError {
        try #require(await #expect(throws: APIError.self) { try await body() })
    }

    // MARK: The session

    @Test func aPreviewIsSignedInAsAlice() async throws {
        let messenger = MessengerClient.mock()
        #expect(try await messenger.user == 1)
        #expect(try await messenger.send(Messenger.GetMe()) == .example)
        #expect(try await messenger.send(Messenger.GetUser(id: 1)).username == "alice")
    }

    @Test func signingInAndOutGoesThroughTheRealSDK() async throws {
        let messenger = mock.client(signedIn: false)
        await #expect(throws: SignedOut()) { try await messenger.send(Messenger.GetMe()) }
        let user = try await messenger.signIn(username: "somebody", password: "anything")
        #expect(user == 1)
        try await messenger.send(Messenger.GetMe())
        try await messenger.signOut()
        #expect(try await messenger.user == nil)
        await #expect(throws: SignedOut()) { try await messenger.send(Messenger.GetMe()) }
        #expect(
            mock.requests.map { type(of: $0).signature } == ["POST /auth/login", "GET /me", "POST /auth/logout"])
        // A session that has ended cannot be renewed.
        let token = try #require(mock.requests(Messenger.Logout.self).first).refreshToken
        let error = try await refusal { try await messenger.send(Messenger.Refresh(refreshToken: token)) }
        #expect(error.message == "Invalid or expired refresh token")
    }

    @Test func theSDKsOwnRefusalsCanBeMocked() async throws {
        let messenger = mock.client(signedIn: false)
        let error = try await refusal { try await messenger.signIn(username: "alice", password: "") }
        #expect(error.message == "username and password required")
        #expect(mock.requests.isEmpty)
    }

    @Test func anExpiredTokenIsRenewedByTheSDK() async throws {
        let (phone, pad) = (mock.client(), mock.client())
        try await phone.send(Messenger.GetMe())
        mock.expireAccessTokens()
        try await phone.send(Messenger.GetMe())
        try await phone.send(Messenger.GetMe())
        #expect(
            mock.requests.map { type(of: $0).signature }
                == ["GET /me", "GET /me", "POST /auth/refresh", "GET /me", "GET /me"])
        try await phone.signOut()
        try await pad.send(Messenger.GetMe())
    }

    @Test func anEndedSessionSignsOut() async throws {
        let messenger = mock.client()
        mock.endSessions()
        await #expect(throws: SignedOut()) { try await messenger.send(Messenger.GetMe()) }
        #expect(try await messenger.user == nil)
        try await messenger.signIn(username: "alice", password: "secret123")
        try await messenger.send(Messenger.GetMe())
    }

    /// An app may have a token store of its own.
    @Test func aTokenFromElsewhereIsValidUntilItIsRevoked() async throws {
        let tokens = StoredTokens(accessToken: "x", refreshToken: "y", expiresAt: .distantFuture, user: "1")
        let messenger = MessengerClient(
            baseURL: mock.baseURL, store: MemoryTokenStore(tokens), transport: mock, retry: .never)
        try await messenger.send(Messenger.GetMe())
        mock.expireAccessTokens()
        try await messenger.send(Messenger.GetMe())
        mock.endSessions()
        await #expect(throws: SignedOut()) { try await messenger.send(Messenger.GetMe()) }
    }

    // MARK: The examples' world

    @Test func unknownIdsAreRefusedAsTheContractSays() async throws {
        let messenger = mock.client()
        func refused(_ status: HTTPResponse.Status, _ message: String, _ body: () async throws -> Void) async throws {
            let error = try await refusal(body)
            #expect(error.status == status)
            #expect(error.message == message)
        }
        try await refused(.notFound, "User not found") { try await messenger.send(Messenger.GetUser(id: 7)) }
        try await refused(.notFound, "Chat not found or access denied") {
            try await messenger.send(Messenger.GetChat(id: 7))
        }
        try await refused(.notFound, "Chat not found or access denied") {
            try await messenger.send(Messenger.LeaveChat(chat: 7))
        }
        try await refused(.notFound, "Member not found") {
            try await messenger.send(Messenger.RemoveMember(chat: 5, user: 7))
        }
        try await refused(.badRequest, "Use leave") {
            try await messenger.send(Messenger.RemoveMember(chat: 5, user: 1))
        }
        try await refused(.forbidden, "Not a member of this chat") {
            try await messenger.send(Messenger.SendMessage(chat: 7, content: "Hi"))
        }
        try await refused(.forbidden, "Not a member of this chat") {
            try await messenger.send(Messenger.ListMessages(chat: 7))
        }
        mock.push("Bob's")
        try await refused(.forbidden, "Only the sender can change a message") {
            try await messenger.send(Messenger.EditMessage(chat: 5, message: 100, content: "Mine"))
        }
        for message in [98, 101] as [Messenger.Message.ID] {
            try await refused(.notFound, "Message not found") {
                try await messenger.send(Messenger.DeleteMessage(chat: 5, message: message))
            }
            try await refused(.notFound, "Message not found") {
                try await messenger.send(Messenger.MarkRead(chat: 5, message: message))
            }
        }
        try await refused(.forbidden, "Not a member of this chat") {
            try await messenger.send(Messenger.GetReceipts(chat: 7))
        }
        try await refused(.notFound, "File not found") {
            try await messenger.send(Messenger.SendMessage(chat: 5, content: "", type: .file, file: 7))
        }
        try await refused(.notFound, "File not found") { _ = try await messenger.download(7) }
        try await refused(.notFound, "File not found") {
            try await messenger.send(Messenger.UpdateMe(avatar: .to(7)))
        }
        try await refused(.notFound, "User not found") { try await messenger.send(Messenger.BlockUser(7)) }
        try await refused(.badRequest, "Cannot block yourself") { try await messenger.send(Messenger.BlockUser(1)) }
        try await refused(.notFound, "User not found") {
            try await messenger.send(Messenger.CreateReport(user: 7, reason: "spam"))
        }
        try await refused(.notFound, "Message not found") {
            try await messenger.send(Messenger.CreateReport(message: 7, reason: "spam"))
        }
        #expect(try await messenger.send(Messenger.SearchUsers("o")).map(\.username) == ["bob"])
        #expect(try await messenger.send(Messenger.SearchUsers("zzz")) == [])
    }

    @Test func aProfileIsStored() async throws {
        let messenger = mock.client()
        let photo = Messenger.File.example.id
        let changed = try await messenger.send(
            Messenger.UpdateMe(displayName: " Alice A. ", bio: .cleared, avatar: .to(photo)))
        #expect(changed.displayName == "Alice A.")
        #expect(changed.bio == nil)
        #expect(changed.avatar == photo)
        #expect(try await messenger.send(Messenger.GetMe()) == changed)
        #expect(try await messenger.send(Messenger.GetUser(id: 1)).displayName == "Alice A.")
        #expect(try await messenger.send(Messenger.SearchUsers("a.")).map(\.displayName) == ["Alice A."])
        let cleared = try await messenger.send(Messenger.UpdateMe(bio: .to("Hi"), avatar: .cleared))
        #expect(cleared.bio == "Hi")
        #expect(cleared.avatar == nil)
    }

    @Test func aBlockedUserIsKeptAway() async throws {
        let messenger = mock.client()
        try await messenger.send(Messenger.BlockUser(2))
        #expect(try await messenger.send(Messenger.ListBlocks()).map(\.username) == ["bob"])
        #expect(try await messenger.send(Messenger.SearchUsers("b")) == [])
        let error = try await refusal { try await messenger.send(Messenger.CreateChat.direct(with: 2)) }
        #expect(error.message == "You cannot message this user")
        // Their chat in the examples is a group.
        try await messenger.send(Messenger.SendMessage(chat: 5, content: "Hi"))
        try await messenger.send(Messenger.UnblockUser(2))
        #expect(try await messenger.send(Messenger.ListBlocks()) == [])
        try await messenger.send(Messenger.CreateChat.direct(with: 2))
    }

    @Test func aMutedChatIsListedAsOne() async throws {
        let messenger = mock.client()
        func mute() async throws -> Messenger.Mute? {
            try await messenger.send(Messenger.ListChats(include: .muted)).first?.mute
        }
        #expect(try await mute() == nil)
        let end = time("2999-02-24T08:00:00Z")
        try await messenger.send(Messenger.MuteChat(chat: 5, until: end))
        #expect(try await mute() == .init(until: end))
        try await messenger.send(Messenger.MuteChat(chat: 5))
        #expect(try await mute() == .init(until: nil))
        try await messenger.send(Messenger.UnmuteChat(chat: 5))
        #expect(try await mute() == nil)
        let error = try await refusal { try await messenger.send(Messenger.MuteChat(chat: 7)) }
        #expect(error.message == "Not a member of this chat")
    }

    @Test func aDeletedAccountSignsOut() async throws {
        let messenger = mock.client()
        let error = try await refusal { try await messenger.deleteAccount(password: "") }
        #expect(error.message == "password required")
        #expect(try await messenger.user == 1)
        try await messenger.deleteAccount(password: "secret123")
        #expect(try await messenger.user == nil)
        await #expect(throws: SignedOut()) { try await messenger.send(Messenger.GetMe()) }
    }

    @Test func sentMessagesAreInTheHistoryAndInTheList() async throws {
        let messenger = mock.client()
        let sent = try await messenger.send(Messenger.SendMessage(chat: 5, content: "Good morning"))
        #expect(sent.id == 100)
        #expect(sent.sender == 1)
        let photo = try await messenger.send(
            Messenger.SendMessage(chat: 5, content: "", type: .file, file: Messenger.File.example.id))
        #expect(photo.file == 42)
        var history: [Messenger.Message.ID] = []
        for try await message in messenger.history(of: 5, pageSize: 2) { history.append(message.id) }
        #expect(history == [101, 100, 99])
        let before = try await messenger.send(Messenger.ListMessages(chat: 5, before: 101))
        #expect(before.map(\.id) == [100, 99])
        let after = try await messenger.send(Messenger.ListMessages(chat: 5, limit: 1, after: 99))
        #expect(after.map(\.id) == [100])
        var chats: [Messenger.ChatSummary] = []
        for try await chat in messenger.chats() { chats.append(chat) }
        #expect(chats.map(\.name) == ["Team Alpha"])
        #expect(chats.map(\.lastMessage) == [""])
        #expect(chats.map(\.updatedAt) == [photo.createdAt])
    }

    @Test func sentMessagesCanBeEditedReadAndDeleted() async throws {
        let messenger = mock.client()
        let socket = try await messenger.openSocket()
        try await socket.send(Messenger.Subscribe(chat: 5))
        #expect(try await socket.receive() == Messenger.Subscribed(chat: 5))
        let edited = try await messenger.send(Messenger.EditMessage(chat: 5, message: 99, content: "Hello?"))
        let editedAt = try #require(edited.editedAt)
        #expect(
            try await socket.receive()
                == Messenger.MessageEdit(id: 99, chat: 5, content: "Hello?", editedAt: editedAt))
        mock.push("Hey!")
        #expect(try await socket.receive() is Messenger.Message)
        let told = try await messenger.send(Messenger.ListMessages(chat: 5, include: .edited))
        #expect(told.map(\.editedAt) == [nil, editedAt])
        #expect(told.map(\.content) == ["Hey!", "Hello?"])
        #expect(try await messenger.send(Messenger.ListMessages(chat: 5)).map(\.editedAt) == [nil, nil])
        func unread() async throws -> [Int?] {
            try await messenger.send(Messenger.ListChats(include: .unread)).map(\.unreadCount)
        }
        #expect(try await unread() == [1])
        try await messenger.send(Messenger.MarkRead(chat: 5, message: 100))
        #expect(try await unread() == [0])
        try await messenger.send(Messenger.DeleteMessage(chat: 5, message: 99))
        #expect(try await socket.receive() == Messenger.MessageDeletion(id: 99, chat: 5))
        #expect(try await messenger.send(Messenger.ListMessages(chat: 5)).map(\.id) == [100])
        // Typing has no answer.
        try await socket.send(Messenger.StartTyping(chat: 5))
        try await socket.send(Messenger.Ping())
        #expect(try await socket.receive() == Messenger.Pong())
    }

    @Test func aFileIsAPictureWithoutANetwork() async throws {
        let messenger = mock.client()
        let file = try await messenger.upload(Upload(.bytes([1, 2]), filename: "a.jpg", contentType: "image/jpeg"))
        #expect(file == .example)
        let picture = try await messenger.download(file.id)
        #expect(Array(picture.prefix(3)) == [0xFF, 0xD8, 0xFF])
        #expect(Array(picture.suffix(2)) == [0xFF, 0xD9])
        #expect(try await messenger.downloadURL(of: file.id).scheme == "data")
    }
}
