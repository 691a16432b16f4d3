import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerClient

/// Sends the messages of the outbox, those of a chat one after the other.
///
/// Each has an `Idempotency-Key` that was stored with it, so that a repeat after a lost answer, in another launch too, does
/// not send it twice. The server remembers a key for 24 hours. After 23 the engine looks for the message in the chat instead
/// (`resolve(_:)`).
extension StoreEngine {
    /// The time for which a key counts as remembered, in milliseconds: an hour less than the server's, for clocks differ.
    private static let keyLifetime: Int64 = 23 * 3_600_000
    /// The number of pages that are searched for a message whose key is forgotten.
    private static let searchedPages = 20

    // MARK: Calls of the app

    /// Adds a message to the outbox.
    ///
    /// - Parameter file: A file, of which a copy is kept until it is sent.
    /// - Returns: The entry's id.
    package func enqueue(
        _ content: String, type: Messenger.MessageType, file: Upload?, to chat: Messenger.Chat.ID
    ) throws -> Int64 {
        // What the server would refuse is refused before it waits. Its file has no id yet.
        try checked(Messenger.SendMessage(chat: chat, content: content, type: type, file: file == nil ? nil : 1))
        var kept: (name: String, type: String, key: String)?
        if let file {
            kept = (file.filename, file.contentType, UUID().uuidString.lowercased())
            try keep(file, as: places.copy(kept!.key))
        }
        let key = UUID().uuidString.lowercased()
        let id = try outbox.add(content, type, to: chat, key: key, file: kept, at: now)
        signal.add(.chat(chat))
        send(in: chat)
        return id
    }

    /// Throws what the client throws for a request that is not valid.
    func checked(_ request: some Messenger.Endpoint) throws {
        do { try request.validate() } catch { throw APIError(error) }
    }

    private func keep(_ file: Upload, as copy: URL) throws {
        switch file.content {
        case .bytes(let bytes): try Data(bytes).write(to: copy, options: .atomic)
        case .file(let url): try FileManager.default.copyItem(at: url, to: copy)
        case .spooled: throw CocoaError(.fileReadUnknown)
        }
    }

    /// Sends a failed message again. An uncertain one, and one that was refused, gets a new key.
    package func retry(_ id: Int64) throws {
        guard let entry = try outbox.entry(id), entry.state == "failed" else { return }
        try outbox.restart(entry)
        uploadedAgain.remove(id)
        signal.add(.chat(entry.chat))
        send(in: entry.chat)
    }

    /// Removes a message that has not been sent.
    ///
    /// - Returns: Whether it was still there and not being sent.
    package func discard(_ id: Int64) throws -> Bool {
        guard let entry = try outbox.entry(id), ["waiting", "failed"].contains(entry.state) else { return false }
        try outbox.remove(id)
        if let key = entry.fileKey { try? FileManager.default.removeItem(at: places.copy(key)) }
        signal.add(.chat(entry.chat))
        return true
    }

    // MARK: Sending

    /// Sends everything that waits, at once.
    func sendAll() {
        attempt { for chat in try outbox.waitingChats() { send(in: chat) } }
        sendMarks()
    }

    func send(in chat: Messenger.Chat.ID) {
        guard sending.insert(chat).inserted else { return }
        sendTurns[chat, default: 0] += 1
        run { engine in
            let isDone = await engine.sendWaiting(in: chat)
            engine.sending.remove(chat)
            if !isDone { engine.sendLater(in: chat) }
        }
    }

    /// Returns whether nothing waits any more.
    private func sendWaiting(in chat: Messenger.Chat.ID) async -> Bool {
        do {
            while !isStopped, let entry = try outbox.next(in: chat) {
                try await deliver(entry)
                sendFailures[chat] = nil
            }
            return true
        } catch {
            handle(error)
            return isStopped
        }
    }

    /// Sends what waits after 1, 2, 4 … 60 seconds, or earlier when there is a connection.
    private func sendLater(in chat: Messenger.Chat.ID) {
        let count = sendFailures[chat, default: 0]
        sendFailures[chat] = count + 1
        let turn = sendTurns[chat]
        run { engine in
            guard await engine.pause(min(.seconds(60), .seconds(1 << min(count, 6)))), turn == engine.sendTurns[chat]
            else { return }
            engine.send(in: chat)
        }
    }

    /// Sends one message.
    ///
    /// - Throws: An error after which it waits. A refusal marks it as failed instead.
    private func deliver(_ entry: MessageOutbox.Entry) async throws {
        if let attempted = entry.attemptedAt, now - attempted > Self.keyLifetime { return try await resolve(entry) }
        try outbox.isSending(entry)
        signal.add(.chat(entry.chat))
        do {
            let file = try await upload(entry)
            let newest = try cache.knowledge(of: entry.chat)?.high ?? 0
            try outbox.begin(entry, newest: newest, at: now)
            let sent = try await client.send(
                Messenger.SendMessage(chat: entry.chat, content: entry.content, type: entry.type, file: file),
                idempotencyKey: entry.key)
            if isStopped { throw CancellationError() }
            try outbox.sent(entry, as: sent.id)
        } catch let error as APIError where isFinal(error) {
            try refused(entry, error)
        } catch is CopyIsGone {
            try outbox.fail(entry, .fileIsGone)
        } catch {
            if !isStopped { try outbox.isWaiting(entry) }
            signal.add(.chat(entry.chat))
            throw error
        }
        try settle(entry.chat)
        signal.add(.chat(entry.chat))
    }

