import Backend
import Contract
import ContractServer
import Database
import Foundation
import MessengerAPI
import NIOCore
import Realtime
import WebSockets

/// What sockets listen to.
enum LiveTopic: Hashable, Sendable {
    case chat(Messenger.Chat.ID)
    case session(String)
}

enum LiveEvent: Sendable {
    case message(Messenger.Message, frame: TextFrame)
    case sessionEnded

    static func message(_ message: Messenger.Message) -> LiveEvent {
        .message(message, frame: .init(.message(message)))
    }
}

typealias LiveHub = Hub<LiveTopic, LiveEvent>

extension TextFrame {
    init(_ frame: Messenger.ServerFrame) {
        // Every frame is text, numbers and dates: there is nothing in it that JSON cannot hold.
        self.init((try? JSONBody.encode(frame)) ?? ByteBuffer(string: "{}"))
    }
}

/// One client on `/ws`. Lives on its event loop; a frame that needs the database is answered before the next is read.
final class LiveSocket: SocketHandler {
    static let authenticationDeadline = TimeAmount.seconds(10)
    static let maximumSubscriptions = 1000
    /// More missed messages than this are not sent again: the client reads them with GET.
    static let maximumBacklog = 1000
    /// Sent at once, so that a backlog never fills the queue of a reader who keeps up.
    static let batch = 100

    private let service: MessengerService
    private var socket: (any SocketConnection)?
    private var caller: Caller?
    private var deadline: Scheduled<Void>?
    private var subscriptions: [Messenger.Chat.ID: Subscription] = [:]
    private var inbox = CircularBuffer<ByteBuffer>(initialCapacity: 0)
    private var isBusy = false

    init(service: MessengerService) { self.service = service }

    func opened(_ socket: any SocketConnection) {
        self.socket = socket
        schedule(in: Self.authenticationDeadline) { $0.refuse("Authentication timeout") }
    }

    func received(_ text: ByteBuffer) {
        inbox.append(text)
        next()
    }

    func receivedBinary(_ count: Int) {
        if caller == nil { refuse("Not authenticated") }
    }

    func closed() {
        deadline?.cancel()
        guard let socket else { return }
        self.socket = nil
        inbox.removeAll()
        for chat in subscriptions.keys { service.hub.unsubscribe(self, from: .chat(chat), on: socket.eventLoop) }
        subscriptions = [:]
        if let caller { service.hub.unsubscribe(self, from: .session(caller.session), on: socket.eventLoop) }
    }

    // MARK: Frames

    private func next() {
        while !isBusy, socket != nil, let text = inbox.popFirst() { handle(text) }
    }

    private func handle(_ text: ByteBuffer) {
        let bytes = text.readableBytesView
        let frame =
            JSONShape.isObject(bytes)
            ? try? JSONDecoder().decode(Messenger.ClientFrame.self, from: Data(bytes)) : nil
        guard let frame else { return caller == nil ? refuse("Invalid JSON") : send(.error("Invalid JSON")) }
        if case .auth(let token) = frame { return authenticate(token) }
        guard caller != nil else { return refuse("Not authenticated") }
        switch frame {
        case .subscribe(let chat, let since): subscribe(to: chat, since: since)
        case .unsubscribe(let chat): unsubscribe(from: chat)
        case .ping: send(.pong)
        case .unknown(let type): send(.error("Unknown message type: \(String(type.unicodeScalars.prefix(64)))"))
        case .auth: break
        }
    }

    private func send(_ frame: Messenger.ServerFrame) { socket?.send(TextFrame(frame)) }

    /// Ends a socket that did not sign in.
    private func refuse(_ text: String) {
        send(.error(text))
        socket?.close(.policyViolation, reason: "")
    }

