import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI

extension LiveFeed {
    // MARK: Messages

    func receive(_ frame: any Messenger.ChatFrame) {
        if subscriptions[frame.chat]?.waiting?.append(frame) == nil { deliver(frame) }
    }

    func deliver(_ frame: any Messenger.ChatFrame) {
        guard let last = subscriptions[frame.chat]?.last else { return }
        guard let message = frame as? Messenger.Message else { return events.add(.update(frame)) }
        guard message.id > last else { return }
        subscriptions[message.chat]?.last = message.id
        events.add(.message(message))
    }

    /// Returns the id at which delivery begins if these are the first frames of a chat; nil if they do not tell.
    static func start(of frames: [any Messenger.ChatFrame]) -> Messenger.Message.ID? {
        let ids = frames.compactMap { ($0 as? Messenger.Message)?.id.rawValue }
        return ids.min().map { .init(max(1, $0) - 1) }
    }

    func end(_ chat: Messenger.Chat.ID) {
        if forget(chat) { events.add(.unsubscribed(chat)) }
    }

    // MARK: The history between two sockets

    func read(on socket: LiveSocket) {
        while readings.count < Self.readers, let next = unread.firstIndex(where: { readings[$0.chat] == nil }) {
            let reading = unread.remove(at: next)
            readings[reading.chat] = Task { await self.read(reading, on: socket) }
        }
    }

    func read(_ reading: Reading, on socket: LiveSocket) async {
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
            // The chat exists, so the refusal had another reason, such as a limit.
            askLater(for: chat, because: reading.refusal ?? "", on: socket)
        case .success(let messages):
            fill(chat, with: messages)
        case .failure(let error as APIError) where [.forbidden, .notFound].contains(error.status):
            end(chat)
        case .failure(let error):
            await socket.fail(error)
        }
        read(on: socket)
    }

    /// Returns the messages after `last`, newest first; without a `last`, only the newest message.
    func history(
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

    /// Delivers what comes from now on: the server sends what was missed first.
    func resume(_ chat: Messenger.Chat.ID) {
        announce(chat)
        let waiting = subscriptions[chat]?.waiting ?? []
        subscriptions[chat]?.waiting = nil
        for frame in waiting { deliver(frame) }
    }

    private func announce(_ chat: Messenger.Chat.ID) {
        guard subscriptions[chat]?.isAnnounced == false else { return }
        subscriptions[chat]?.isAnnounced = true
        events.add(.subscribed(chat))
    }

    private func fill(_ chat: Messenger.Chat.ID, with messages: [Messenger.Message]) {
        guard let subscription = subscriptions[chat], let waiting = subscription.waiting else { return }
        announce(chat)
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
