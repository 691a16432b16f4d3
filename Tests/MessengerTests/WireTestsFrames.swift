import Contract
import ContractServer
import Foundation
import MessengerAPI
import NIOCore
import Testbed
import Testing

/// Every frame of the contract, from its code blocks, and those that the decisions add.
@Suite(.timeLimit(.minutes(30))) struct FrameWireTests {
    typealias Client = WireFrame<Messenger.ClientFrame>
    typealias Server = WireFrame<Messenger.ServerFrame>

    static let clientFrames: [Client] = [
        Client(#"{ "type": "auth", "token": "<access_token>" }"#, is: .auth(token: "<access_token>")),
        Client(#"{ "type": "subscribe", "chat_id": 5 }"#, is: .subscribe(5)),
        Client(#"{ "type": "ping" }"#, is: .ping),
        // Additions.
        Client(#"{"type":"subscribe","chat_id":5,"since":98}"#, is: .subscribe(5, since: 98)),
        Client(#"{"type":"subscribe","chat_id":5,"since":0}"#, is: .subscribe(5, since: 0)),
        Client(#"{"type":"unsubscribe","chat_id":5}"#, is: .unsubscribe(5)),
        Client(#"{"type":"typing","chat_id":5}"#, is: .typing(5)),
    ]

    static let serverFrames: [Server] = [
        Server(#"{ "type": "auth_ok", "user_id": 1 }"#, is: .authOK(1)),
        Server(
            #"{ "type": "error", "message": "Invalid or expired access token" }"#,
            is: .error("Invalid or expired access token")),
        Server(#"{"type":"error","message":"Try again","chat_id":5}"#, is: .tryAgain(5, "Try again")),
        Server(#"{ "type": "subscribed", "chat_id": 5 }"#, is: .subscribed(5)),
        Server(
            """
            {
              "type": "message",
              "id": 99,
              "chat_id": 5,
              "sender_id": 2,
              "content": "Hey!",
              "message_type": "text",
              "created_at": "2026-02-23T11:05:00Z"
            }
            """,
            is: .message(
                .init(
                    id: 99, chat: 5, sender: 2, content: "Hey!", type: .text, file: nil,
                    createdAt: time("2026-02-23T11:05:00Z"))),
            written: """
                {"type": "message", "id": 99, "chat_id": 5, "sender_id": 2, "content": "Hey!", "message_type": "text",
                 "file_id": null, "created_at": "2026-02-23T11:05:00Z"}
                """),
        Server(#"{ "type": "pong" }"#, is: .pong),
        // Additions.
        Server(
            """
            {"type": "message", "id": 100, "chat_id": 5, "sender_id": 2, "content": "", "message_type": "file",
             "file_id": 42, "created_at": "2026-02-23T11:05:00Z"}
            """,
            is: .message(
                .init(
                    id: 100, chat: 5, sender: 2, content: "", type: .file, file: 42,
                    createdAt: time("2026-02-23T11:05:00Z")))),
        Server(#"{"type":"unsubscribed","chat_id":5}"#, is: .unsubscribed(5)),
        Server(#"{"type":"resync","chat_id":5}"#, is: .resync(5)),
        Server(
            #"{"type":"read","chat_id":5,"user_id":2,"message_id":99,"read_at":"2026-02-23T11:05:00Z"}"#,
            is: .read(.init(chat: 5, user: 2, message: 99, readAt: time("2026-02-23T11:05:00Z")))),
        Server(
            #"{"type":"message_edited","id":99,"chat_id":5,"content":"Hey?","edited_at":"2026-02-23T11:05:00Z"}"#,
            is: .messageEdited(.init(id: 99, chat: 5, content: "Hey?", editedAt: time("2026-02-23T11:05:00Z")))),
        Server(#"{"type":"message_deleted","id":99,"chat_id":5}"#, is: .messageDeleted(5, 99)),
        Server(#"{"type":"typing","chat_id":5,"user_id":2}"#, is: .typing(5, 2)),
        Server(#"{"type":"member_added","chat_id":5,"user_id":2}"#, is: .memberAdded(5, 2)),
        Server(#"{"type":"member_removed","chat_id":5,"user_id":2}"#, is: .memberRemoved(5, 2)),
    ]

    @Test(arguments: clientFrames)
    func clientFramesAreReadAndWritten(_ frame: Client) throws {
        #expect(try read(Messenger.ClientFrame.self, frame.literal) == frame.frame)
        // As the SDK writes it, where members have no order, and as a server would.
        let written = [UInt8](try JSONEncoder().encode(frame.frame))
        #expect(try read(JSONValue.self, written) == read(JSONValue.self, frame.literal))
        #expect(String(buffer: try JSONBody.encode(frame.frame)) == frame.written)
    }

    @Test(arguments: serverFrames)
    func serverFramesAreReadAndWritten(_ frame: Server) throws {
        #expect(try read(Messenger.ServerFrame.self, frame.literal) == frame.frame)
        #expect(try read(Messenger.ServerFrame.self, frame.written) == frame.frame)
        #expect(String(buffer: try JSONBody.encode(frame.frame)) == frame.written)
    }

    // MARK: What comes from elsewhere

    /// The server answers each of these in the contract's words, so they must be read.
    @Test(
        arguments: [
            (#"{}"#, .unknown("")), (#"{"type":null}"#, .unknown("")), (#"{"type":5}"#, .unknown("")),
            (#"{"type":"dance","with":["me"]}"#, .unknown("dance")), (#"{"type":"PING"}"#, .unknown("PING")),
            (#"{"type":"auth"}"#, .auth(token: "")), (#"{"type":"auth","token":5}"#, .auth(token: "")),
            (#"{"type":"auth","token":"t","more":1}"#, .auth(token: "t")),
        ] as [(String, Messenger.ClientFrame)])
    func clientFramesOfAnySort(_ text: String, _ frame: Messenger.ClientFrame) throws {
        #expect(try read(Messenger.ClientFrame.self, text) == frame)
    }

    @Test(arguments: ["", #","chat_id":null"#, #","chat_id":"5""#, #","chat_id":5.5"#, #","chat_id":[5]"#])
    func aChatThatCannotBeReadIsNone(_ member: String) throws {
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
