import Backend
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import DeuceDiaryService
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testbed
import Testing
import WebSockets

@testable import DeuceDiaryCheck

/// The option that asks sockets for a token and a membership (`concord serve --deuce-diary-sockets member`).
@Suite struct MemberSocketTests {
    @Test("Without a good token the handshake is 401 in the API's shape", arguments: Stack.all)
    func handshake(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let expired = try host.issuer.issue("user_x", lifetime: -6)
            for (query, message) in [
                ("", "Unauthorized"), ("?tok=x", "Unauthorized"), ("?token=", "Invalid token"),
                ("?token=nonsense", "Invalid token"), ("?token=\(expired)", "Invalid token"),
            ] {
                let url = try #require(URL(string: host.baseURL.absoluteString + "/ws" + query))
                let refusal = await #expect(throws: SocketRefused.self) {
                    try await host.sockets.open(url, headers: [:], maximumMessageSize: 65_536)
                }
                #expect(refusal?.status == 401)
                #expect(refusal.map { String(decoding: $0.body, as: UTF8.self) } == #"{"message":"\#(message)"}"#)
            }
        }
    }

    @Test("A group is joined by members alone; a refusal keeps the group before", arguments: Stack.all)
    func joining(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let (john, jane) = try await host.world().pair()
            let (own, foreign) = (try await jane.group(with: john), try await john.group())
            let socket = try await jane.memberSocket()
            try await socket.send(["type": "join_group", "groupId": own.json])
            for (id, message) in [
                (foreign.json, "Not a member of this group"),
                (.string(UUID().uuidString.lowercased()), "Not a member of this group"),
                ("x", "Invalid groupId"), (5, "Invalid groupId"), (nil, "Invalid groupId"), ("", "Invalid groupId"),
            ] as [(JSONValue, String)] {
                try await socket.send(["type": "join_group", "groupId": id])
                try await socket.expect(["type": "error", "message": .string(message)])
            }
            // Whatever else is said is passed over as ever.
            for text in ["{", "[]", #"{"type":"dance"}"#] { try await socket.send(text) }
            try await john.log("unheard", in: foreign)
            let heard = try await john.log("heard", in: own)
            try expect(try await socket.entry()["id"], equals: heard[0].id.json)
            // Joined again, it still comes once.
            try await socket.send(["type": "join_group", "groupId": own.json])
            try await socket.send(["type": "join_group", "groupId": own.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            for index in 0..<3 {
                let logged = try await john.log("\(index)", in: own)
                try expect(try await socket.entry()["id"], equals: logged[0].id.json)
            }
            await socket.close()
        }
    }

    @Test("A membership that ended is heard of within a second, and nothing after", arguments: Stack.all)
    func lostMembership(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let (john, jane) = try await host.world().pair()
            let (group, other) = (try await john.group(with: jane), try await john.group(with: jane))
            let socket = try await jane.memberSocket()
            try await socket.send(["type": "join_group", "groupId": group.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            let last = try await john.log("last", in: group)
            try expect(try await socket.entry()["id"], equals: last[0].id.json)
            try await host.database.write { db in
                try db.run("DELETE FROM members WHERE group_id = \(group.rawValue) AND user_id = \(jane.id.rawValue)")
            }
            host.clock.advance(by: .seconds(1))
            try await john.log("unheard", in: group)
            try await socket.expect(["type": "error", "message": "Not a member of this group"])
            try await john.log("unheard too", in: group)
            try await socket.send(["type": "join_group", "groupId": other.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            let next = try await john.log("heard", in: other)
            try expect(try await socket.entry()["id"], equals: next[0].id.json)
            await socket.close()
        }
    }

    @Test("Who leaves or is removed hears so at once, and nothing after", arguments: Stack.all)
    func leaving(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let (john, jane, joan) = try await host.world().trio()
            let (group, other) = (try await john.group(with: jane, joan), try await john.group(with: jane, joan))
            for person in [jane, joan] {
                // One socket listens to the group, another of the same user to another, a third to nothing.
                let sockets = [
                    try await person.memberSocket(), try await person.memberSocket(), try await person.memberSocket(),
                ]
                for (socket, group) in zip(sockets, [group, other]) {
                    try await socket.send(["type": "join_group", "groupId": group.json])
                }
                for socket in sockets {
                    try await socket.send(["type": "join_group", "groupId": "x"])
                    try await socket.expect(["type": "error", "message": "Invalid groupId"])
                }
                let last = try await john.log("last", in: group)
                try expect(try await sockets[0].entry()["id"], equals: last[0].id.json)
                if person.id == jane.id {
                    try await jane.client.leave(group)
                } else {
                    try await john.send(DeuceDiary.RemoveMember(group: group, user: person.id))
                }
                try await sockets[0].expect(["type": "error", "message": "Not a member of this group"])
                try await john.log("unheard", in: group)
                // What was found true a moment ago is not believed.
                try await sockets[0].send(["type": "join_group", "groupId": group.json])
                try await sockets[0].expect(["type": "error", "message": "Not a member of this group"])
                try await sockets[0].send(["type": "join_group", "groupId": other.json])
                try await sockets[0].send(["type": "join_group", "groupId": "x"])
                try await sockets[0].expect(["type": "error", "message": "Invalid groupId"])
                let next = try await john.log("heard", in: other)
                for socket in sockets.prefix(2) { try expect(try await socket.entry()["id"], equals: next[0].id.json) }
                for socket in sockets { await socket.close() }
            }
        }
    }

    @Test("The sockets of a deleted account are closed, whatever they listen to", arguments: Stack.all)
    func deletedAccounts(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let sockets = [try await jane.memberSocket(), try await jane.memberSocket()]
            try await sockets[0].send(["type": "join_group", "groupId": group.json])
            for socket in sockets {
                try await socket.send(["type": "join_group", "groupId": "x"])
                try await socket.expect(["type": "error", "message": "Invalid groupId"])
            }
            let johns = try await john.memberSocket()
            try await johns.send(["type": "join_group", "groupId": group.json])
            try await johns.settle()
            try await jane.client.deleteAccount()
            for socket in sockets { try await socket.expectClose(4001) }
            let refusal = await #expect(throws: SocketRefused.self) { try await jane.memberSocket() }
            #expect(refusal?.status == 401)
            #expect(refusal.map { String(decoding: $0.body, as: UTF8.self) } == #"{"message":"Unauthorized"}"#)
            let heard = try await john.log("heard", in: group)
            try expect(try await johns.entry()["id"], equals: heard[0].id.json)
            await johns.close()
        }
    }

    @Test("The SDK tells of a group that its user has left", arguments: Stack.all)
    func theSDKLeaves(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let events = jane.client.live(group: group, authenticated: true).makeAsyncIterator()
            guard case .connected(group)? = try await events.next() else {
                return #expect(Bool(false), "not connected")
            }
            try await jane.client.leave(group)
            guard case .refused(group)? = try await events.next() else { return #expect(Bool(false), "not refused") }
        }
    }

    @Test("The SDK brings its token, and tells of a group that is closed", arguments: Stack.all)
    func theSDK(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, sockets: .member) { host in
            let (john, jane) = try await host.world().pair()
            let (own, foreign) = (try await jane.group(with: john), try await john.group())
            let live = jane.client.live(group: foreign, authenticated: true)
            let events = live.makeAsyncIterator()
            guard case .refused(foreign)? = try await events.next() else { return #expect(Bool(false), "not refused") }
            await live.change(to: own)
            guard case .connected(own)? = try await events.next() else { return #expect(Bool(false), "not connected") }
            let logged = try await john.log(in: own)
            guard case .logged(let notice)? = try await events.next() else { return #expect(Bool(false), "no log") }
            #expect(notice.entry.id == logged[0].id)
        }
    }

    @Test("An expired token closes with 4001")
    func expiry() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess), sockets: .member) { host in
            let loop = NIOAsyncTestingEventLoop()
            var settings = DeuceDiaryService.Settings(publicURL: "http://test")
            settings.socketAuthentication = .member
            let service = DeuceDiaryService(
                database: host.database, objects: host.objects, tokens: { [issuer = host.issuer] in issuer.read($0) },
                pictures: { _, _ in nil }, secret: Array(repeating: 9, count: 32), group: loop, time: host.clock.source,
                settings: settings)
            let route = try #require(service.sockets().first)
            let token = try host.issuer.issue("user_1", lifetime: 100)
            let request = HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/ws?token=\(token)")
            guard case .accept(let make) = await route.admit(request, nil) else {
                return #expect(Bool(false), "the upgrade was refused")
            }
            let socket = ClosingSocket(loop)
            try await loop.executeInContext {
                let handler = make()
                socket.handler.value = handler
                handler.opened(socket)
            }
            await loop.advanceTime(by: .seconds(99))
            #expect(socket.code == nil)
            await loop.advanceTime(by: .seconds(1))
            #expect(socket.code == .sessionEnded)
            try await loop.executeInContext { socket.handler.value?.closed() }
            await loop.shutdownGracefully()
        }
    }
}

/// A socket without a network that notes how it is closed.
private final class ClosingSocket: SocketConnection, Sendable {
    let loop: NIOAsyncTestingEventLoop
    let handler: NIOLoopBoundBox<(any SocketHandler)?>
    private let closed = NIOLockedValueBox<SocketCloseCode?>(nil)

    init(_ loop: NIOAsyncTestingEventLoop) {
        self.loop = loop
        handler = .makeEmptyBox(eventLoop: loop)
    }

    var code: SocketCloseCode? { closed.withLockedValue { $0 } }

    var eventLoop: any EventLoop { loop }
    var remoteAddress: String? { nil }
    func send(_ frame: TextFrame) {}
    func whenFlushed(_ action: @escaping () -> Void) { action() }
    func close(_ code: SocketCloseCode, reason: String) { closed.withLockedValue { $0 = $0 ?? code } }
}

extension Person {
    /// A raw socket with this person's token.
    fileprivate func memberSocket() async throws -> RawSocket {
        let query = [URLQueryItem(name: "token", value: token)]
        let url = world.baseURL.appendingPathComponent("ws").appending(queryItems: query)
        return RawSocket(try await world.sockets.open(url, headers: [:], maximumMessageSize: 262_144))
    }
}
