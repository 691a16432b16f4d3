import ContractClient
import Foundation
import MessengerAPI
import MessengerClient
import Observation

/// One chat: its messages, what the user writes, and what the other members do.
///
/// ``MessengerStore/chat(_:)`` returns it. Keep it while the chat is on the screen.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable public final class ChatState: Identifiable {
    /// The chat's id.
    @ObservationIgnored public let id: Messenger.Chat.ID
    /// The chat as in the list; nil when it is not on this device, or the user is no longer a member.
    public private(set) var chat: StoredChat?
    /// The newest messages, the oldest of them first. ``loadOlder()`` adds more.
    public private(set) var messages: [StoredMessage] = []
    /// The user's messages that are on their way, which an app shows below the others, in the order of sending.
    public private(set) var outgoing: [OutgoingMessage] = []
    /// The members in the order of joining.
    public private(set) var members: [Messenger.Member] = []
    /// The members who are typing at present.
    public private(set) var typing: [Messenger.User.ID] = []
    /// The newest message that each member has read; members who have read nothing are not in it.
    public private(set) var readMarks: [Messenger.User.ID: Messenger.Message.ID] = [:]
    /// Whether there are messages before the first of ``messages``, on this device or on the server.
    public private(set) var hasOlder = true

    @ObservationIgnored private let engine: StoreEngine
    @ObservationIgnored private let pageSize: Int
    @ObservationIgnored private var limit: Int
    @ObservationIgnored private var isForgotten = false
    @ObservationIgnored private var newest = 0

    init(_ id: Messenger.Chat.ID, _ engine: StoreEngine, pageSize: Int) {
        (self.id, self.engine, self.pageSize, limit) = (id, engine, pageSize, pageSize)
        Task { [weak self] in
            await engine.show(id)
            await self?.refresh()
        }
    }

    deinit { Task { [engine, id] in await engine.hide(id) } }

    // MARK: Reading

    /// Adds a page of older messages, from this device or from the server. It also fills gaps between the messages that
    /// are shown: see ``StoredMessage/followsGap``.
    ///
    /// - Throws: The network's error, the API's refusal. What is on this device is shown nevertheless.
    public func loadOlder() async throws {
        if hasOlder { limit = messages.count + pageSize }
        try await change { [engine, id, limit] in try await engine.loadOlder(in: id, limit: limit) }
    }

    /// Marks everything up to a message as read; without one, everything that is shown. Without a network the server is
    /// told later.
    public func markRead(upTo message: Messenger.Message.ID? = nil) async {
        guard let message = message ?? messages.last?.id else { return }
        await engine.markRead(message, in: id)
        await refresh()
    }

    /// Mutes the chat: the user's devices are not notified of its messages any more, which arrive nevertheless and count as
    /// unread.
    ///
    /// - Parameter end: The time at which that ends by itself; nil for a chat that stays muted until ``unmute()``.
    /// - Throws: The errors of ``Messenger/MuteChat``, the network's error.
    public func mute(until end: Date? = nil) async throws {
        try await change { [engine, id] in try await engine.mute(id, until: end) }
    }

    /// Has the user's devices notified of the chat again.
    ///
    /// - Throws: The errors of ``Messenger/UnmuteChat``, the network's error.
    public func unmute() async throws {
        try await change { [engine, id] in try await engine.unmute(id) }
    }

    // MARK: Writing

    /// Sends a text message: at once, or as soon as there is a connection, in this launch of the app or a later one.
    ///
    /// - Returns: The id of the message in ``outgoing``.
    /// - Throws: ``APIError`` for a text that the API never takes, the error of the disk.
    @discardableResult
    public func send(_ text: String) async throws -> OutgoingMessage.ID {
        try await enqueue(text, .text, nil)
    }

    /// Sends a file, of which a copy is kept until it is sent.
    ///
    /// - Parameters:
    ///   - file: The bytes or the file on disk, with a name and a type.
    ///   - caption: The text beside the file.
    ///   - type: The type ``Messenger/MessageType/file``, or ``Messenger/MessageType/voice``.
    /// - Returns: The id of the message in ``outgoing``, whose ``OutgoingMessage/progress`` is that of the upload.
    /// - Throws: As ``send(_:)``.
    @discardableResult
    public func send(
        _ file: Upload, caption: String = "", as type: Messenger.MessageType = .file
    ) async throws -> OutgoingMessage.ID {
        try await enqueue(caption, type, file)
    }

    private func enqueue(
        _ content: String, _ type: Messenger.MessageType, _ file: Upload?
    ) async throws -> OutgoingMessage.ID {
        let entry = try await engine.enqueue(content, type: type, file: file, to: id)
        await refresh()
        return entry
    }

    /// Sends a failed message again. One that ``OutgoingFailure/isUncertain`` may arrive twice.
    ///
    /// - Throws: The error of the disk.
    public func retry(_ message: OutgoingMessage.ID) async throws {
        try await engine.retry(message)
        await refresh()
    }

    /// Removes a message that is waiting or has failed.
    ///
    /// - Returns: Whether it has been removed. False for one that is being sent, or has been sent.
    /// - Throws: The error of the disk.
    @discardableResult
    public func discard(_ message: OutgoingMessage.ID) async throws -> Bool {
        defer { Task { await refresh() } }
        return try await engine.discard(message)
    }

    /// Replaces the text of a message of the user. It is shown at once, and undone if the server refuses it.
    ///
    /// - Throws: The errors of ``Messenger/EditMessage``, the network's error.
    public func edit(_ message: Messenger.Message.ID, to text: String) async throws {
        try await change { [engine, id] in try await engine.edit(message, in: id, to: text) }
    }

    /// Deletes a message of the user. It disappears at once, and comes back if the server refuses that.
    ///
    /// - Throws: The errors of ``Messenger/DeleteMessage``, the network's error.
    public func delete(_ message: Messenger.Message.ID) async throws {
        try await change { [engine, id] in try await engine.delete(message, in: id) }
    }

    /// Runs a change, and shows what has become of it whether it fails or not.
    private func change(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let result = await Task { try await body() }.result
        await refresh()
        try result.get()
    }

    /// Tells the other members that the user is typing. Call it with each change of the text; it is sent once in 3 seconds.
    public func startTyping() async { await engine.startTyping(in: id) }

    // MARK: Showing

    func refresh() async {
        let view = await engine.view(of: id, limit: limit)
        guard !isForgotten, view.number > newest else { return }
        newest = view.number
        // An assignment makes views compute themselves again, even of an equal value.
        if chat != view.chat { chat = view.chat }
        if messages != view.messages { messages = view.messages }
        if outgoing != view.outgoing { outgoing = view.outgoing }
        if members != view.members { members = view.members }
        if typing != view.typing { typing = view.typing }
        if readMarks != view.marks { readMarks = view.marks }
        if hasOlder != view.hasOlder { hasOlder = view.hasOlder }
    }

    func forget() {
        isForgotten = true
        (chat, messages, outgoing, members, typing, readMarks) = (nil, [], [], [], [], [:])
    }
}
