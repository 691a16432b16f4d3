import Backend
import Contract
import Foundation
import MessengerAPI
import NIOCore
import WebSockets

/// One client on `/ws`. It lives on its event loop, and answers a frame that needs the database before it reads the next.
final class LiveSocket: SocketHandler {
    /// A deadline that is noticed later than this shows that the event loop was busy.
    private static let lag = TimeAmount.milliseconds(100)
    static let maximumSubscriptions = 1000
    /// The maximum number of missed messages that are sent again. A client that missed more reads them with GET.
    static let maximumBacklog = 1000
    /// The number of missed messages that are sent at once, so that they never fill the queue of a client that keeps up.
    static let batch = 100

    /// The maximum size of the frames that wait while another is answered, in bytes, where each frame counts 64 more than
    /// it has. There is room to subscribe to every chat at once, and for a long frame. A client that sends more does not
    /// wait for answers, and its socket is closed.
    static let maximumInbox = 262_144

    let service: MessengerService
    private(set) var socket: (any SocketConnection)?
    private(set) var caller: Caller?
    /// Whether the client has asked for frames about the user's list of chats.
    private var hearsOfChats = false
    private var deadline: Scheduled<Void>?
    var subscriptions: [Messenger.Chat.ID: Subscription] = [:]
    /// The frames, and the chats whose events may have been missed, one after the other; nil unless the socket is open.
    private var tasks: SerialQueue?
    private var inboxSize = 0

    init(_ service: MessengerService) { self.service = service }

    func opened(_ socket: any SocketConnection) {
        self.socket = socket
        tasks = SerialQueue(on: socket.eventLoop)
        schedule(in: TimeAmount(service.settings.signInTime)) { $0.refuse("Authentication timeout") }
    }

    func received(_ text: ByteBuffer) {
        guard inboxSize < Self.maximumInbox else {
            socket?.close(.policyViolation, reason: "Too many frames")
            return
        }
        let cost = text.readableBytes + 64
        inboxSize += cost
        enqueue { this in
            this.inboxSize -= cost
            this.handle(text)
        }
    }

    /// Runs a task when those before it have ended.
    func enqueue(_ task: @escaping (LiveSocket) -> Void) {
        tasks?.enqueue { task(self) }
    }

    func receivedBinary(_ count: Int) {
        if caller == nil { refuse("Not authenticated") }
    }

    func closed() {
        deadline?.cancel()
        guard let socket else { return }
        self.socket = nil
        tasks?.end()
        tasks = nil
        for (chat, subscription) in subscriptions {
            service.hub.unsubscribe(subscription, from: .chat(chat), on: socket.eventLoop)
        }
        subscriptions = [:]
        if let caller {
            service.hub.unsubscribe(self, from: .session(caller.session), on: socket.eventLoop)
            if hearsOfChats { service.hub.unsubscribe(self, from: .chats(of: caller.user), on: socket.eventLoop) }
        }
    }

    // MARK: Frames

    private func handle(_ text: ByteBuffer) {
        let bytes = text.readableBytesView
        let frame =
            JSONShape.isObject(bytes)
            ? try? Messenger.clientFrames.decode(Data(bytes)) : nil
        guard let frame else { return caller == nil ? refuse("Invalid JSON") : answer("Invalid JSON") }
        if let frame = frame as? Messenger.Authenticate { return authenticate(frame) }
        guard caller != nil else { return refuse("Not authenticated") }
        do { try frame.validate() } catch { return answer(error.message) }
        switch frame {
        case let frame as Messenger.Subscribe: subscribe(to: frame.chat, since: frame.since)
        case let frame as Messenger.Unsubscribe: unsubscribe(from: frame.chat)
        case let frame as Messenger.StartTyping: type(in: frame.chat)
        case is Messenger.Ping: send(Messenger.Pong())
        default: answer("Unknown message type: \(String(frame.wireType.unicodeScalars.prefix(64)))")
        }
    }

    func send(_ frame: some Messenger.ServerFrame) { socket?.send(TextFrame(frame)) }

