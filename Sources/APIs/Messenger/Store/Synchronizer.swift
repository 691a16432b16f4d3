import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerClient

/// Follows the live connection, and decides what is read besides.
///
/// With each connection the list of chats is read. A chat whose newest message differs from the one on this device is
/// caught up (`History`), then subscribed; when the server has confirmed that, its changes and read marks are read. From
/// then on frames tell everything, so nothing falls between an answer and the frames.
extension StoreEngine {
    /// The number of chats that are read at a time.
    private static let readers = 4
    private static let typingTime = Duration.seconds(6)

    // MARK: The live connection

    func follow() async {
        do {
            for try await event in live {
                if isStopped { return }
                await handle(event)
            }
        } catch is SignedOut {
            wipe()
        } catch {
            connection = .unavailable
            signal.add(.connection)
        }
    }

    private func handle(_ event: MessengerLive.Event) async {
        switch event {
        case .connected:
            generation += 1
            isConnected = true
            connection = .connected
            delayed = [:]
            failures = [:]
            // Answers of this connection are newer than edits of the one before.
            (newerEdits, newerMessages) = ([:], [:])
            signal.add(.connection)
            listChats()
            sendAll()
        case .disconnected(let reason, let retry): disconnected(reason, retry)
        case .subscribed(let chat):
            stale.remove(chat)
            need([.changes, .marks], of: chat)
        case .chatAdded, .chatsChanged: listChats()
        case .unsubscribed(let chat), .chatRemoved(let chat):
            subscribed.remove(chat)
            needs[chat] = .membership
            work()
        case .refused: break
        case .message(let message): receive(message)
        case .update(let frame): receive(frame)
        }
    }

    private func disconnected(_ reason: any Error, _ retry: Duration) {
        isConnected = false
        connection = .disconnected(reason: reason, retry: retry)
        // Each chat is caught up before it is subscribed again, so that a long absence leaves a gap instead of a long
        // wait.
        for chat in subscribed.sorted() { subscribing.yield(.end(chat)) }
        subscribed = []
        needs = [:]
        let typed = typing.keys
        typing = [:]
        signal.add(.connection)
        for chat in typed { signal.add(.chat(chat)) }
    }

    private func receive(_ message: Messenger.Message) {
        guard !stale.contains(message.chat) else { return }
        if busy.contains(message.chat) { newerMessages[message.chat, default: []].append(message) }
        do {
            guard try cache.receive(message) else { return }
            typing[message.chat]?[message.sender] = nil
            try settle(message.chat)
            changed(message.chat)
        } catch {
            couldNotStore(message.chat, error)
        }
    }

    /// Subscribes to a chat again of which something could not be stored, such as without room on the disk. What still
    /// comes of the subscription before has a hole, and is ignored.
    private func couldNotStore(_ chat: Messenger.Chat.ID, _ error: any Error) {
        handle(error)
        guard subscribed.remove(chat) != nil else { return }
        stale.insert(chat)
        subscribing.yield(.end(chat))
        // What can be read without storing anything counts as no success: a full disk is not tried again each second.
        let newest = try? cache.knowledge(of: chat)?.high
        let count = unstored[chat].map { $0.newest == newest ? $0.count + 1 : 0 } ?? 0
        unstored[chat] = (newest, count)
        failures[chat] = max(failures[chat, default: 0], count)
        delay(chat)
        need(.history, of: chat)
    }

    private func receive(_ frame: any Messenger.ChatFrame) {
        guard !stale.contains(frame.chat) else { return }
        do {
            switch frame {
            case let edit as Messenger.MessageEdit:
                changeCounts[edit.chat, default: 0] += 1
                if busy.contains(edit.chat) { newerEdits[edit.chat, default: [:]][edit.id] = edit }
                try cache.edit(edit.id, in: edit.chat, to: edit.content, at: edit.editedAt.milliseconds)
            case let deletion as Messenger.MessageDeletion:
                if let file = try cache.delete(deletion.id, in: deletion.chat) { forget([file]) }
                try settle(deletion.chat)
            case let mark as Messenger.ReadMark:
                try cache.apply([(mark.user, mark.message)], in: mark.chat)
            case let typing as Messenger.Typing: return begin(typing)
            case is Messenger.MemberAdded, is Messenger.MemberRemoved: return need(.members, of: frame.chat)
            case is Messenger.Resync: return need([.changes, .marks, .members], of: frame.chat)
            default: return
            }
            changed(frame.chat)
        } catch {
            couldNotStore(frame.chat, error)
        }
    }

    private func begin(_ frame: Messenger.Typing) {
        typingMade += 1
        let id = typingMade
        typing[frame.chat, default: [:]][frame.user] = id
        signal.add(.chat(frame.chat))
        run { engine in
            guard await engine.pause(Self.typingTime), engine.typing[frame.chat]?[frame.user] == id else { return }
            engine.typing[frame.chat]?[frame.user] = nil
            engine.signal.add(.chat(frame.chat))
        }
    }

    /// Notifies the app of a changed chat. What only the server can count is asked for after a second.
    func changed(_ chat: Messenger.Chat.ID) {
        signal.add(.chat(chat))
        signal.add(.list)
        attempt { if try !cache.isSelfContained(chat) { listChats(after: .seconds(1)) } }
    }

