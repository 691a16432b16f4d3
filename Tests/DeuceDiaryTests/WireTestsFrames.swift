import Contract
import ContractServer
import DeuceDiaryAPI
import Foundation
import NIOCore
import Testbed
import Testing

/// The frames equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryFrameWireTests {
    static let clientFrames: [ExampleFrame<DeuceDiary.ClientFrame>] = [
        .init(.client, .joinGroup("6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")),
        .init(.client, .auth(token: "a.b.c")),
    ]

    static let serverFrames: [ExampleFrame<DeuceDiary.ServerFrame>] = [
        .init(
            .server,
            .deuceLogged(.init(.init(DeuceDiaryAnswerWireTests.entry, by: DeuceDiaryAnswerWireTests.user)))),
        .init(.server, .error("Not a member of this group")),
    ]

    @Test(arguments: clientFrames)
    func aFrameOfAClientIsAnExample(_ frame: ExampleFrame<DeuceDiary.ClientFrame>) throws {
        try DeuceDiaryLawTests.laws.check(frame)
        // The SDK writes members in any order.
        let written = [UInt8](try JSONEncoder().encode(frame.frame))
        #expect(try read(JSONValue.self, written) == read(JSONValue.self, frame.written))
    }

    @Test(arguments: serverFrames)
    func aFrameOfTheServerIsAnExample(_ frame: ExampleFrame<DeuceDiary.ServerFrame>) throws {
        try DeuceDiaryLawTests.laws.check(frame)
    }

    @Test func everyFrameIsKnown() throws {
        try DeuceDiaryLawTests.laws.checkFrames(.client, values: Self.clientFrames) {
            if case .unknown = $0 { false } else { true }
        }
        try DeuceDiaryLawTests.laws.checkFrames(.server, values: Self.serverFrames) {
            if case .unknown = $0 { false } else { true }
        }
    }

    /// The server ignores each of these, so decoding must not fail.
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
    func clientFramesOfAllKinds(_ text: String, _ frame: DeuceDiary.ClientFrame) throws {
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
