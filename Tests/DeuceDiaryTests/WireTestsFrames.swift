import Contract
import ContractServer
import DeuceDiaryAPI
import Foundation
import NIOCore
import Testbed
import Testing

/// The frames equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryFrameWireTests {
    static let clientFrames: [ExampleFrame] = [
        .init(DeuceDiary.WatchGroup(group: "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")),
        .init(DeuceDiary.Authenticate(token: "a.b.c")),
    ]

    static let serverFrames: [ExampleFrame] = [
        .init(
            DeuceDiary.Notice(
                DeuceDiary.FeedEntry(DeuceDiaryAnswerWireTests.entry, by: DeuceDiaryAnswerWireTests.user))),
        .init(DeuceDiary.LiveError(message: "Not a member of this group")),
    ]

    @Test(arguments: clientFrames)
    func aFrameOfAClientIsAnExample(_ frame: ExampleFrame) throws {
        try DeuceDiaryLawTests.laws.check(frame, in: DeuceDiary.clientFrames)
    }

    @Test(arguments: serverFrames)
    func aFrameOfTheServerIsAnExample(_ frame: ExampleFrame) throws {
        try DeuceDiaryLawTests.laws.check(frame, in: DeuceDiary.serverFrames)
    }

    @Test func everyFrameIsKnown() throws {
        try DeuceDiaryLawTests.laws.checkFrames(.client, of: DeuceDiary.clientFrames, values: Self.clientFrames)
        try DeuceDiaryLawTests.laws.checkFrames(.server, of: DeuceDiary.serverFrames, values: Self.serverFrames)
    }

    /// The server ignores each of these, so decoding must not fail.
    @Test(
        arguments: [
            (#"{}"#, UnknownFrame(type: "")), (#"{"type":null}"#, UnknownFrame(type: "")),
            (#"{"type":5}"#, UnknownFrame(type: "")),
            (#"{"type":"dance","with":["me"]}"#, UnknownFrame(type: "dance")),
            (#"{"type":"JOIN_GROUP","groupId":"x"}"#, UnknownFrame(type: "JOIN_GROUP")),
            (#"{"type":"join_group","groupId":"x","more":1}"#, DeuceDiary.WatchGroup(group: "x")),
            (#"{"type":"auth"}"#, DeuceDiary.Authenticate(token: "")),
            (#"{"type":"auth","token":5}"#, DeuceDiary.Authenticate(token: "")),
        ] as [(String, any DeuceDiary.ClientFrame)])
    func clientFramesOfAllKinds(_ text: String, _ frame: any DeuceDiary.ClientFrame) throws {
        let decoded: any Frame = try DeuceDiary.clientFrames.decode(Data(text.utf8))
        let (read, expected) = (AnyHashable(decoded), AnyHashable(frame))
        #expect(read == expected)
    }

    @Test(arguments: ["", #","groupId":5"#, #","groupId":null"#, #","groupId":["x"]"#])
    func anUnreadableGroupIsIgnored(_ member: String) throws {
        let text = #"{"type":"join_group"\#(member)}"#
        let join = try DeuceDiary.clientFrames.decode(Data(text.utf8)) as? DeuceDiary.WatchGroup
        #expect(try #require(join).group.isUUID == false)
    }

    /// A newer server's frames must not break an older app.
    @Test(arguments: ["reaction_added", "", "DEUCE_LOGGED"])
    func unknownServerFramesSurvive(_ type: String) throws {
        let text = #"{"type":"\#(type)","entry":5}"#
        #expect(try DeuceDiary.serverFrames.decode(Data(text.utf8)) == UnknownFrame(type: type))
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