    /// Removes the messages from the outbox that have arrived, or were deleted before they could.
    func settle(_ chat: Messenger.Chat.ID) throws {
        let sent = try outbox.sentEntries(in: chat)
        guard !sent.isEmpty, let high = try cache.knowledge(of: chat)?.high else { return }
        for entry in sent {
            guard let message = entry.message, try message <= high || cache.isDeleted(message) else { continue }
            try outbox.remove(entry.id)
            if let key = entry.fileKey { try? FileManager.default.removeItem(at: places.copy(key)) }
            signal.add(.chat(chat))
        }
    }

    // MARK: The list of chats

    func poll() async {
        listChats()
        while await pause(settings.listInterval) { listChats() }
    }

    /// Reads the list of chats after a delay. A call without a delay ends the wait of an earlier one; a call during a
    /// reading has the list read again.
    func listChats(after delay: Duration = .zero) {
        isListDue = true
        guard !isReadingList, !isListScheduled || delay == .zero else { return }
        isListScheduled = true
        listTurn += 1
        let turn = listTurn
        run { engine in
            if delay > .zero, await !engine.pause(delay) { return }
            guard turn == engine.listTurn, !engine.isReadingList else { return }
            await engine.readDueList()
        }
    }

    private func readDueList() async {
        (isListScheduled, isReadingList, isListDue) = (false, true, false)
        do {
            try await readList()
            listFailures = 0
        } catch {
            handle(error)
            isListDue = true
            listFailures += 1
        }
        isReadingList = false
        if isListDue { listChats(after: min(.seconds(60), .seconds(1 << min(listFailures, 6)))) }
    }

    /// Reads the list of chats, and has those read that differ.
    package func readList() async throws {
        let present = generation
        var list: [Messenger.ChatSummary] = []
        while true {
            let page = try await client.send(
                Messenger.ListChats(before: list.last?.id, include: .all(.unread, .peer, .muted)))
            // A chat may have moved between two pages.
            let known = Set(list.map(\.id))
            list += page.filter { !known.contains($0.id) }
            if page.count < Messenger.ListChats.maximum { break }
        }
        guard !isStopped else { return }
        guard present == generation else {
            isListDue = true
            return
        }
        for missing in try cache.apply(list) { needs[missing, default: []].insert(.membership) }
        order = list.map(\.id)
        for chat in order where !subscribed.contains(chat) {
            let isNew = try cache.knowledge(of: chat)?.high == nil
            if isConnected || isNew { needs[chat, default: []].insert(.history) }
        }
        for chat in open.keys { signal.add(.chat(chat)) }
        signal.add(.list)
        work()
    }

    // MARK: What chats need

    func need(_ more: Needs, of chat: Messenger.Chat.ID) {
        needs[chat, default: []].formUnion(more)
        if !order.contains(chat) { order.append(chat) }
        work()
    }

    /// Starts to read what chats need, some at a time, those that the app shows first.
    func work() {
        while workers < Self.readers, !isStopped, let chat = nextChat() {
            workers += 1
            busy.insert(chat)
            run { engine in
                await engine.work(on: chat)
                engine.release(chat)
                engine.workers -= 1
                engine.work()
            }
        }
    }

    private func nextChat() -> Messenger.Chat.ID? {
        let ready = needs.filter { !$0.value.isEmpty && !busy.contains($0.key) && delayed[$0.key] == nil }
        if let shown = ready.keys.filter({ open[$0] != nil }).min() { return shown }
        return order.first { ready[$0] != nil } ?? ready.keys.min()
    }

    private func work(on chat: Messenger.Chat.ID) async {
        do {
            while let need = Needs.inOrder.first(where: { needs[chat]?.contains($0) ?? false }) {
                let present = generation
                needs[chat]?.remove(need)
                do {
                    try await read(need, of: chat)
                } catch {
                    if present == generation { needs[chat, default: []].insert(need) }
                    throw error
                }
                if isStopped { return }
            }
            failures[chat] = nil
        } catch let error as APIError where [.forbidden, .notFound].contains(error.status) && error.isFromAPI {
            needs[chat] = .membership
            delay(chat)
        } catch {
            handle(error)
            delay(chat)
        }
    }

    /// Lets a chat wait after a failure. A chat waits once, whatever fails meanwhile.
    private func delay(_ chat: Messenger.Chat.ID) {
        let count = failures[chat, default: 0]
        failures[chat] = count + 1
        guard delayed[chat] == nil else { return }
        delaysMade += 1
        let number = delaysMade
        delayed[chat] = number
        run { engine in
            guard await engine.pause(min(.seconds(60), .seconds(1 << min(count, 6)))), engine.delayed[chat] == number
            else { return }
            engine.delayed[chat] = nil
            engine.work()
        }
    }

    /// Runs a reading of a chat while no other reads from it.
    func exclusively<Value>(_ chat: Messenger.Chat.ID, _ body: () async throws -> Value) async throws -> Value {
        if !busy.insert(chat).inserted {
            await withCheckedContinuation { waiters[chat, default: []].append($0) }
            if isStopped { throw CancellationError() }
        }
        defer {
            release(chat)
            work()
        }
        return try await body()
    }

    private func release(_ chat: Messenger.Chat.ID) {
        newerEdits[chat] = nil
        newerMessages[chat] = nil
        if var waiting = waiters[chat], !waiting.isEmpty {
            let next = waiting.removeFirst()
            waiters[chat] = waiting.isEmpty ? nil : waiting
            next.resume()
        } else {
            busy.remove(chat)
        }
    }
}
