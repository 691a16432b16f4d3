import Foundation
import HTTPTypes
import Identity
import MessengerAPI
import MessengerCheck
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testbed
import Testing
import WebSockets

@testable import MessengerService

/// A socket keeps its deadlines, here on a virtual clock.
@Suite(.timeLimit(.minutes(30))) struct LiveSocketTests {
    @Test("A socket without a sign-in is closed after ten seconds")
    func silence() async throws {
        try await withSocket { socket, _ in
            await socket.loop.advanceTime(by: .milliseconds(9_999))
            #expect(socket.frames == [])
            await socket.loop.advanceTime(by: .milliseconds(1))
            #expect(socket.frames == [#"{"type":"error","message":"Authentication timeout"}"#])
            #expect(socket.closeCode == .policyViolation)
        }
    }

    @Test("A signed-in socket outlasts that, and is closed with 4001 when its token expires")
    func expiry() async throws {
        try await withSocket { socket, host in
            let alice = try await host.person()
            try await socket.signIn(alice.token)
            await socket.advance(by: 3599, host.clock)
            #expect(socket.closeCode == nil)
            await socket.advance(by: 60, host.clock)
            #expect(socket.closeCode == .sessionEnded)
        }
    }

    @Test("Signing in again extends the socket's life")
    func renewal() async throws {
        try await withSocket { socket, host in
            let alice = try await host.person()
            try await socket.signIn(alice.token)
            await socket.advance(by: 3000, host.clock)
            let renewed = try await alice.send(Messenger.Refresh(refreshToken: alice.refreshToken))
            try await socket.signIn(renewed.accessToken)
            await socket.advance(by: 3599, host.clock)
            #expect(socket.closeCode == nil)
            await socket.advance(by: 60, host.clock)
            #expect(socket.closeCode == .sessionEnded)
        }
    }

    @Test("Binary is ignored after signing in, and refused before")
    func binary() async throws {
        try await withSocket { socket, host in
            let alice = try await host.person()
            try await socket.signIn(alice.token)
            try await socket.do { $0.receivedBinary(3) }
            #expect(socket.frames.count == 1)
            #expect(socket.closeCode == nil)
        }
        try await withSocket { socket, _ in
            try await socket.do { $0.receivedBinary(3) }
            #expect(socket.frames == [#"{"type":"error","message":"Not authenticated"}"#])
            #expect(socket.closeCode == .policyViolation)
        }
    }

    @Test("A client that does not wait for answers is closed before the memory is full")
    func flood() async throws {
        try await withSocket { socket, host in
            let alice = try await host.person()
            try await socket.do { socket in
                // The sign-in needs the database's threads, and later frames wait for it.
                socket.received(ByteBuffer(string: #"{"type":"auth","token":"\#(alice.token)"}"#))
                for _ in 0..<5000 { socket.received(ByteBuffer(string: #"{"type":"ping"}"#)) }
            }
            #expect(socket.closeCode == .policyViolation)
        }
    }

    @Test("Of messages that come together, those are sent that the socket has not sent")
    func joinedMessages() async throws {
        try await withSocket { socket, host in
            let alice = try await host.person()
            let chat = try await alice.group()
            try await socket.signIn(alice.token)
            try await socket.answer(#"{"type":"subscribe","chat_id":\#(chat)}"#, #"{"type":"subscribed""#)
            let before = socket.frames.count
            for messages in [[2], [1, 2, 3], [4, 5], [4, 5]] as [[Messenger.Message.ID]] {
                let events = LiveEvent.joined(messages.map { .message($0, frame: TextFrame("\($0)")) })
                #expect(events.count == 1)
                try await socket.do { handler in
                    let subscription = (handler as? LiveSocket)?.subscriptions[chat]
                    for event in events { subscription?.receive(event, on: .chat(chat)) }
                }
            }
            #expect(socket.frames.dropFirst(before) == ["2", "3", "4", "5"])
        }
    }

    @Test("Messages in ascending order are joined, up to other events")
    func joining() {
        func joined(_ events: [LiveEvent]) -> [String] {
            LiveEvent.joined(events).map { event in
                switch event {
                case .message(let id, let frame): "\(id) \(String(buffer: frame.payload))"
                case .messages(let ids, let frames):
                    "\(ids.map(\.description)) \(frames.each.map { String(buffer: $0.payload) })"
                case .gap: "gap"
                default: "other"
                }
            }
        }
        func message(_ id: Int64) -> LiveEvent { .message(.init(id), frame: TextFrame("m\(id)")) }
        #expect(joined([]) == [])
        #expect(joined([message(1)]) == ["1 m1"])
        #expect(
            joined([message(1), message(3), .gap, message(4), .passing(frame: TextFrame("x")), message(6), message(7)])
                == [#"["1", "3"] ["m1", "m3"]"#, "gap", "4 m4", "other", #"["6", "7"] ["m6", "m7"]"#])
        #expect(joined([message(2), message(1), message(2)]) == ["2 m2", #"["1", "2"] ["m1", "m2"]"#])
        let many = LiveEvent.joined((1...130).map(message))
        #expect(many.count == 3)
        // Messages that are too large to be joined stay as they are.
        let large = TextFrame(String(repeating: "x", count: 40_000))
        #expect(LiveEvent.joined([.message(1, frame: large), .message(2, frame: large)]).count == 2)
    }

    /// Opens a socket of a service whose event loop the test drives.
    private func withSocket(_ body: (DrivenSocket, MessengerHost) async throws -> Void) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let loop = NIOAsyncTestingEventLoop()
            let service = MessengerService(
                database: host.database, objects: host.objects, passwords: Passwords(cost: .testing),
                mailer: TestMailbox(),
                secret: .ofTests(9), group: loop, time: host.clock.source)
            let route = try #require(service.sockets().first)
            let request = HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/ws")
            guard case .accept(let make) = await route.admit(request, nil) else {
                Issue.record("the upgrade was refused")
                return
            }
            let socket = DrivenSocket(loop)
            try await socket.open(make)
            try await body(socket, host)
            try await socket.do { $0.closed() }
            await loop.shutdownGracefully()
        }
    }
}

/// Both ends of a socket without a network, on an event loop whose clock a test moves.
private final class DrivenSocket: SocketConnection, Sendable {
    let loop: NIOAsyncTestingEventLoop
    private let handler: NIOLoopBoundBox<(any SocketHandler)?>
    private let sent = NIOLockedValueBox<[String]>([])
    private let closed = NIOLockedValueBox<SocketCloseCode?>(nil)

    init(_ loop: NIOAsyncTestingEventLoop) {
        self.loop = loop
        handler = .makeEmptyBox(eventLoop: loop)
    }

    var frames: [String] { sent.withLockedValue { $0 } }
    var closeCode: SocketCloseCode? { closed.withLockedValue { $0 } }

    func open(_ make: @escaping @Sendable () -> any SocketHandler) async throws {
        try await loop.executeInContext {
            let handler = make()
            self.handler.value = handler
            handler.opened(self)
        }
    }

    func `do`(_ action: @escaping @Sendable (any SocketHandler) -> Void) async throws {
        try await loop.executeInContext { if let handler = self.handler.value { action(handler) } }
    }

    /// Signs in, which takes real time because it uses the database's threads.
    func signIn(_ token: String) async throws {
        try await answer(#"{"type":"auth","token":"\#(token)"}"#, #"{"type":"auth_ok""#)
    }

    /// Hands the handler a frame, and waits for the answer, which begins as given.
    func answer(_ frame: String, _ prefix: String) async throws {
        let before = frames.count
        try await self.do { $0.received(ByteBuffer(string: frame)) }
        for _ in 0..<5000 where frames.count == before {
            await loop.run()
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(frames.last?.hasPrefix(prefix) == true)
    }

    /// Moves both clocks: the loop's and the service's.
    func advance(by seconds: Int64, _ clock: TestClock) async {
        clock.advance(by: .seconds(seconds))
        await loop.advanceTime(by: .seconds(seconds))
    }

    // The handler's side.
    var eventLoop: any EventLoop { loop }
    var remoteAddress: String? { nil }
    func send(_ frame: TextFrame) { sent.withLockedValue { $0.append(String(buffer: frame.payload)) } }
    func whenFlushed(_ action: @escaping () -> Void) { action() }
    func close(_ code: SocketCloseCode, reason: String) { closed.withLockedValue { $0 = $0 ?? code } }
}

extension MessengerHost {
    fileprivate func person() async throws -> Person {
        try await MessengerWorld(baseURL: baseURL, transport: transport, sockets: sockets).person()
    }
}
