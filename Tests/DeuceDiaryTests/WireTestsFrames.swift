import Contract
import ContractServer
import DeuceDiaryAPI
import Foundation
import NIOCore
import Testbed
import Testing

/// Every frame of the contract, from its code blocks, and those that the decisions add.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryFrameWireTests {
    typealias Client = WireFrame<DeuceDiary.ClientFrame>
    typealias Server = WireFrame<DeuceDiary.ServerFrame>

    static let clientFrames: [Client] = [
        Client(#"{ "type": "join_group", "groupId": "uuid-v4" }"#, is: .joinGroup("uuid-v4")),
        Client(#"{"type":"auth","token":"a.b.c"}"#, is: .auth(token: "a.b.c")),
    ]

    static let serverFrames: [Server] = [
        Server(
            """
            {
              "type": "deuce_logged",
              "message": "johndoe logged a new deuce",
              "entry": {
                "id": "uuid-v4",
                "userId": "user_abc123",
                "groupId": "uuid-v4",
                "location": "Home",
                "thoughts": "...",
                "loggedAt": "2025-06-10T08:00:00.000Z",
                "createdAt": "2025-06-10T08:01:00.000Z",
                "user": {
                  "id": "user_abc123",
                  "email": null,
                  "firstName": "John",
                  "lastName": "Doe",
                  "username": "johndoe",
                  "profileImageUrl": "/uploads/x.jpg",
                  "deuceCount": 42,
                  "createdAt": "2025-01-15T10:00:00.000Z",
                  "updatedAt": "2025-06-01T12:00:00.000Z"
                }
              },
              "userId": "user_abc123"
            }
            """,
            is: .deuceLogged(
                .init(
                    .init(
                        .init(
                            id: "uuid-v4", userId: "user_abc123", groupId: "uuid-v4", location: "Home", thoughts: "...",
                            loggedAt: time("2025-06-10T08:00:00.000Z"), createdAt: time("2025-06-10T08:01:00.000Z")),
                        by: .init(
                            id: "user_abc123", email: nil, firstName: "John", lastName: "Doe", username: "johndoe",
                            profileImageUrl: "/uploads/x.jpg", deuceCount: 42,
                            createdAt: time("2025-01-15T10:00:00.000Z"), updatedAt: time("2025-06-01T12:00:00.000Z")))
                ))),
        Server(
            #"{"type":"error","message":"Not a member of this group"}"#, is: .error("Not a member of this group")),
    ]

    @Test(arguments: clientFrames)
    func clientFramesAreReadAndWritten(_ frame: Client) throws {
        #expect(try read(DeuceDiary.ClientFrame.self, frame.literal) == frame.frame)
        let written = [UInt8](try JSONEncoder().encode(frame.frame))
        #expect(try read(JSONValue.self, written) == read(JSONValue.self, frame.literal))
        #expect(String(buffer: try JSONBody.encode(frame.frame)) == frame.written)
    }

    @Test(arguments: serverFrames)
    func serverFramesAreReadAndWritten(_ frame: Server) throws {
        #expect(try read(DeuceDiary.ServerFrame.self, frame.literal) == frame.frame)
        #expect(String(buffer: try JSONBody.encode(frame.frame)) == frame.written)
    }

    /// The server passes over each of these in silence, so they must be read.
    @Test(
        arguments: [
            (#"{}"#, .unknown("")), (#"{"type":null}"#, .unknown("")), (#"{"type":5}"#, .unknown("")),
            (#"{"type":"dance","with":["me"]}"#, .unknown("dance")),
            (#"{"type":"JOIN_GROUP","groupId":"x"}"#, .unknown("JOIN_GROUP")),
            (#"{"type":"join_group"}"#, .joinGroup(nil)), (#"{"type":"join_group","groupId":5}"#, .joinGroup(nil)),
            (#"{"type":"join_group","groupId":null}"#, .joinGroup(nil)),
            (#"{"type":"join_group","groupId":"x","more":1}"#, .joinGroup("x")),
            (#"{"type":"auth"}"#, .auth(token: "")), (#"{"type":"auth","token":5}"#, .auth(token: "")),
        ] as [(String, DeuceDiary.ClientFrame)])
    func clientFramesOfAnySort(_ text: String, _ frame: DeuceDiary.ClientFrame) throws {
        #expect(try read(DeuceDiary.ClientFrame.self, text) == frame)
    }

    /// A newer server's frames must not break an older app.
    @Test(arguments: ["reaction_added", "", "DEUCE_LOGGED"])
    func unknownServerFramesSurvive(_ type: String) throws {
        #expect(try read(DeuceDiary.ServerFrame.self, #"{"type":"\#(type)","entry":5}"#) == .unknown(type))
    }

    @Test(
        arguments: [
            ("johndoe", "John", "Doe", "johndoe"), (nil, "John", "Doe", "John Doe"), (nil, "John", nil, "John"),
            (nil, nil, "Doe", "Someone"), (nil, nil, nil, "Someone"),
        ] as [(String?, String?, String?, String)])
    func aBannerNamesTheAuthor(_ username: String?, _ first: String?, _ last: String?, _ name: String) {
        let user = DeuceDiary.User(
            id: "u", email: nil, firstName: first, lastName: last, username: username, profileImageUrl: nil,
            deuceCount: 0, createdAt: .init(milliseconds: 0), updatedAt: .init(milliseconds: 0))
        #expect(user.displayName == name)
    }
}
