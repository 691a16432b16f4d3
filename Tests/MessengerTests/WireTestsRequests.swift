import Contract
import MessengerAPI
import Testbed
import Testing

/// The requests equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct RequestWireTests {
    /// The requests of all examples, as an app writes them.
    static let requests: [ExampleRequest] = [
        .init(Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123")),
        .init(
            Messenger.Register(
                username: "älice \"b\"", email: "a+b@example.com", password: "p\\ss/word 🎉", displayName: "A")),
        .init(
            Messenger.Register(
                username: "bob", email: "bob@example.com", password: "secret123", acceptedTerms: "2026-11",
                invitationCode: "K7QM-2XWA-9DHT")),
        .init(Messenger.Login(username: "alice", password: "secret123")),
        .init(Messenger.Login(username: "alice", password: "secret123", deviceName: "Alice's iPhone")),
        .init(Messenger.Refresh(refreshToken: "eyJ...")),
        .init(Messenger.Logout(refreshToken: "eyJ...")),
        .init(Messenger.GetMe()),
        .init(GetAbout<Messenger>()),
        .init(Messenger.UpdateMe(displayName: "Alice", bio: .to("Hello world"), avatar: .to(42))),
        .init(Messenger.UpdateMe(displayName: "Älice \"b\"", bio: .to("\r\n\t\u{1F}é🎉"))),
        .init(Messenger.UpdateMe(bio: .cleared, avatar: .cleared)),
        .init(Messenger.UpdateMe()),
        .init(Messenger.RequestArchive()),
        .init(Messenger.GetArchive()),
        .init(Messenger.ChangePassword(currentPassword: "secret123", newPassword: "another one")),
        .init(Messenger.ChangePassword(currentPassword: "p\\ss/word 🎉", newPassword: "P\\ss/word 🎉")),
        .init(Messenger.DeleteMe(password: "secret123")),
        .init(Messenger.DeleteMe(password: "p\\ss/word 🎉")),
        .init(Messenger.ListSessions()),
        .init(Messenger.EndOtherSessions()),
        .init(Messenger.EndSession(id: 4_503_599_627_370_496)),
        .init(Messenger.ForgotPassword(email: "alice@example.com")),
        .init(Messenger.ResetPassword(token: "abc", newPassword: "another one")),
        .init(Messenger.ResetPassword(token: "a-b_c", newPassword: "p\\ss/word 🎉")),
        .init(Messenger.ChangeEmail(email: "alice@example.org", password: "secret123")),
        .init(Messenger.VerifyEmail(token: "abc")),
        .init(Messenger.GetUser(id: 2)),
        .init(Messenger.SearchUsers("ali")),
        .init(Messenger.SearchUsers("50% & a+b=c?/#é")),
        .init(Messenger.BlockUser(2)),
        .init(Messenger.UnblockUser(2)),
        .init(Messenger.ListBlocks()),
        .init(Messenger.CreateChat(type: .direct, members: [2])),
        .init(Messenger.CreateChat(type: .group, name: "Team Alpha", members: [2, 3, 4])),
        .init(Messenger.CreateChat.group("Team \"α\"", members: [2, 3, .init(.max)])),
        .init(Messenger.ListChats()),
        .init(Messenger.ListChats(limit: 20, before: 5)),
        .init(Messenger.ListChats(include: .unread)),
        .init(Messenger.ListChats(include: .init(rawValue: "unread, x&y"))),
        .init(Messenger.ListChats(include: .peer)),
        .init(Messenger.ListChats(include: .newest)),
        .init(Messenger.ListChats(include: .muted)),
        .init(Messenger.GetChat(id: 5)),
        .init(Messenger.AddMembers(chat: 5, users: [3, 4])),
        .init(Messenger.AddMembers(chat: 5, users: [8, .init(.max)])),
        .init(Messenger.RemoveMember(chat: 5, user: 2)),
        .init(Messenger.LeaveChat(chat: 5)),
        .init(Messenger.SendMessage(chat: 5, content: "Hello!")),
        .init(Messenger.SendMessage(chat: 5, content: "", type: .file, file: 42)),
        .init(Messenger.SendMessage(chat: 5, content: "caption", type: .voice, file: 42)),
        .init(Messenger.SendMessage(chat: 5, content: "\r\n\t\u{1F}é🎉")),
        .init(Messenger.ListMessages(chat: 5)),
        .init(Messenger.ListMessages(chat: 5, limit: 50, before: 99)),
        .init(Messenger.ListMessages(chat: 5, limit: 2, after: 118)),
        .init(Messenger.ListMessages(chat: 5, limit: 50, include: .edited)),
        .init(Messenger.ListMessages(chat: 5, include: .file)),
        .init(Messenger.EditMessage(chat: 5, message: 99, content: "Hello?")),
        .init(Messenger.EditMessage(chat: 5, message: 99, content: "\r\n\t\u{1F}é🎉")),
        .init(Messenger.DeleteMessage(chat: 5, message: 99)),
        .init(Messenger.ListChanges(chat: 5)),
        .init(Messenger.ListChanges(chat: 5, after: 11, limit: 50)),
        .init(Messenger.MarkRead(chat: 5, message: 99)),
        .init(Messenger.GetReceipts(chat: 5)),
        .init(Messenger.UploadFile(Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg"))),
        .init(Messenger.DownloadFile(id: 42)),
        .init(Messenger.DeleteFile(id: 42)),
        .init(Messenger.RegisterDevice(token: "0a1b2c3d4e5f", environment: .production)),
        .init(Messenger.RegisterDevice(token: "0A1B2C3D4E5F", environment: .sandbox)),
        .init(Messenger.RemoveDevice(id: 7)),
        .init(Messenger.MuteChat(chat: 5)),
        .init(Messenger.MuteChat(chat: 5, until: time("2026-02-24T08:00:00Z"))),
        .init(Messenger.UnmuteChat(chat: 5)),
        .init(Messenger.CreateReport(user: 2, reason: "spam", details: "Every day")),
        .init(Messenger.CreateReport(message: 99, reason: "rude")),
        .init(Messenger.CreateReport(user: 2, message: 99, reason: "é🎉", details: "\r\n")),
    ]

    @Test(arguments: requests)
    func aRequestIsAnExample(_ request: ExampleRequest) throws { try LawTests.laws.check(request) }

    /// Other clients leave out the members that the decisions make optional.
    @Test func absentMembersHaveDefaults() throws {
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
}