    /// Works off the event loop and comes back to it with the result, before the next frame is looked at.
    private func work<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result,
        then finish: @escaping @Sendable (LiveSocket, Swift.Result<Result, any Error>) -> Void
    ) {
        guard let eventLoop = socket?.eventLoop else { return }
        isBusy = true
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        Task {
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            eventLoop.execute {
                this.value.isBusy = false
                guard this.value.socket != nil else { return }
                finish(this.value, result)
                this.value.next()
            }
        }
    }

    private func schedule(in delay: TimeAmount, _ action: @escaping @Sendable (LiveSocket) -> Void) {
        deadline?.cancel()
        guard let eventLoop = socket?.eventLoop else { return }
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        deadline = eventLoop.scheduleTask(in: delay) { action(this.value) }
    }

    // MARK: Authentication

    private func authenticate(_ token: String) {
        let service = service
        work({ try await service.caller(token) }) { this, result in
            guard case .success(let caller) = result, this.caller.map({ $0.user == caller.user }) ?? true else {
                return this.refuse("Invalid or expired access token")
            }
            this.begin(caller)
        }
    }

    private func begin(_ caller: Caller) {
        guard let socket else { return }
        if let old = self.caller { service.hub.unsubscribe(self, from: .session(old.session), on: socket.eventLoop) }
        self.caller = caller
        service.hub.subscribe(self, to: .session(caller.session), on: socket.eventLoop)
        schedule(in: .seconds(max(0, caller.expiresAt - service.time.seconds))) { $0.end() }
        // The session may have ended between the look at it and the subscription to its end.
        let service = service
        work({ try await service.sessions.isAlive(caller.session) }) { this, alive in
            if case .success(false) = alive { this.end() } else { this.send(.authOK(caller.user)) }
        }
    }

    private func end() { socket?.close(.sessionEnded, reason: "Session ended") }

    // MARK: Subscriptions

    /// A subscribed chat. While its history is read, what happens meanwhile waits.
    private struct Subscription {
        /// The newest message that was sent: nothing is sent twice, nor out of order.
        var last: Messenger.Message.ID
        var waiting: [(Messenger.Message, TextFrame)]?
    }

    private struct Backlog: Sendable {
        var missed: [Messenger.Message] = []
        var isTooLong = false
    }

    private func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID?) {
        guard chat.isValid else { return send(.error("Invalid chat_id")) }
        if let since, since.rawValue < 0 { return send(.error("Invalid since")) }
        guard let socket, let user = caller?.user else { return }
        guard subscriptions[chat] != nil || subscriptions.count < Self.maximumSubscriptions else {
            return send(.error("Too many subscriptions (max \(Self.maximumSubscriptions))"))
        }
        // Events from now on wait until the history is sent; what was committed before is in the history.
        let before = subscriptions[chat]
        subscriptions[chat] = Subscription(last: since ?? before?.last ?? .init(0), waiting: before?.waiting ?? [])
        service.hub.subscribe(self, to: .chat(chat), on: socket.eventLoop)
        let database = service.database
        work({
            try await database.read { db -> Backlog? in
                guard try Chats.isMember(user, of: chat, in: db) else { return nil }
                guard let since else { return Backlog() }
                let missed = try Messages.following(since, in: chat, limit: Self.maximumBacklog + 1, db)
                return missed.count > Self.maximumBacklog ? Backlog(isTooLong: true) : Backlog(missed: missed)
            }
        }) { this, result in
            switch result {
            case .success(let backlog?):
                this.send(.subscribed(chat))
                if backlog.isTooLong { this.send(.resync(chat)) }
                this.deliver(backlog.missed[...], in: chat)
            case .success(nil):
                this.drop(chat)
                this.send(.error("Not a member of this chat"))
            case .failure:
                this.drop(chat)
                this.send(.error(Messenger.phrases.unavailable))
            }
        }
    }

    /// Sends the history a batch at a time, each when the one before has left, then what waited meanwhile.
    private func deliver(_ missed: ArraySlice<Messenger.Message>, in chat: Messenger.Chat.ID) {
        guard let socket else { return }
        for message in missed.prefix(Self.batch) { push(message, .init(.message(message))) }
        let rest = missed.dropFirst(Self.batch)
        if rest.isEmpty {
            let waiting = subscriptions[chat]?.waiting ?? []
            subscriptions[chat]?.waiting = nil
            for (message, frame) in waiting { push(message, frame) }
            return
        }
        isBusy = true
        let this = NIOLoopBound(self, eventLoop: socket.eventLoop)
        socket.whenFlushed {
            this.value.isBusy = false
            this.value.deliver(rest, in: chat)
            this.value.next()
        }
    }

    private func push(_ message: Messenger.Message, _ frame: TextFrame) {
        guard let last = subscriptions[message.chat]?.last, message.id > last else { return }
        subscriptions[message.chat]?.last = message.id
        socket?.send(frame)
    }

    private func unsubscribe(from chat: Messenger.Chat.ID) {
        guard chat.isValid else { return send(.error("Invalid chat_id")) }
        drop(chat)
        send(.unsubscribed(chat))
    }

    private func drop(_ chat: Messenger.Chat.ID) {
        guard let socket, subscriptions.removeValue(forKey: chat) != nil else { return }
        service.hub.unsubscribe(self, from: .chat(chat), on: socket.eventLoop)
    }
}

extension LiveSocket: Subscriber {
    func receive(_ event: LiveEvent, on topic: LiveTopic) {
        switch event {
        case .message(let message, let frame):
            if subscriptions[message.chat]?.waiting?.append((message, frame)) == nil { push(message, frame) }
        case .sessionEnded:
            end()
        }
    }
}