    /// Answers a frame that is refused.
    func answer(_ error: String) { send(Messenger.LiveError(message: error)) }

    /// Ends a socket that did not sign in.
    private func refuse(_ text: String) {
        answer(text)
        socket?.close(.policyViolation, reason: "")
    }

    /// Runs an operation off the event loop, and handles its result on the loop before the next task.
    func work<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result,
        then finish: @escaping (LiveSocket, Swift.Result<Result, any Error>) -> Void
    ) {
        tasks?.work(operation) { finish(self, $0) }
    }

    private func schedule(
        in delay: TimeAmount, isExtended: Bool = false, _ action: @escaping @Sendable (LiveSocket) -> Void
    ) {
        deadline?.cancel()
        guard let eventLoop = socket?.eventLoop else { return }
        let (this, due) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop.now + delay)
        deadline = eventLoop.scheduleTask(deadline: due) {
            // An event loop that was busy has not read what the client has sent in time: it reads before the deadline is
            // applied.
            if !isExtended, eventLoop.now - due > Self.lag {
                this.value.schedule(in: Self.lag, isExtended: true, action)
            } else {
                action(this.value)
            }
        }
    }

    /// Runs an action when everything sent so far has left, before the next task.
    func whenFlushed(_ action: @escaping (LiveSocket) -> Void) {
        guard let socket else { return }
        tasks?.wait(for: socket.whenFlushed) { action(self) }
    }

    // MARK: Authentication

    private func authenticate(_ frame: Messenger.Authenticate) {
        let service = service
        let look = { @Sendable in try await service.sessions.caller(frame.token) }
        work(look) { this, result in
            switch result {
            case .success(let caller) where this.caller.map({ $0.user == caller.user }) ?? true:
                this.begin(caller, asksForChats: frame.chats == true)
            // The token may be valid: it could not be checked.
            case .failure(let error) where !(error is Problem): this.giveUp()
            case .failure(let problem as Problem) where problem.status == .forbidden: this.refuse(problem.message)
            default: this.refuse("Invalid or expired access token")
            }
        }
    }

    private func begin(_ caller: Caller, asksForChats: Bool) {
        guard let socket else { return }
        if let old = self.caller { service.hub.unsubscribe(self, from: .session(old.session), on: socket.eventLoop) }
        self.caller = caller
        service.hub.subscribe(self, to: .session(caller.session), on: socket.eventLoop)
        schedule(in: .seconds(max(0, caller.expiresAt - service.time.seconds))) { $0.end() }
        // The session may have ended after it was checked and before the subscription to that event.
        let service = service
        let look = { @Sendable in try await service.sessions.isOpenNow(caller) }
        work(look) { this, alive in
            switch alive {
            case .success(false): this.end()
            case .failure(let problem as Problem): this.refuse(problem.message)
            default: this.welcome(caller, asksForChats: asksForChats)
            }
        }
    }

    private func welcome(_ caller: Caller, asksForChats: Bool) {
        guard let socket else { return }
        if asksForChats, !hearsOfChats {
            hearsOfChats = true
            service.hub.subscribe(self, to: .chats(of: caller.user), on: socket.eventLoop)
        }
        // It is sent in the same turn of the event loop, so no frame about chats comes before it.
        send(Messenger.Authenticated(user: caller.user, chats: hearsOfChats ? true : nil))
    }

    /// Ends the socket if its session ended while events were missed.
    func checkSession() {
        guard let caller, let eventLoop = socket?.eventLoop else { return }
        let session = caller.session
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        Task { [service] in
            let isAlive = try? await service.sessions.isOpenNow(caller)
            eventLoop.execute {
                guard this.value.caller?.session == session else { return }
                switch isAlive {
                case true?: break
                case false?: this.value.end()
                case nil: this.value.giveUp()
                }
            }
        }
    }

    func end() { socket?.close(.sessionEnded, reason: "Session ended") }

    /// Closes the socket, so that the client reconnects and reads what it missed.
    func giveUp() { socket?.close(.tryAgainLater, reason: "Service temporarily unavailable") }
}
