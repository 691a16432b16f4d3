import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI

/// The state of a live connection that outlasts its sockets: the subscribed chats, and the newest delivered message of
/// each.
actor LiveFeed {
    struct Subscription {
        /// The newest delivered message; nil until it is known at which message delivery begins.
        var last: Messenger.Message.ID?
        /// The frames that wait until the history before them has been read; nil once frames are delivered as they
        /// come.
        var waiting: [any Messenger.ChatFrame]? = []
        /// Whether the app has received the event that the subscription has begun.
        var isAnnounced = false
        /// The number of sequences of the chat's events, and whether the app has subscribed to it by itself.
        var sequences = 0
        var isWanted = false
        /// The number of times that the server has refused it in a row.
        var refusals = 0
    }

    /// A history that is to be read.
    struct Reading {
        let chat: Messenger.Chat.ID
        /// The server's message, when it refused the subscription.
        var refusal: String?
    }

    /// The number of histories that are read at once.
    static let readers = 4
    /// The size of the first page of each history: after most gaps there are few messages, and in most chats none.
    static let firstPage = 20
    /// The maximum number of subscriptions that are sent and not answered yet.
    private static let window = 32
    /// The error of a server that knows `since` and does not accept its value.
    private static let refusedSince = "Invalid since"
    /// The server passes on no more than one typing frame in this time.
    private static let typingInterval = Duration.seconds(3)

    nonisolated let events = EventHub<MessengerLive.Event>()
    let client: MessengerClient
    nonisolated let connection: LiveConnection
    var subscriptions: [Messenger.Chat.ID: Subscription] = [:]
    private var user: Messenger.User.ID?

    // The current socket.
    private var socket: LiveSocket?
    private var token = ""
    /// Whether the server sends what a subscription missed (`since`); nil until it has shown it.
    private var knowsSince: Bool?
    /// The chat whose subscription asks whether it does.
    private var probe: Messenger.Chat.ID?
    private var unasked: [Messenger.Chat.ID] = []
    private var unanswered: Set<Messenger.Chat.ID> = []
    /// The chats among them that were unsubscribed and subscribed again since: they are asked for once more.
    private var askedTooEarly: Set<Messenger.Chat.ID> = []
    /// The chats among them whose missed messages the server sends by itself.
    private var resumed: Set<Messenger.Chat.ID> = []
    /// The errors with which subscriptions were answered. They do not name the chat.
    private var refusals: [String] = []
    /// The number of unsubscriptions of each chat that the server has yet to confirm.
    private var leaving: [Messenger.Chat.ID: Int] = [:]
    var unread: [Reading] = []
    var readings: [Messenger.Chat.ID: Task<Void, Never>] = [:]
    /// The subscriptions that were refused and will be asked for again.
    var retries: [Messenger.Chat.ID: Task<Void, Never>] = [:]
    /// The times of the newest sent typing frames.
    private var typed: [Messenger.Chat.ID: ContinuousClock.Instant] = [:]

    init(client: MessengerClient, connection: LiveConnection) {
        self.client = client
        self.connection = connection
        events.produce { [weak self, connection, events] in
            guard let self else { return }
            try await connection.run { socket in
                try await self.serve(socket)
            } lost: { reason, wait in
                events.add(.disconnected(reason: reason, retry: wait))
            }
        }
    }

    // MARK: Calls of the app

    func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID?) async {
        await begin(chat, since: since)
        subscriptions[chat]?.isWanted = true
    }

    func unsubscribe(from chat: Messenger.Chat.ID) async {
        guard forget(chat), let socket else { return }
        leaving[chat, default: 0] += 1
        try? await socket.send(Messenger.Unsubscribe(chat: chat))
    }

    /// Subscribes to a chat for a sequence of its events, until ``release(_:)``.
    func hold(_ chat: Messenger.Chat.ID, since: Messenger.Message.ID?) async {
        await begin(chat, since: since)
        subscriptions[chat]?.sequences += 1
    }

    /// Ends the subscription of a chat if this was its last sequence and the app has not subscribed to it by itself.
    func release(_ chat: Messenger.Chat.ID) async {
        guard let subscription = subscriptions[chat], subscription.sequences > 0 else { return }
        subscriptions[chat]?.sequences -= 1
        if subscription.sequences == 1, !subscription.isWanted { await unsubscribe(from: chat) }
    }

    private func begin(_ chat: Messenger.Chat.ID, since: Messenger.Message.ID?) async {
        guard subscriptions[chat] == nil else { return }
        subscriptions[chat] = Subscription(last: since)
        guard let socket else { return }
        if unanswered.contains(chat) {
            askedTooEarly.insert(chat)
        } else {
            unasked.append(chat)
        }
        await ask(on: socket)
    }

    func startTyping(in chat: Messenger.Chat.ID) async {
        guard let socket, subscriptions[chat] != nil else { return }
        let now = ContinuousClock.now
        typed = typed.filter { $0.value.duration(to: now) < Self.typingInterval }
        guard typed.updateValue(now, forKey: chat) == nil else { return }
        try? await socket.send(Messenger.StartTyping(chat: chat))
    }

    @discardableResult
    func forget(_ chat: Messenger.Chat.ID) -> Bool {
        retries.removeValue(forKey: chat)?.cancel()
        readings.removeValue(forKey: chat)?.cancel()
        return subscriptions.removeValue(forKey: chat) != nil
    }

    // MARK: One socket

    private func serve(_ socket: LiveSocket) async throws {
        token = try await client.accessToken()
        do {
            try await signIn(on: socket)
            self.socket = socket
            defer { lost() }
            unasked = subscriptions.keys.sorted()
            await ask(on: socket)
            while true {
                await handle(try await socket.frame(), on: socket)
                // A slow app slows the socket down, so that waiting events do not fill the memory.
                await events.space()
            }
        } catch let error where error is SocketRejected || (error as? SocketClosed)?.code == 4001 {
            // The server refused the token: either another one is available, or the session has ended.
            token = try await client.renewedToken(after: token)
            throw error
        }
    }

    private func signIn(on socket: LiveSocket) async throws {
        try await socket.send(Messenger.Authenticate(token: token, chats: true))
        while true {
            switch try await socket.frame() {
            case let authenticated as Messenger.Authenticated:
                // Another user has signed in meanwhile; the session that subscribed is over.
                guard user == nil || user == authenticated.user else { throw SignedOut() }
                user = authenticated.user
                socket.pings { [weak self, weak socket] in
                    if let self, let socket { try await ping(socket) }
                }
                socket.established()
                return events.add(.connected)
            case let error as Messenger.LiveError: throw SocketRejected(message: error.message)
            default: continue
            }
        }
    }

    /// Sends a token that was renewed since, so that the server extends the session; its answer is as good as a pong.
    private func ping(_ socket: LiveSocket) async throws {
        let current = try await client.accessToken()
        let isNew = current != token
        token = current
        if isNew {
            try await socket.send(Messenger.Authenticate(token: current, chats: true))
        } else {
            try await socket.send(Messenger.Ping())
        }
    }

    private func lost() {
        socket = nil
        knowsSince = nil
        probe = nil
        unasked = []
        unanswered = []
        askedTooEarly = []
        resumed = []
        refusals = []
        leaving = [:]
        unread = []
        for task in readings.values { task.cancel() }
        readings = [:]
        for task in retries.values { task.cancel() }
        retries = [:]
        for (chat, subscription) in subscriptions {
            // When no history was read, the first message that came says where delivery begins.
            subscriptions[chat]?.last = subscription.last ?? Self.start(of: subscription.waiting ?? [])
            subscriptions[chat]?.waiting = []
        }
    }

    /// Subscribes to the chats that are not subscribed yet, some at a time, because the answers have to be read in
    /// between.
    ///
    /// The first chat whose newest message is known asks whether the server knows `since`, by a value that is refused if
    /// it does: what the others missed then comes by itself, instead of by a request for each.
    private func ask(on socket: LiveSocket) async {
        while self.socket === socket, probe == nil, unanswered.count < Self.window, !unasked.isEmpty {
            let chat = unasked.removeFirst()
            guard let subscription = subscriptions[chat], unanswered.insert(chat).inserted else { continue }
            var since: Messenger.Message.ID?
            if let last = subscription.last {
                switch knowsSince {
                case true?:
                    since = last
                    resumed.insert(chat)
                case nil:
                    since = .init(-1)
                    probe = chat
                case false?: break
                }
            }
            // An error is ignored here: a socket that cannot send cannot receive either, which is handled there.
            try? await socket.send(Messenger.Subscribe(chat: chat, since: since))
        }
    }

    /// Asks for a refused subscription again after a while, without disturbing the others.
    func askLater(for chat: Messenger.Chat.ID, because reason: String, on socket: LiveSocket) {
        guard let subscription = subscriptions[chat] else { return }
        let wait = connection.delay(afterFailures: subscription.refusals)
        subscriptions[chat]?.refusals += 1
        events.add(.refused(chat, reason: reason, retry: wait))
        retries[chat] = Task { [connection] in
            guard (try? await connection.pause(wait)) != nil, !Task.isCancelled else { return }
            await askAgain(for: chat, on: socket)
        }
    }

    private func askAgain(for chat: Messenger.Chat.ID, on socket: LiveSocket) async {
        retries[chat] = nil
        guard self.socket === socket, subscriptions[chat] != nil else { return }
        unasked.append(chat)
        await ask(on: socket)
    }

    private func handle(_ frame: any Messenger.ServerFrame, on socket: LiveSocket) async {
        switch frame {
        case let resync as Messenger.Resync:
            // Either more was missed than the server sends again, or something other than messages changed.
            guard let subscription = subscriptions[resync.chat] else { return }
            subscriptions[resync.chat]?.waiting = subscription.waiting ?? []
            receive(resync)
            unread.append(Reading(chat: resync.chat))
        case let frame as any Messenger.ChatFrame:
            return receive(frame)
        case let subscribed as Messenger.Subscribed:
            let chat = subscribed.chat
            // The server has taken a value that it would refuse if it knew it.
            if probe == chat {
                probe = nil
                knowsSince = false
            }
            guard unanswered.remove(chat) != nil else { return }
            subscriptions[chat]?.refusals = 0
            if askedTooEarly.remove(chat) != nil {
                // The answer is to a subscription that the server has ended since.
                resumed.remove(chat)
                if subscriptions[chat] != nil { unasked.append(chat) }
            } else if resumed.remove(chat) != nil {
                resume(chat)
            } else if subscriptions[chat] != nil {
                unread.append(Reading(chat: chat))
            }
        case let unsubscribed as Messenger.Unsubscribed:
            let chat = unsubscribed.chat
            if let count = leaving[chat], count > 0 { leaving[chat] = count - 1 } else { end(chat) }
        case let error as Messenger.LiveError:
            if let chat = error.chat {
                // The server could not handle this subscription, such as without its database.
                guard unanswered.remove(chat) != nil else { return }
                resumed.remove(chat)
                askedTooEarly.remove(chat)
                if probe == chat { probe = nil }
                askLater(for: chat, because: error.message, on: socket)
            } else if let probed = probe, error.message == Self.refusedSince {
                knowsSince = true
                unanswered.remove(probed)
                askedTooEarly.remove(probed)
                unasked.insert(probed, at: 0)
                probe = nil
            } else {
                guard !unanswered.isEmpty, !error.message.hasPrefix("Unknown message type") else { return }
                refusals.append(error.message)
            }
        case let added as Messenger.ChatAdded: return events.add(.chatAdded(added.chat))
        case let removed as Messenger.ChatRemoved: return events.add(.chatRemoved(removed.chat))
        case is Messenger.ChatsChanged: return events.add(.chatsChanged)
        default:
            return
        }
        settleRefusals()
        read(on: socket)
        await ask(on: socket)
    }

    /// Assigns refusals to chats: once there are as many refusals as unanswered subscriptions, they belong to each
    /// other. The history of a chat then shows whether the caller really has no access.
    private func settleRefusals() {
        guard let message = refusals.last, refusals.count == unanswered.count else { return }
        unread += unanswered.sorted().map { Reading(chat: $0, refusal: message) }
        unanswered = []
        askedTooEarly = []
        resumed = []
        if probe != nil { (probe, knowsSince) = (nil, false) }
        refusals = []
    }
}
