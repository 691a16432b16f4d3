import Contract
import Database
import MessengerAPI
import NIOCore
import Realtime
import WebSockets

extension LiveSocket {
    /// A subscribed chat. While its history is read, what happens meanwhile waits.
    struct Subscription {
        /// The newest message that was sent, or was there before: nothing is sent twice, nor out of order.
        var last: Messenger.Message.ID
        var waiting: [(Messenger.Message, TextFrame)]?
    }

    private struct Backlog: Sendable {
        var missed: [Messenger.Message] = []
        var isTooLong = false
        /// What was there before needs no sending, however late it is announced.
        var newest = Messenger.Message.ID(0)
    }

    func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID?) {
        guard chat.isValid else { return send(.error("Invalid chat_id")) }
        if let since, since.rawValue < 0 { return send(.error("Invalid since")) }
        guard let socket, let user = caller?.user else { return }
        guard subscriptions[chat] != nil || subscriptions.count < Self.maximumSubscriptions else {
            return send(.error("Too many subscriptions (max \(Self.maximumSubscriptions))"))
        }
        begin(chat, since: since)
        read(chat, since: since, for: user) { this, result in
            switch result {
            case .success(let backlog?):
                this.send(.subscribed(chat))
                this.deliver(backlog, in: chat)
            case .success(nil):
                this.drop(chat)
                this.send(.error("Not a member of this chat"))
            case .failure:
                this.drop(chat)
                this.send(.error(Messenger.phrases.unavailable))
            }
        }
    }

    /// Reads what may have been missed since the newest message that was sent.
    func lookAgain(at chat: Messenger.Chat.ID) {
        guard let user = caller?.user, let last = subscriptions[chat]?.last else { return }
        begin(chat, since: last)
        read(chat, since: last, for: user) { this, result in
            switch result {
            case .success(let backlog?):
                this.deliver(backlog, in: chat)
            case .success(nil):
                this.drop(chat)
                this.send(.unsubscribed(chat))
            case .failure:
                // Better no connection than one that is silent about what it missed.
                this.socket?.close(.tryAgainLater, reason: "Service temporarily unavailable")
            }
        }
    }

    /// Events from now on wait until the history is sent; what was committed before is in the history.
    private func begin(_ chat: Messenger.Chat.ID, since: Messenger.Message.ID?) {
        guard let socket else { return }
        let before = subscriptions[chat]
        subscriptions[chat] = Subscription(last: since ?? before?.last ?? .init(0), waiting: before?.waiting ?? [])
        service.hub.subscribe(self, to: .chat(chat), on: socket.eventLoop)
    }

    /// Nil for those who are not members.
    private func read(
        _ chat: Messenger.Chat.ID, since: Messenger.Message.ID?, for user: Messenger.User.ID,
        then finish: @escaping @Sendable (LiveSocket, Result<Backlog?, any Error>) -> Void
    ) {
        let database = service.database
        let operation = { @Sendable in
            try await database.read { db -> Backlog? in
                guard try Chats.isMember(user, of: chat, in: db) else { return nil }
                let newest = try Messages.newest(in: chat, db)
                guard let since else { return Backlog(newest: newest) }
                let missed = try Messages.following(since, in: chat, limit: Self.maximumBacklog + 1, db)
                return missed.count > Self.maximumBacklog
                    ? Backlog(isTooLong: true, newest: newest) : Backlog(missed: missed)
            }
        }
        work(operation, then: finish)
    }

    private func deliver(_ backlog: Backlog, in chat: Messenger.Chat.ID) {
        if backlog.isTooLong { send(.resync(chat)) }
        if let last = subscriptions[chat]?.last { subscriptions[chat]?.last = max(last, backlog.newest) }
        deliver(backlog.missed[...], in: chat)
    }

    /// Sends the history a batch at a time, each when the one before has left, then what waited meanwhile.
    private func deliver(_ missed: ArraySlice<Messenger.Message>, in chat: Messenger.Chat.ID) {
        for message in missed.prefix(Self.batch) { push(message, .init(.message(message))) }
        let rest = missed.dropFirst(Self.batch)
        if rest.isEmpty {
            let waiting = subscriptions[chat]?.waiting ?? []
            subscriptions[chat]?.waiting = nil
            for (message, frame) in waiting { push(message, frame) }
            return
        }
        whenFlushed { $0.deliver(rest, in: chat) }
    }

    fileprivate func push(_ message: Messenger.Message, _ frame: TextFrame) {
        guard let index = subscriptions.index(forKey: message.chat), message.id > subscriptions.values[index].last
        else { return }
        subscriptions.values[index].last = message.id
        socket?.send(frame)
    }

    func unsubscribe(from chat: Messenger.Chat.ID) {
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
        case .gap:
            switch topic {
            case .chat(let chat): queue(.lookAgain(chat))
            case .session: checkSession()
            }
        }
    }
}
