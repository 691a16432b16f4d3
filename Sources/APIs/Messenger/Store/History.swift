import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerClient

/// Reads from chats: messages, changes, read marks, members.
///
/// Only one request at a time reads from a chat, and an answer counts only if the connection is still the one during which
/// it was asked for. Messages and edits that arrive meanwhile are newer than the answer and stay. So the last word on a
/// message is always the server's last.
extension StoreEngine {
    func read(_ need: Needs, of chat: Messenger.Chat.ID) async throws {
        switch need {
        case .membership: try await readMembership(of: chat)
        case .history: try await catchUp(chat)
        case .changes: try await readChanges(of: chat)
        case .marks: try await readMarks(of: chat)
        default: try await readMembers(of: chat)
        }
        if !isStopped { changed(chat) }
    }

    /// Sends a request until its answer belongs to the present connection.
    private func current<E: Messenger.Endpoint>(_ request: E) async throws -> E.Output {
        while true {
            let present = generation
            let answer = try await client.send(request)
            if isStopped { throw CancellationError() }
            if present == generation { return answer }
        }
    }

    // MARK: Messages

    /// Brings the newest messages of a chat up to date, and subscribes to those that follow.
    private func catchUp(_ chat: Messenger.Chat.ID) async throws {
        guard let known = try cache.knowledge(of: chat) else { return }
        let present = generation
        if let high = known.high {
            if known.isBehind { try await catchUp(chat, from: high) }
        } else {
            try await begin(chat, hasMembers: known.hasMembers)
        }
        try settle(chat)
        guard isConnected, present == generation, let high = try cache.knowledge(of: chat)?.high,
            subscribed.insert(chat).inserted
        else { return }
        subscribing.yield(.begin(chat, since: high))
    }

    private func begin(_ chat: Messenger.Chat.ID, hasMembers: Bool) async throws {
        if !hasMembers { try await readMembers(of: chat) }
        // The version is asked for first: what changes between it and the page is then among the changes.
        while true {
            let present = generation
            let version = try await version(of: chat)
            let sent = try outbox.sentEntries(in: chat).compactMap(\.message)
            let page = try await client.send(
                Messenger.ListMessages(chat: chat, limit: settings.pageSize, include: .edited))
            if isStopped { throw CancellationError() }
            guard present == generation else { continue }
            // The page may be older than messages that arrived meanwhile.
            let newest = page.first?.id ?? 0
            let newer = newerMessages[chat, default: []].filter { $0.id > newest }.sorted { $0.id > $1.id }
            try cache.begin(chat, page: newer + page, version: version)
            // What the page should have and does not have was deleted, and no list of changes says so any more.
            for message in sent where message > newest { try cache.delete(message, in: chat) }
            return try applyNewerEdits(of: chat)
        }
    }

    private func catchUp(_ chat: Messenger.Chat.ID, from high: Messenger.Message.ID) async throws {
        let missed = try await current(
            Messenger.ListMessages(chat: chat, limit: settings.catchUp, after: high, include: .edited))
        if missed.count < settings.catchUp {
            try cache.extend(chat, from: high, by: missed)
        } else {
            let page = try await current(
                Messenger.ListMessages(chat: chat, limit: settings.pageSize, include: .edited))
            try cache.addNewest(page, to: chat)
        }
        try applyNewerEdits(of: chat)
    }

    private func applyNewerEdits(of chat: Messenger.Chat.ID) throws {
        for edit in newerEdits[chat, default: [:]].values {
            try cache.edit(edit.id, in: chat, to: edit.content, at: edit.editedAt.milliseconds)
        }
    }

    /// Returns the newest messages of a chat, and reads more of them from the server where they are missing.
    ///
    /// - Throws: The network's error, the API's refusal.
    package func loadOlder(in chat: Messenger.Chat.ID, limit: Int) async throws {
        try await exclusively(chat) {
            while let hole = try cache.page(of: chat, limit: limit).hole {
                let page = try await current(
                    Messenger.ListMessages(chat: chat, limit: settings.pageSize, before: hole, include: .edited))
                try cache.add(page, before: hole, to: chat)
                try applyNewerEdits(of: chat)
            }
        }
        changed(chat)
    }

    // MARK: Changes

    /// Returns the chat's present version; nil from a server that does not know versions.
    private func version(of chat: Messenger.Chat.ID) async throws -> Int? {
        do {
            return try await client.changes(of: chat, after: nil).version
        } catch let error as APIError where error.status == .notFound {
            return nil
        }
    }

    /// Reads which messages were edited or deleted.
    ///
    /// It asks after the version that was read during the connection before the last one. Every later version may be newer
    /// than frames that were still on their way at that time, and would not be repeated.
    private func readChanges(of chat: Messenger.Chat.ID) async throws {
        guard let known = try cache.knowledge(of: chat), known.high != nil, let base = known.base else {
            return try showConfirmed(confirmed[chat, default: []], in: chat)
        }
        while true {
            let present = generation
            let confirmed = confirmed[chat, default: []]
            let list = try await client.changes(of: chat, after: base)
            if isStopped { throw CancellationError() }
            guard present == generation else { continue }
            guard list.isComplete else { return try await begin(chat, hasMembers: true) }
            changeCounts[chat, default: 0] += 1
            let isFirst = changesReadIn.updateValue(present, forKey: chat) != present
            forget(try cache.apply(list, to: chat, isFirst: isFirst, newer: newerEdits[chat, default: [:]]))
            try showConfirmed(confirmed, in: chat)
            return try settle(chat)
        }
    }

    /// Shows the text that the server has for edits of the user, in place of the one that was shown meanwhile.
    private func showConfirmed(_ edits: Set<Messenger.Message.ID>, in chat: Messenger.Chat.ID) throws {
        for edit in edits { try cache.setPending(edit, in: chat, content: nil, isDeletion: false) }
        confirmed[chat]?.subtract(edits)
    }

    // MARK: Members

    private func readMarks(of chat: Messenger.Chat.ID) async throws {
        let receipts = try await client.send(Messenger.GetReceipts(chat: chat))
        if isStopped { throw CancellationError() }
        try cache.apply(receipts.map { ($0.user, $0.lastRead) }, in: chat)
    }

    private func readMembers(of chat: Messenger.Chat.ID) async throws {
        let found = try await current(Messenger.GetChat(id: chat))
        try cache.apply(found)
    }

    /// Looks whether the user still is a member of a chat, and removes it from this device if not.
    private func readMembership(of chat: Messenger.Chat.ID) async throws {
        do {
            try await readMembers(of: chat)
            // The user is a member, again or still.
            guard isConnected, !subscribed.contains(chat) else { return }
            needs[chat, default: []].insert(.history)
        } catch let error as APIError where error.status == .notFound && error.isFromAPI {
            needs[chat] = nil
            order.removeAll { $0 == chat }
            forget(try cache.remove(chat))
            for entry in try outbox.entries(in: chat) {
                if entry.message != nil { try outbox.remove(entry.id) }
                if entry.state == "waiting" { try outbox.fail(entry, OutgoingFailure(error)) }
            }
        }
    }
}