    /// Returns whether a repeat would be refused, too.
    private func isFinal(_ error: APIError) -> Bool {
        error.isFromAPI && error.status.kind == .clientError && ![401, 408, 425, 429].contains(error.status.code)
    }

    private func refused(_ entry: MessageOutbox.Entry, _ error: APIError) throws {
        if isStopped { throw CancellationError() }
        // The server removes an upload that no message has used for a week.
        if entry.file != nil, entry.fileKey != nil, error.status == .notFound, uploadedAgain.insert(entry.id).inserted {
            try outbox.uploaded(nil, for: entry)
            return try outbox.restart(entry)
        }
        try outbox.fail(entry, OutgoingFailure(error))
    }

    /// Uploads the file of a message, unless that is done.
    private func upload(_ entry: MessageOutbox.Entry) async throws -> Messenger.File.ID? {
        guard let key = entry.fileKey else { return nil }
        if let file = entry.file { return file }
        let copy = places.copy(key)
        guard FileManager.default.fileExists(atPath: copy.path) else { throw CopyIsGone() }
        let upload = Upload(.file(copy), filename: entry.filename ?? "file", contentType: entry.contentType ?? "")
        defer { uploads[entry.id] = nil }
        let file = try await client.upload(upload, idempotencyKey: "\(entry.key)-file") { [weak self] sent, total in
            Task { await self?.uploaded(entry, TransferProgress(completed: sent, total: total)) }
        }
        if isStopped { throw CancellationError() }
        try outbox.uploaded(file.id, for: entry)
        // The sender need not download it.
        adopt(copy, as: file)
        return file.id
    }

    private func uploaded(_ entry: MessageOutbox.Entry, _ progress: TransferProgress) {
        guard sending.contains(entry.chat), (uploads[entry.id]?.completed ?? 0) <= progress.completed else { return }
        uploads[entry.id] = progress
        signal.add(.chat(entry.chat))
    }

    // MARK: Keys that the server has forgotten

    /// Looks whether a message has arrived whose answer was lost so long ago that the server has forgotten its key.
    ///
    /// It has if the chat has a message of the user with its content after those that were known at the first attempt. It
    /// has not if there is none, and no message by the user was edited or deleted since. Otherwise the app decides.
    private func resolve(_ entry: MessageOutbox.Entry) async throws {
        var after = entry.after ?? 0
        var isCertain = true
        for page in 1... {
            let found = try await client.send(
                Messenger.ListMessages(chat: entry.chat, limit: 100, after: after, include: .edited))
            if isStopped { throw CancellationError() }
            for message in found.reversed() where message.sender == user {
                // An upload belongs to one message.
                let isSame =
                    entry.file == nil
                    ? message.content == entry.content && message.type == entry.type && message.file == nil
                    : message.file == entry.file
                if isSame {
                    try outbox.sent(entry, as: message.id)
                    try settle(entry.chat)
                    return signal.add(.chat(entry.chat))
                }
                if message.editedAt != nil, entry.file == nil { isCertain = false }
            }
            guard let newest = found.first?.id else { break }
            after = newest
            if page == Self.searchedPages {
                isCertain = false
                break
            }
        }
        let isGone = try cache.hasDeletions(in: entry.chat, after: entry.after ?? 0)
        if isCertain, !isGone {
            try outbox.restart(entry)
        } else {
            try outbox.fail(entry, .uncertain)
        }
        signal.add(.chat(entry.chat))
    }

    // MARK: Read marks

    /// Moves the user's mark, and tells the server when that is possible.
    package func markRead(_ message: Messenger.Message.ID, in chat: Messenger.Chat.ID) {
        attempt {
            try cache.wantRead(message, in: chat)
            changed(chat)
        }
        sendMarks()
    }

    private func sendMarks() {
        guard !isMarking else { return }
        isMarking = true
        run { engine in
            await engine.sendWantedMarks()
            engine.isMarking = false
        }
    }

    private func sendWantedMarks() async {
        var failures = 0
        while !isStopped {
            do {
                guard let (chat, wanted) = try cache.wantedMark() else { return }
                let marked = try await mark(wanted, in: chat)
                if isStopped { return }
                if let marked { try cache.apply([(user, marked)], in: chat) }
                try cache.forgetWantedMark(wanted, in: chat)
                failures = 0
                changed(chat)
            } catch {
                handle(error)
                failures += 1
                guard await pause(.seconds(1 << min(failures, 6))) else { return }
            }
        }
    }

    /// Tells the server how far the user has read: up to a message, or the newest one before it that still exists.
    ///
    /// - Returns: The marked message; nil when there is none, or the server refuses.
    private func mark(
        _ message: Messenger.Message.ID, in chat: Messenger.Chat.ID
    ) async throws -> Messenger.Message.ID? {
        var message = message
        while true {
            do {
                try await client.send(Messenger.MarkRead(chat: chat, message: message))
                return message
            } catch let error as APIError where isFinal(error) {
                guard error.status == .notFound else { return nil }
                let older = Messenger.ListMessages(chat: chat, limit: 1, before: message)
                guard let next = try await client.send(older).first else { return nil }
                message = next.id
            }
        }
    }
}

/// The copy of a message's file is not there.
private struct CopyIsGone: Error {}
