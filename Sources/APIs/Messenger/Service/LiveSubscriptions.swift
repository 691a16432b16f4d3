import Contract
import Database
import EventBus
import MessengerAPI
import NIOCore
import WebSockets

extension LiveSocket {
    /// A subscribed chat. While its history is being read, its events wait.
    struct Subscription {
        /// The newest message that was sent or existed before. Older ones are not sent, so none comes twice or out of order.
        var last: Messenger.Message.ID
        /// The value of `last` when the chat was last read. Later messages were sent when they were announced.
        var read = Messenger.Message.ID(0)
        /// The newest version of the chat that the socket knows. A change with an older version is outdated.
        var version: Int64
        /// The chat's version when the user was found to be a member.
        var membership: Int64
        var waiting: [LiveEvent]?
        /// Whether events may have been missed that have not been read yet.
        var hasGap = false
    }

    private struct Backlog: Sendable {
        var missed: [Messenger.Message] = []
        /// Whether the client must read the chat itself: it missed too many messages, or changes.
        var mustResync = false
        /// The newest message of the chat. It and older ones need not be sent when they are announced late.
        var newest = Messenger.Message.ID(0)
        var version: Int64
        /// The number of the chat's events, all of which it has.
        var events: Int64
    }

    func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID?) {
        guard let user = caller?.user else { return }
        guard subscriptions[chat] != nil || subscriptions.count < Self.maximumSubscriptions else {
            return answer("Too many subscriptions (max \(Self.maximumSubscriptions))")
        }
        // An existing subscription continues where it is, so that messages that are committed but not announced yet are
        // sent.
        let before = subscriptions[chat]
        let since = since ?? before?.last
        begin(chat, since: since)
        read(chat, since: since, for: user) { this, result in
            switch result {
            case .success(let backlog?):
                if before == nil { this.subscriptions[chat]?.version = backlog.version }
                this.subscriptions[chat]?.membership = backlog.version
                this.send(Messenger.Subscribed(chat: chat))
                this.deliver(backlog, in: chat)
            case .success(nil):
                this.drop(chat)
                if before != nil { this.send(Messenger.Unsubscribed(chat: chat)) }
                this.answer("Not a member of this chat")
            case .failure:
                this.restore(before, of: chat)
                this.send(Messenger.LiveError(message: "Try again", chat: chat))
            }
        }
    }

    /// Restores the subscription that existed before one whose membership could not be checked.
    private func restore(_ before: Subscription?, of chat: Messenger.Chat.ID) {
        guard let before else { return drop(chat) }
        subscriptions[chat]?.last = before.last
        subscriptions[chat]?.read = before.read
        if before.hasGap { subscriptions[chat]?.hasGap = true }
        // Sends the events that waited.
        deliver([], in: chat)
    }

    /// Makes later events wait until the gap has been read. If they were sent before, the client would take them for all
    /// that happened.
    private func noticeGap(in chat: Messenger.Chat.ID) {
        guard let subscription = subscriptions[chat], !subscription.hasGap else { return }
        subscriptions[chat]?.waiting = subscription.waiting ?? []
        subscriptions[chat]?.hasGap = true
        enqueue { $0.lookAgain(at: chat) }
    }

    /// Reads the messages that may have been missed since the newest one that was sent.
    func lookAgain(at chat: Messenger.Chat.ID) {
        guard let user = caller?.user, let last = subscriptions[chat]?.last else { return }
        begin(chat, since: last)
        read(chat, since: last, for: user) { this, result in
            switch result {
            case .success(var backlog?):
                // Changes are not sent again: the client reads them.
                if let known = this.subscriptions[chat]?.version, backlog.version > known { backlog.mustResync = true }
                this.deliver(backlog, in: chat)
            case .success(nil):
                this.drop(chat)
                this.send(Messenger.Unsubscribed(chat: chat))
            case .failure:
                this.giveUp()
            }
        }
    }

    /// Begins a subscription whose events wait until the history is sent, which has what was committed before.
    private func begin(_ chat: Messenger.Chat.ID, since: Messenger.Message.ID?) {
        guard let socket else { return }
        let before = subscriptions[chat]
        subscriptions[chat] = Subscription(
            last: since ?? .init(0), version: before?.version ?? 0, membership: before?.membership ?? 0,
            waiting: before?.waiting ?? [])
        service.hub.subscribe(self, to: .chat(chat), on: socket.eventLoop)
    }

    /// Reads the history of a chat; nil if the user is not a member.
    private func read(
        _ chat: Messenger.Chat.ID, since: Messenger.Message.ID?, for user: Messenger.User.ID,
        then finish: @escaping @Sendable (LiveSocket, Result<Backlog?, any Error>) -> Void
    ) {
        let database = service.database
        let operation = { @Sendable in
            try await database.read { db -> Backlog? in
                guard let (version, events) = try Members.state(of: chat, for: user, in: db) else { return nil }
                let newest = try Messages.newest(in: chat, db)
                guard let since else { return Backlog(newest: newest, version: version, events: events) }
                let missed = try db.get(Messages.following(since, in: chat, limit: Self.maximumBacklog + 1))
                return missed.count > Self.maximumBacklog
                    ? Backlog(mustResync: true, newest: newest, version: version, events: events)
                    : Backlog(missed: missed, version: version, events: events)
            }
        }
        work(operation, then: finish)
    }

    private func deliver(_ backlog: Backlog, in chat: Messenger.Chat.ID) {
        // Events that others read before this socket did will not come.
        if !service.publisher.begin(chat, at: backlog.events) { noticeGap(in: chat) }
        if backlog.mustResync { send(Messenger.Resync(chat: chat)) }
        if let last = subscriptions[chat]?.last {
            subscriptions[chat]?.last = max(last, backlog.newest)
            subscriptions[chat]?.read = max(last, backlog.newest, backlog.missed.last?.id ?? last)
        }
        deliver(backlog.missed[...], in: chat)
    }

    /// Sends the history in batches, each when the one before has left, then the events that waited.
    private func deliver(_ missed: ArraySlice<Messenger.Message>, in chat: Messenger.Chat.ID) {
        for message in missed.prefix(Self.batch) { push(.message(message.id, frame: TextFrame(message)), in: chat) }
        let rest = missed.dropFirst(Self.batch)
        if rest.isEmpty {
            // Another reading of the history follows this one.
            if subscriptions[chat]?.hasGap == true { return }
            let waiting = subscriptions[chat]?.waiting ?? []
            subscriptions[chat]?.waiting = nil
            for event in waiting { push(event, in: chat) }
            return
        }
        whenFlushed { $0.deliver(rest, in: chat) }
    }

    private func push(_ event: LiveEvent, in chat: Messenger.Chat.ID) {
        if let index = subscriptions.index(forKey: chat) { push(event, in: chat, at: index) }
    }

    /// Sends an event of a subscribed chat, unless the socket has sent what it says.
    ///
    /// - Parameter index: The place of the chat's subscription.
    fileprivate func push(
        _ event: LiveEvent, in chat: Messenger.Chat.ID, at index: [Messenger.Chat.ID: Subscription].Index
    ) {
        switch event {
        case .message(let message, let frame):
            guard message > subscriptions.values[index].last else { return }
            subscriptions.values[index].last = message
            socket?.send(frame)
        case .messages(let messages, let frames):
            guard let first = messages.first, let last = messages.last else { return }
            guard first > subscriptions.values[index].last else {
                // The socket has sent some of them.
                for (message, frame) in zip(messages, frames.each) { push(.message(message, frame: frame), in: chat) }
                return
            }
            subscriptions.values[index].last = last
            socket?.send(frames)
        // The caller's own membership has ended; or a new one has begun, so that the one before has ended.
        case .membership(caller?.user, let version, _):
            guard version > subscriptions.values[index].membership else { return }
            drop(chat)
            send(Messenger.Unsubscribed(chat: chat))
        case .membership(_, let version, let frame), .change(let version, let frame):
            guard version > subscriptions.values[index].version else { return }
            subscriptions.values[index].version = version
            socket?.send(frame)
        case .deletion(let message, let version, let frame):
            // A message that was sent and deleted before the chat was read is not in the history, but may be announced after
            // it. Its deletion must then be sent, although its version is outdated.
            guard version > subscriptions.values[index].version || message > subscriptions.values[index].read else {
                return
            }
            subscriptions.values[index].version = max(version, subscriptions.values[index].version)
            socket?.send(frame)
        case .typing(caller?.user, _), .sessionEnded, .gap: break
        case .typing(_, let frame), .passing(let frame): socket?.send(frame)
        }
    }

    func unsubscribe(from chat: Messenger.Chat.ID) {
        drop(chat)
        send(Messenger.Unsubscribed(chat: chat))
    }

    /// Returns the socket's user if it is subscribed to a chat.
    func user(subscribedTo chat: Messenger.Chat.ID) -> Messenger.User.ID? {
        subscriptions[chat] == nil ? nil : caller?.user
    }

    func type(in chat: Messenger.Chat.ID) {
        guard subscriptions[chat] != nil, let user = caller?.user else {
            return answer("Not subscribed to this chat")
        }
        service.announceTyping(by: user, in: chat)
    }

    private func drop(_ chat: Messenger.Chat.ID) {
        guard let socket, subscriptions.removeValue(forKey: chat) != nil else { return }
        service.hub.unsubscribe(self, from: .chat(chat), on: socket.eventLoop)
    }
}

extension LiveSocket: Subscriber {
    func receive(_ event: LiveEvent, on topic: LiveTopic) {
        switch (topic, event) {
        case (.chat(let chat), .gap): noticeGap(in: chat)
        case (.chat(let chat), _):
            guard let index = subscriptions.index(forKey: chat) else { return }
            if subscriptions.values[index].waiting == nil {
                push(event, in: chat, at: index)
            } else {
                subscriptions.values[index].waiting?.append(event)
            }
        case (.chats, .gap): send(Messenger.ChatsChanged())
        case (.chats, .passing(let frame)): socket?.send(frame)
        case (.chats, _): break
        case (.session, .gap): checkSession()
        case (.session, _): end()
        }
    }
}
