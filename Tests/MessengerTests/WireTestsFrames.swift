import Contract
import ContractServer
import Foundation
import MessengerAPI
import NIOCore
import Testbed
import Testing

/// The frames equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct FrameWireTests {
    private static let moment = time("2026-02-23T11:05:00Z")

    static let clientFrames: [ExampleFrame] = [
        .init(Messenger.Authenticate(token: "<access_token>")),
        .init(Messenger.Authenticate(token: "<access_token>", chats: true)),
        .init(Messenger.Subscribe(chat: 5)),
        .init(Messenger.Ping()),
        .init(Messenger.Subscribe(chat: 5, since: 98)),
        .init(Messenger.Subscribe(chat: 5, since: 0)),
        .init(Messenger.Unsubscribe(chat: 5)),
        .init(Messenger.StartTyping(chat: 5)),
    ]

    static let serverFrames: [ExampleFrame] = [
        .init(Messenger.Authenticated(user: 1, chats: true)),
        .init(Messenger.ChatAdded(chat: 5)),
        .init(Messenger.ChatRemoved(chat: 5)),
        .init(Messenger.ChatsChanged()),
        .init(Messenger.LiveError(message: "Invalid or expired access token", chat: 5)),
        .init(Messenger.Subscribed(chat: 5)),
        .init(
            Messenger.Message(id: 99, chat: 5, sender: 2, content: "Hey!", type: .text, file: nil, createdAt: moment)),
        .init(Messenger.Pong()),
        .init(Messenger.Unsubscribed(chat: 5)),
        .init(Messenger.Resync(chat: 5)),
        .init(Messenger.ReadMark(chat: 5, user: 2, message: 99, readAt: moment)),
        .init(Messenger.MessageEdit(id: 99, chat: 5, content: "Hey?", editedAt: moment)),
        .init(Messenger.MessageDeletion(id: 99, chat: 5)),
        .init(Messenger.Typing(chat: 5, user: 2)),
        .init(Messenger.MemberAdded(chat: 5, user: 2)),
        .init(Messenger.MemberRemoved(chat: 5, user: 2)),
    ]

    @Test(arguments: clientFrames)
    func aFrameOfAClientIsAnExample(_ frame: ExampleFrame) throws {
        try LawTests.laws.check(frame, in: Messenger.clientFrames)
    }

    @Test(arguments: serverFrames)
    func aFrameOfTheServerIsAnExample(_ frame: ExampleFrame) throws {
        try LawTests.laws.check(frame, in: Messenger.serverFrames)
    }

    @Test func everyFrameIsKnown() throws {
        try LawTests.laws.checkFrames(.client, of: Messenger.clientFrames, values: Self.clientFrames)
        try LawTests.laws.checkFrames(.server, of: Messenger.serverFrames, values: Self.serverFrames)
    }

    // MARK: Input of other programs

    /// The server answers each of these with the contract's text, so decoding must not fail.
    @Test(
        arguments: [
            (#"{}"#, UnknownFrame(type: "")), (#"{"type":null}"#, UnknownFrame(type: "")),
            (#"{"type":5}"#, UnknownFrame(type: "")),
            (#"{"type":"dance","with":["me"]}"#, UnknownFrame(type: "dance")),
            (#"{"type":"PING"}"#, UnknownFrame(type: "PING")),
            (#"{"type":"auth"}"#, Messenger.Authenticate(token: "")),
            (#"{"type":"auth","token":5}"#, Messenger.Authenticate(token: "")),
            (#"{"type":"auth","token":"t","more":1}"#, Messenger.Authenticate(token: "t")),
            (#"{"type":"auth","token":"t","chats":"yes"}"#, Messenger.Authenticate(token: "t")),
            (#"{"type":"auth","token":"t","chats":null}"#, Messenger.Authenticate(token: "t")),
        ] as [(String, any Messenger.ClientFrame)])
    func clientFramesOfAllKinds(_ text: String, _ frame: any Messenger.ClientFrame) throws {
        let read = AnyHashable(try client(text))
        #expect(read == AnyHashable(frame))
    }

    @Test(arguments: ["", #","chat_id":null"#, #","chat_id":"5""#, #","chat_id":5.5"#, #","chat_id":[5]"#])
    func anUnreadableChatIsIgnored(_ member: String) throws {
        let first = try client(#"{"type":"subscribe"\#(member)}"#)
        let subscribe = try #require(first as? Messenger.Subscribe)
        #expect(!subscribe.chat.isValid)
        #expect(subscribe.since == nil)
        let second = try client(#"{"type":"unsubscribe"\#(member)}"#)
        let unsubscribe = try #require(second as? Messenger.Unsubscribe)
        #expect(!unsubscribe.chat.isValid)
    }

    @Test(arguments: [#""98""#, "98.5", "true", "[98]", "{}", "99999999999999999999"])
    func aSinceThatCannotBeReadIsNeitherAbsentNorValid(_ since: String) throws {
        let frame = try client(#"{"type":"subscribe","chat_id":5,"since":\#(since)}"#)
        #expect(frame == Messenger.Subscribe(chat: 5, since: .init(.min)))
    }

    @Test func aSinceOfNullIsAbsent() throws {
        let frame = try client(#"{"type":"subscribe","chat_id":5,"since":null}"#)
        #expect(frame == Messenger.Subscribe(chat: 5))
    }

    @Test(arguments: [#"[]"#, #""ping""#, "5", "null"])
    func onlyAnObjectIsAFrame(_ text: String) {
        #expect(throws: DecodingError.self) { try client(text) }
        #expect(throws: DecodingError.self) { try server(text) }
    }

    /// A newer server's frames must not break an older app.
    @Test(arguments: ["reaction", "", "MESSAGE", "message_pinned", "hologram"])
    func unknownServerFramesSurvive(_ type: String) throws {
        let text = #"{"type":"\#(type)","chat_id":5,"user_id":[],"more":{}}"#
        #expect(try server(text) == UnknownFrame(type: type))
    }

    @Test func aMessageFrameIsReadLeniently() throws {
        let frame = try server(
            """
            {"created_at": "2026-02-23T11:05:00.25Z", "message_type": "hologram", "content": null, "sender_id": 2,
             "chat_id": 5, "id": 99, "type": "message", "more": 1}
            """)
        let message = try #require(frame as? Messenger.Message)
        #expect(message.type.rawValue == "hologram")
        #expect(message.content == "")
        #expect(message.file == nil)
    }

    private func client(_ text: String) throws -> any Messenger.ClientFrame {
        try Messenger.clientFrames.decode(Data(text.utf8))
    }

    private func server(_ text: String) throws -> any Messenger.ServerFrame {
        try Messenger.serverFrames.decode(Data(text.utf8))
    }
}
