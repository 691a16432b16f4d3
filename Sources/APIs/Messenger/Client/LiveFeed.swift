import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI

/// The state of a live connection that outlasts its sockets: the subscribed chats, and the newest delivered message of
/// each.
actor LiveFeed {
    private struct Subscription {
        /// The newest delivered message; nil until it is known at which message delivery begins.
        var last: Messenger.Message.ID?
        /// The frames that wait until the history before them has been read; nil once frames are delivered as they
        /// come.
        var waiting: [any Messenger.ChatFrame]? = []
        /// Whether the app has received the event that the subscription has begun.
        var isAnnounced = false
    }

    /// A history that is to be read.
    private struct Reading {
        let chat: Messenger.Chat.ID
        /// The server's message, when it refused the subscription.
        var refusal: String?
    }

    /// The number of histories that are read at once.
    private static let readers = 4
    /// The size of the first page of each history: after most gaps there are few messages, and in most chats none.
    private static let firstPage = 20
    /// The maximum number of subscriptions that are sent and not answered yet.
    private static let window = 32

    nonisolated let events = EventQueue<MessengerLive.Event>()
    private let client: MessengerClient
    private let connection: LiveConnection
    private var subscriptions: [Messenger.Chat.ID: Subscription] = [:]
    private var user: Messenger.User.ID?

    // The current socket.
    private var socket: LiveSocket?
    private var token = ""
    private var unasked: [Messenger.Chat.ID] = []
    private var unanswered: Set<Messenger.Chat.ID> = []
    /// The errors with which subscriptions were answered. They do not name the chat.
    private var refusals: [String] = []
    /// The number of unsubscriptions of each chat that the server has yet to confirm.
    private var leaving: [Messenger.Chat.ID: Int] = [:]
    private var unread: [Reading] = []
    private var readings: [Messenger.Chat.ID: Task<Void, Never>] = [:]

    init(client: MessengerClient, connection: LiveConnection) {
        self.client = client
        self.connection = connection
    }

    // MARK: Calls of the app

    nonisolated func start() {
        events.start { [connection, events] in
            try await connection.run { socket in
                try await self.serve(socket)
            } lost: { reason, wait in
                events.add(.disconnected(reason: reason, retry: wait))
            }
        }
    }

    func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID?) async {
        guard subscriptions[chat] == nil else { return }
        subscriptions[chat] = Subscription(last: since)
        guard let socket else { return }
        unasked.append(chat)
        await ask(on: socket)
    }

    func unsubscribe(from chat: Messenger.Chat.ID) async {
        guard forget(chat), let socket else { return }
        leaving[chat, default: 0] += 1
        try? await socket.send(Messenger.Unsubscribe(chat: chat))
    }

    @discardableResult
    private func forget(_ chat: Messenger.Chat.ID) -> Bool {
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
        try await socket.send(Messenger.Authenticate(token: token))
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
            try await socket.send(Messenger.Authenticate(token: current))
        } else {
            try await socket.send(Messenger.Ping())
        }
    }

    private func lost() {
        socket = nil
        unasked = []
        unanswered = []
        refusals = []
        leaving = [:]
        unread = []
        for task in readings.values { task.cancel() }
        readings = [:]
        for (chat, subscription) in subscriptions {
            // When no history was read, the first message that came says where delivery begins.
            subscriptions[chat]?.last = subscription.last ?? Self.start(of: subscription.waiting ?? [])
            subscriptions[chat]?.waiting = []
        }
    }

    /// Subscribes to the chats that are not subscribed yet, some at a time, because the answers have to be read in
    /// between.
    private func ask(on socket: LiveSocket) async {
        while self.socket === socket, unanswered.count < Self.window, !unasked.isEmpty {
            let chat = unasked.removeFirst()
            guard subscriptions[chat] != nil, unanswered.insert(chat).inserted else { continue }
            // An error is ignored here: a socket that cannot send cannot receive either, which is handled there.
            try? await socket.send(Messenger.Subscribe(chat: chat))
        }
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
            guard unanswered.remove(subscribed.chat) != nil else { return }
            if subscriptions[subscribed.chat] != nil { unread.append(Reading(chat: subscribed.chat)) }
        case let unsubscribed as Messenger.Unsubscribed:
            let chat = unsubscribed.chat
            if let count = leaving[chat], count > 0 { leaving[chat] = count - 1 } else { end(chat) }
        case let error as Messenger.LiveError:
            if let chat = error.chat {
                // The server cannot reach its database at present: a new socket asks for every chat again.
                guard unanswered.remove(chat) != nil else { return }
                return await socket.fail(SubscriptionRefused(message: error.message))
            }
            guard !unanswered.isEmpty, !error.message.hasPrefix("Unknown message type") else { return }
            refusals.append(error.message)
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
        refusals = []
    }

    // MARK: Messages

    private func receive(_ frame: any Messenger.ChatFrame) {
        if subscriptions[frame.chat]?.waiting?.append(frame) == nil { deliver(frame) }
    }

    private func deliver(_ frame: any Messenger.ChatFrame) {
        guard let last = subscriptions[frame.chat]?.last else { return }
        guard let message = frame as? Messenger.Message else { return events.add(.update(frame)) }
        guard message.id > last else { return }
        subscriptions[message.chat]?.last = message.id
        events.add(.message(message))
    }

    /// Returns the id at which delivery begins if these are the first frames of a chat; nil if they do not tell.
    private static func start(of frames: [any Messenger.ChatFrame]) -> Messenger.Message.ID? {
        let ids = frames.compactMap { ($0 as? Messenger.Message)?.id.rawValue }
        return ids.min().map { .init($0 - 1) }
    }

    private func end(_ chat: Messenger.Chat.ID) {
        if forget(chat) { events.add(.unsubscribed(chat)) }
    }

    // MARK: The history between two sockets

    private func read(on socket: LiveSocket) {
        while readings.count < Self.readers, let next = unread.firstIndex(where: { readings[$0.chat] == nil }) {
            let reading = unread.remove(at: next)
            readings[reading.chat] = Task { await self.read(reading, on: socket) }
        }
    }

    private func read(_ reading: Reading, on socket: LiveSocket) async {
        let chat = reading.chat
        let result: Result<[Messenger.Message], any Error>
        do {
            result = .success(try await history(of: chat, after: subscriptions[chat]?.last))
        } catch {
            result = .failure(error)
        }
        // A cancelled reading leaves the rest to the code that cancelled it.
        guard !Task.isCancelled else { return }
        readings[chat] = nil
        switch result {
        case .success where reading.refusal != nil:
            // The chat exists, so the refusal had another reason: start over with a new socket.
            await socket.fail(SubscriptionRefused(message: reading.refusal ?? ""))
        case .success(let messages):
            fill(chat, with: messages)
        case .failure(let error as APIError) where [.forbidden, .notFound].contains(error.status):
            end(chat)
        case .failure(let error):
            await socket.fail(error)
        }
        read(on: socket)
    }

    /// Reads the messages above `last`, newest first; only the newest one when there is no `last`.
    private func history(
        of chat: Messenger.Chat.ID, after last: Messenger.Message.ID?
    ) async throws -> [Messenger.Message] {
        guard let last else { return try await client.send(Messenger.ListMessages(chat: chat, limit: 1)) }
        var messages: [Messenger.Message] = []
        var limit = Self.firstPage
        while true {
            let page = try await client.send(
                Messenger.ListMessages(chat: chat, limit: limit, before: messages.last?.id))
            for message in page {
                guard message.id > last else { return messages }
                // A server that ignores `before` would make this loop endless.
                if let before = messages.last, message.id >= before.id { throw URLError(.badServerResponse) }
                messages.append(message)
            }
            // A server may return fewer messages than it is asked for.
            if page.isEmpty { return messages }
            limit = Messenger.ListMessages.maximum
        }
    }

    private func fill(_ chat: Messenger.Chat.ID, with messages: [Messenger.Message]) {
        guard let subscription = subscriptions[chat], let waiting = subscription.waiting else { return }
        if !subscription.isAnnounced { events.add(.subscribed(chat)) }
        subscriptions[chat]?.isAnnounced = true
        if subscription.last != nil {
            for message in messages.reversed() { deliver(message) }
        } else {
            // Everything since the subscription is delivered, and nothing from before it.
            let newest = messages.first?.id ?? .init(0)
            subscriptions[chat]?.last = min(newest, Self.start(of: waiting) ?? newest)
        }
        // If the history is to be read again, there is a gap before the waiting frames.
        guard !unread.contains(where: { $0.chat == chat }) else { return }
        subscriptions[chat]?.waiting = nil
        for frame in waiting { deliver(frame) }
    }
}
