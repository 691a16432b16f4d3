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

/// A socket with a token receives only what its user may read, both on servers that require a token (`concord serve
/// --deuce-diary-sockets member`) and on those that do not.
@Suite(.timeLimit(.minutes(30))) struct MemberSocketTests {
    private static let modes: [DeuceDiaryService.SocketAuthentication] = [.open, .member]

    @Test("An invalid token makes the handshake fail with 401 in the API's shape", arguments: Stack.all, modes)
    func handshake(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let expired = try host.issuer.issue("user_x", lifetime: -6)
            let offers: [(query: String, header: String?, message: String)] = [
                ("?token=", nil, "Invalid token"), ("?token=nonsense", nil, "Invalid token"),
                ("?token=\(expired)", nil, "Invalid token"), ("", "Bearer", "Invalid token"),
                ("", "Bearer nonsense", "Invalid token"), ("", "bearer \(expired)", "Invalid token"),
                ("?token=\(try host.issuer.issue("user_x"))", "Bearer nonsense", "Invalid token"),
            ]
            let none: [(query: String, header: String?, message: String)] = [
                ("", nil, "Unauthorized"), ("?tok=x", nil, "Unauthorized"), ("", "Basic YTpi", "Unauthorized"),
            ]
            func open(_ query: String, _ header: String?) async throws -> any Socket {
                let url = try #require(URL(string: host.baseURL.absoluteString + "/ws" + query))
                var headers: HTTPFields = [:]
                headers[.authorization] = header
                return try await host.sockets.open(url, headers: headers, maximumMessageSize: 65_536)
            }
            for (query, header, message) in offers + (mode == .member ? none : []) {
                let refusal = await #expect(throws: SocketRefused.self) { _ = try await open(query, header) }
                #expect(refusal?.status == 401)
                #expect(refusal.map { String(decoding: $0.body, as: UTF8.self) } == #"{"message":"\#(message)"}"#)
            }
            guard mode == .open else { return }
            // The contract's own socket does not ask for a token.
            for (query, header, _) in none { await (try await open(query, header)).close(code: 1000, reason: "") }
        }
    }

    @Test("A group is joined by members alone; a refusal keeps the group before", arguments: Stack.all, modes)
    func joining(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let (john, jane) = try await host.world().pair()
            let (own, foreign) = (try await jane.group(with: john), try await john.group())
            let socket = try await jane.socket()
            try await socket.send(["type": "join_group", "groupId": own.json])
            for (id, message) in [
                (foreign.json, "Not a member of this group"),
                (.string(UUID().uuidString.lowercased()), "Not a member of this group"),
                ("x", "Invalid groupId"), (5, "Invalid groupId"), (nil, "Invalid groupId"), ("", "Invalid groupId"),
            ] as [(JSONValue, String)] {
                try await socket.send(["type": "join_group", "groupId": id])
                try await socket.expect(["type": "error", "message": .string(message)])
            }
            // All other frames are ignored, as always.
            for text in ["{", "[]", #"{"type":"dance"}"#] { try await socket.send(text) }
            try await john.log("unheard", in: foreign)
            let heard = try await john.log("heard", in: own)
            try expect(try await socket.entry()["id"], equals: heard[0].id.json)
            // After joining twice, each event still arrives once.
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

    @Test(
        "A socket learns within a second that a membership ended, and receives nothing afterwards",
        arguments: Stack.all, modes)
    func lostMembership(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let (john, jane) = try await host.world().pair()
            let (group, other) = (try await john.group(with: jane), try await john.group(with: jane))
            let socket = try await jane.socket()
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

    @Test(
        "A member who leaves or is removed is notified at once, and receives nothing afterwards", arguments: Stack.all,
        modes)
    func leaving(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let (john, jane, joan) = try await host.world().trio()
            let (group, other) = (try await john.group(with: jane, joan), try await john.group(with: jane, joan))
            for person in [jane, joan] {
                // One socket joined the group, another of the same user joined another group, and a third joined none.
                let sockets = [
                    try await person.socket(), try await person.socket(), try await person.socket(),
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
                // The cached membership is not used any more.
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

    @Test("The sockets of a deleted account are closed, in any group or none", arguments: Stack.all, modes)
    func deletedAccounts(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let sockets = [try await jane.socket(), try await jane.socket()]
            try await sockets[0].send(["type": "join_group", "groupId": group.json])
            for socket in sockets {
                try await socket.send(["type": "join_group", "groupId": "x"])
                try await socket.expect(["type": "error", "message": "Invalid groupId"])
            }
            let johns = try await john.socket()
            try await johns.send(["type": "join_group", "groupId": group.json])
            try await johns.waitUntilHandled()
            try await jane.client.deleteAccount()
            for socket in sockets { try await socket.expectClose(4001) }
            let refusal = await #expect(throws: SocketRefused.self) { try await jane.socket() }
            #expect(refusal?.status == 401)
            #expect(refusal.map { String(decoding: $0.body, as: UTF8.self) } == #"{"message":"Unauthorized"}"#)
            let heard = try await john.log("heard", in: group)
            try expect(try await johns.entry()["id"], equals: heard[0].id.json)
            await johns.close()
        }
    }

    @Test("The SDK reports a group that its user has left", arguments: Stack.all, modes)
    func theSDKLeaves(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let events = jane.client.live(group: group).makeAsyncIterator()
            guard case .connected(group)? = try await events.next() else {
                return #expect(Bool(false), "not connected")
            }
            try await jane.client.leave(group)
            guard case .refused(group)? = try await events.next() else { return #expect(Bool(false), "not refused") }
        }
    }

    @Test("The SDK sends its token, and reports a group that refuses its user", arguments: Stack.all, modes)
    func theSDK(_ stack: Stack, _ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: stack, sockets: mode) { host in
            let (john, jane) = try await host.world().pair()
            let (own, foreign) = (try await jane.group(with: john), try await john.group())
            let live = jane.client.live(group: foreign)
            let events = live.makeAsyncIterator()
            guard case .refused(foreign)? = try await events.next() else { return #expect(Bool(false), "not refused") }
            await live.change(to: own)
            guard case .connected(own)? = try await events.next() else { return #expect(Bool(false), "not connected") }
            let logged = try await john.log(in: own)
            guard case .logged(let notice)? = try await events.next() else { return #expect(Bool(false), "no log") }
            #expect(notice.entry.id == logged[0].id)
        }
    }

    @Test("An expired token closes with 4001, unless a newer one came over the socket", arguments: modes)
    func expiry(_ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess), sockets: mode) { host in
            let loop = NIOAsyncTestingEventLoop()
            var settings = DeuceDiaryService.Settings(publicURL: "http://test")
            settings.socketAuthentication = mode
            let service = DeuceDiaryService(
                database: host.database, objects: host.objects, tokens: { [issuer = host.issuer] in issuer.read($0) },
                pictures: { _, _ in nil }, secret: .ofTests(9), group: loop, time: host.clock.source,
                settings: settings)
            let route = try #require(service.sockets().first)
            for renewal in [nil, 300] as [Int64?] {
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
                if let renewal {
                    let newer = try host.issuer.issue("user_1", lifetime: renewal)
                    // The answer to the second frame shows that the first one was handled.
                    for frame in [
                        #"{"type":"auth","token":"\#(newer)"}"#, #"{"type":"join_group","groupId":"x"}"#,
                    ] {
                        try await loop.executeInContext { socket.handler.value?.received(ByteBuffer(string: frame)) }
                    }
                    while socket.sent.isEmpty {
                        await loop.run()
                        await Task.yield()
                    }
                    #expect(socket.sent == [#"{"type":"error","message":"Invalid groupId"}"#])
                    await loop.advanceTime(by: .seconds(renewal - 1))
                    #expect(socket.code == nil)
                }
                await loop.advanceTime(by: .seconds(1))
                #expect(socket.code == .sessionEnded)
                try await loop.executeInContext { socket.handler.value?.closed() }
            }
            await loop.shutdownGracefully()
        }
    }

    @Test("The SDK offers its token in a header, and sends a newer one over the socket in time", arguments: modes)
    func theSDKRenews(_ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess), sockets: mode) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let newer = try host.issuer.issue(jane.id.rawValue, lifetime: 7200)
            let current = NIOLockedValueBox(jane.token)
            let client = DeuceDiaryClient(
                baseURL: host.baseURL, transport: host.transport, retry: .never,
                token: { current.withLockedValue { $0 } })
            let sockets = ListeningSockets(base: host.sockets)
            // A wait for a renewal ends when the test asks for it; other waits never end.
            let (isDue, renew) = AsyncStream<Void>.makeStream()
            let far = Duration.seconds(1_000_000)
            let pacing = LiveConnection.Pacing(
                pingInterval: far, patience: far, base: far, cap: far,
                sleep: { wait in
                    if wait < far / 2 { for await _ in isDue { return } }
                    try await Task.sleep(for: far)
                })
            let events = client.live(group: group, over: sockets, pacing: pacing).makeAsyncIterator()
            guard case .connected(group)? = try await events.next() else {
                return #expect(Bool(false), "not connected")
            }
            #expect(sockets.headers.map { $0[.authorization] } == ["Bearer \(jane.token)"])
            #expect(sockets.urls.map(\.query) == [nil])
            // The app still has the same token, so nothing is sent, and it is asked again.
            renew.yield()
            renew.yield()
            current.withLockedValue { $0 = newer }
            renew.yield()
            renew.yield()
            let frame = try #require(try await sockets.frame { $0.contains("auth") })
            // Foundation writes the members in any order.
            #expect(
                try JSONDecoder().decode([String: String].self, from: Data(frame.utf8)) == [
                    "type": "auth", "token": newer,
                ])
            let logged = try await john.log(in: group)
            guard case .logged(let notice)? = try await events.next() else { return #expect(Bool(false), "no log") }
            #expect(notice.entry.id == logged[0].id)
            #expect(sockets.urls.count == 1)
        }
    }

    @Test("With rate limits, an address has a number of sockets and wrong tokens a minute", arguments: Stack.all)
    func limits(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, requestsPerMinute: 5) { host in
            let url = host.baseURL.appendingPathComponent("ws")
            func status(_ token: String?) async throws -> Int {
                do {
                    var headers: HTTPFields = [:]
                    headers[.authorization] = token.map { "Bearer \($0)" }
                    let socket = try await host.sockets.open(url, headers: headers, maximumMessageSize: 65_536)
                    await socket.close(code: 1000, reason: "")
                    return 101
                } catch let refused as SocketRefused {
                    return refused.status
                }
            }
            for _ in 0..<3 { #expect(try await status(nil) == 101) }
            #expect(try await status("nonsense") == 401)
            try await host.world().raw.send(.get, "/api/groups", token: "nonsense").refused(401, "Invalid token")
            let text = "Too many requests, please try again later."
            for _ in 0..<2 {
                #expect(try await status(nil) == 429)
                #expect(try await status("nonsense") == 429)
                let refused = try await host.world().raw.send(.get, "/api/groups", token: "nonsense").refused(429, text)
                #expect(refused.headers[.retryAfter] == "60")
            }
            // Valid tokens count towards the limits of their users, independent of the address.
            for user in ["john", "jane"] {
                let token = try host.issuer.issue(user)
                for _ in 0..<5 { #expect(try await status(token) == 101) }
                #expect(try await status(token) == 429)
            }
            // This is the rest of the minute.
            host.clock.advance(by: .milliseconds(41_500))
            let late = try await host.world().raw.send(.get, "/api/groups", token: "nonsense").refused(429, text)
            #expect(late.headers[.retryAfter] == "19")
            host.clock.advance(by: .milliseconds(18_500))
            #expect(try await status(nil) == 101)
        }
    }
}

/// A socket without a network that records how it is closed.
private final class ClosingSocket: SocketConnection, Sendable {
    let loop: NIOAsyncTestingEventLoop
    let handler: NIOLoopBoundBox<(any SocketHandler)?>
    private let closed = NIOLockedValueBox<SocketCloseCode?>(nil)
    private let frames = NIOLockedValueBox<[String]>([])

    init(_ loop: NIOAsyncTestingEventLoop) {
        self.loop = loop
        handler = .makeEmptyBox(eventLoop: loop)
    }

    var code: SocketCloseCode? { closed.withLockedValue { $0 } }
    var sent: [String] { frames.withLockedValue { $0 } }

    var eventLoop: any EventLoop { loop }
    var remoteAddress: String? { nil }
    func send(_ frame: TextFrame) { frames.withLockedValue { $0.append(String(buffer: frame.payload)) } }
    func whenFlushed(_ action: @escaping () -> Void) { action() }
    func close(_ code: SocketCloseCode, reason: String) { closed.withLockedValue { $0 = $0 ?? code } }
}
