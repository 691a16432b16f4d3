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

    static let clientFrames: [ExampleFrame<Messenger.ClientFrame>] = [
        .init(.client, .auth(token: "<access_token>")),
        .init(.client, .subscribe(5)),
        .init(.client, .ping),
        .init(.client, .subscribe(5, since: 98)),
        .init(.client, .subscribe(5, since: 0)),
        .init(.client, .unsubscribe(5)),
        .init(.client, .typing(5)),
    ]

    static let serverFrames: [ExampleFrame<Messenger.ServerFrame>] = [
        .init(.server, .authOK(1)),
        .init(.server, .tryAgain(5, "Invalid or expired access token")),
        .init(.server, .subscribed(5)),
        .init(
            .server,
            .message(
                .init(id: 99, chat: 5, sender: 2, content: "Hey!", type: .text, file: nil, createdAt: moment))),
        .init(.server, .pong),
        .init(.server, .unsubscribed(5)),
        .init(.server, .resync(5)),
        .init(.server, .read(.init(chat: 5, user: 2, message: 99, readAt: moment))),
        .init(.server, .messageEdited(.init(id: 99, chat: 5, content: "Hey?", editedAt: moment))),
        .init(.server, .messageDeleted(5, 99)),
        .init(.server, .typing(5, 2)),
        .init(.server, .memberAdded(5, 2)),
        .init(.server, .memberRemoved(5, 2)),
    ]

    @Test(arguments: clientFrames)
    func aFrameOfAClientIsAnExample(_ frame: ExampleFrame<Messenger.ClientFrame>) throws {
        try LawTests.laws.check(frame)
        // The SDK writes members in any order.
        let written = [UInt8](try JSONEncoder().encode(frame.frame))
        #expect(try read(JSONValue.self, written) == read(JSONValue.self, frame.written))
    }

    @Test(arguments: serverFrames)
    func aFrameOfTheServerIsAnExample(_ frame: ExampleFrame<Messenger.ServerFrame>) throws {
        try LawTests.laws.check(frame)
    }

    @Test func everyFrameIsKnown() throws {
        try LawTests.laws.checkFrames(.client, values: Self.clientFrames) {
            if case .unknown = $0 { false } else { true }
        }
        try LawTests.laws.checkFrames(.server, values: Self.serverFrames) {
            if case .unknown = $0 { false } else { true }
        }
    }

    // MARK: Input of other programs

    /// The server answers each of these with the contract's text, so decoding must not fail.
    @Test(
        arguments: [
            (#"{}"#, .unknown("")), (#"{"type":null}"#, .unknown("")), (#"{"type":5}"#, .unknown("")),
            (#"{"type":"dance","with":["me"]}"#, .unknown("dance")), (#"{"type":"PING"}"#, .unknown("PING")),
            (#"{"type":"auth"}"#, .auth(token: "")), (#"{"type":"auth","token":5}"#, .auth(token: "")),
            (#"{"type":"auth","token":"t","more":1}"#, .auth(token: "t")),
        ] as [(String, Messenger.ClientFrame)])
    func clientFramesOfAllKinds(_ text: String, _ frame: Messenger.ClientFrame) throws {
        #expect(try read(Messenger.ClientFrame.self, text) == frame)
    }

    @Test(arguments: ["", #","chat_id":null"#, #","chat_id":"5""#, #","chat_id":5.5"#, #","chat_id":[5]"#])
    func anUnreadableChatIsIgnored(_ member: String) throws {
        guard
            case .subscribe(let chat, let since) = try read(
                Messenger.ClientFrame.self, #"{"type":"subscribe"\#(member)}"#)
        else { return #expect(Bool(false), "no subscription") }
        #expect(!chat.isValid)
        #expect(since == nil)
        guard
            case .unsubscribe(let left) = try read(Messenger.ClientFrame.self, #"{"type":"unsubscribe"\#(member)}"#)
        else { return #expect(Bool(false), "no end of a subscription") }
        #expect(!left.isValid)
    }

    @Test(arguments: [#""98""#, "98.5", "true", "[98]", "{}", "99999999999999999999"])
    func aSinceThatCannotBeReadIsNeitherAbsentNorValid(_ since: String) throws {
        let frame = try read(Messenger.ClientFrame.self, #"{"type":"subscribe","chat_id":5,"since":\#(since)}"#)
        #expect(frame == .subscribe(5, since: .init(.min)))
    }

    @Test func aSinceOfNullIsAbsent() throws {
        let frame = try read(Messenger.ClientFrame.self, #"{"type":"subscribe","chat_id":5,"since":null}"#)
        #expect(frame == .subscribe(5))
    }

    @Test(arguments: [#"[]"#, #""ping""#, "5", "null"])
    func onlyAnObjectIsAFrame(_ text: String) {
        #expect(throws: DecodingError.self) { try read(Messenger.ClientFrame.self, text) }
        #expect(throws: DecodingError.self) { try read(Messenger.ServerFrame.self, text) }
    }

    /// A newer server's frames must not break an older app.
    @Test(arguments: ["reaction", "", "MESSAGE", "message_pinned", "hologram"])
    func unknownServerFramesSurvive(_ type: String) throws {
        let text = #"{"type":"\#(type)","chat_id":5,"user_id":[],"more":{}}"#
        #expect(try read(Messenger.ServerFrame.self, text) == .unknown(type))
    }

    @Test func aMessageFrameIsReadLeniently() throws {
        let frame = try read(
            Messenger.ServerFrame.self,
            """
            {"created_at": "2026-02-23T11:05:00.25Z", "message_type": "hologram", "content": null, "sender_id": 2,
             "chat_id": 5, "id": 99, "type": "message", "more": 1}
            """)
        guard case .message(let message) = frame else { return #expect(Bool(false), "no message") }
        #expect(message.type.rawValue == "hologram")
        #expect(message.content == "")
        #expect(message.file == nil)
    }
}
