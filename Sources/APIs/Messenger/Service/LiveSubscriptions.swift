import Contract
import Database
import EventBus
import MessengerAPI
import NIOCore
import WebSockets

extension LiveSocket {
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
        let before = subscriptions[chat]?.place
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
    private func restore(_ before: Subscription.Place?, of chat: Messenger.Chat.ID) {
        guard let before else { return drop(chat) }
        // A gap that was noticed meanwhile stays one.
        let hasGap = subscriptions[chat]?.place.hasGap == true
        subscriptions[chat]?.place = before
        if hasGap { subscriptions[chat]?.place.hasGap = true }
        // Sends the events that waited.
        deliver([], in: chat)
    }

    /// Makes later events wait until the gap has been read. If they were sent before, the client would take them for all
    /// that happened.
    func noticeGap(in chat: Messenger.Chat.ID) {
        guard let subscription = subscriptions[chat], !subscription.place.hasGap else { return }
        subscription.waiting = subscription.waiting ?? []
        subscription.place.hasGap = true
        enqueue { $0.lookAgain(at: chat) }
    }

    /// Reads the messages that may have been missed since the newest one that was sent.
    func lookAgain(at chat: Messenger.Chat.ID) {
        guard let user = caller?.user, let last = subscriptions[chat]?.place.last else { return }
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
        let subscription = subscriptions[chat] ?? Subscription(of: chat, by: self, on: socket)
        subscription.place = Subscription.Place(last: since ?? .init(0))
        subscription.waiting = subscription.waiting ?? []
        subscriptions[chat] = subscription
        service.hub.subscribe(subscription, to: .chat(chat), on: socket.eventLoop)
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
        if let subscription = subscriptions[chat] {
            let last = subscription.place.last
            subscription.place.last = max(last, backlog.newest)
            subscription.place.read = max(last, backlog.newest, backlog.missed.last?.id ?? last)
        }
        deliver(backlog.missed[...], in: chat)
    }

    /// Sends the history in batches, each when the one before has left, then the events that waited.
    private func deliver(_ missed: ArraySlice<Messenger.Message>, in chat: Messenger.Chat.ID) {
        for message in missed.prefix(Self.batch) {
            subscriptions[chat]?.push(.message(message.id, frame: TextFrame(message)))
        }
        let rest = missed.dropFirst(Self.batch)
        if rest.isEmpty {
            // Another reading of the history follows this one.
            if subscriptions[chat]?.place.hasGap == true { return }
            let waiting = subscriptions[chat]?.waiting ?? []
            subscriptions[chat]?.waiting = nil
            // One of them may end the subscription.
            for event in waiting { subscriptions[chat]?.push(event) }
            return
        }
        whenFlushed { $0.deliver(rest, in: chat) }
    }

    func unsubscribe(from chat: Messenger.Chat.ID) {
        drop(chat)
        send(Messenger.Unsubscribed(chat: chat))
    }

    func type(in chat: Messenger.Chat.ID) {
        guard subscriptions[chat] != nil, let user = caller?.user else {
            return answer("Not subscribed to this chat")
        }
        service.announceTyping(by: user, in: chat)
    }

    func drop(_ chat: Messenger.Chat.ID) {
        guard let socket, let subscription = subscriptions.removeValue(forKey: chat) else { return }
        service.hub.unsubscribe(subscription, from: .chat(chat), on: socket.eventLoop)
    }
}

extension LiveSocket: Subscriber {
    /// Receives what concerns the user. The events of chats go to the socket's subscriptions.
    func receive(_ event: LiveEvent, on topic: LiveTopic) {
        switch (topic, event) {
        case (.chats, .gap): send(Messenger.ChatsChanged())
        case (.chats, .passing(let frame)): socket?.send(frame)
        case (.session, .gap): checkSession()
        case (.session, _): end()
        case (.chats, _), (.chat, _): break
        }
    }
}
