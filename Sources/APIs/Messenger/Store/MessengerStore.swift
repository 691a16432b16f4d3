import ContractClient
import Foundation
import MessengerAPI
import MessengerClient
import Observation

/// The chats of one account as an app shows them: observable, there at once without a network, and up to date with one.
///
/// ```swift
/// let store = try await MessengerStore.open(messenger, in: folder)
/// for chat in store.chats.all { print(chat.title ?? "", chat.unreadCount) }
///
/// let chat = store.chat(id)
/// try await chat.send("Hello!")
/// ```
///
/// A store keeps messages in files below a folder, holds the one live connection of the account, and sends what the user
/// writes: at once, when the network comes back, or in another launch of the app, once each and in order. Keep one store
/// for each account and folder, for as long as the user is signed in. It ends when nothing refers to it any more.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable public final class MessengerStore {
    /// The values by which an app configures a store.
    public struct Configuration: Sendable {
        /// The number of messages that are read and shown at first, and added by ``ChatState/loadOlder()``: 1 to 100.
        public var pageSize = 50
        /// The largest number of bytes of files of messages on this device. Beyond it, the files that were not used for
        /// the longest time are removed, and downloaded again when they are needed.
        public var fileLimit: Int64 = 500_000_000
        /// The times of pings and reconnects.
        public var pacing = LiveConnection.Pacing.standard
        /// Returns this device's time.
        public var now: @Sendable () -> Date = { Date() }

        public init() {}
    }

    /// The signed-in user, whose store this is.
    @ObservationIgnored public let user: Messenger.User.ID
    /// The chats, those with the newest messages first.
    @ObservationIgnored public let chats = ChatList()
    /// The files of messages.
    @ObservationIgnored public let files: StoreFiles
    /// The state of the connection.
    public private(set) var connection = StoreConnection.connecting

    @ObservationIgnored let engine: StoreEngine
    @ObservationIgnored private let client: MessengerClient
    @ObservationIgnored private let pageSize: Int
    @ObservationIgnored private var shown: [Messenger.Chat.ID: Weak] = [:]
    @ObservationIgnored private var observing: Task<Void, Never>?

    private struct Weak { weak var state: ChatState? }

    /// Opens the store of the signed-in user, with everything that is on this device, and begins to connect.
    ///
    /// Whatever another account left in the folder is removed, and so is everything when no user is signed in. A damaged
    /// cache is read again from the server; the messages that are not sent yet are in a file of their own.
    ///
    /// - Parameters:
    ///   - client: The signed-in client.
    ///   - folder: A folder that belongs to the store alone; it is made if it does not exist. On iOS, take one in
    ///     Application Support, which the system does not empty, and exclude it from backups.
    ///   - configuration: The store's limits and times.
    /// - Throws: ``SignedOut`` when no user is signed in, the token store's error, the error of the disk.
    public static func open(
        _ client: MessengerClient, in folder: URL, configuration: Configuration = .init()
    ) async throws -> MessengerStore {
        var settings = StoreSettings()
        settings.pageSize = min(max(1, configuration.pageSize), Messenger.ListMessages.maximum)
        settings.fileLimit = configuration.fileLimit
        settings.pacing = configuration.pacing
        settings.now = configuration.now
        let engine = try await engine(client, folder, settings)
        let store = MessengerStore(client, engine, pageSize: settings.pageSize)
        await store.refresh([.list])
        await engine.start()
        return store
    }

    private nonisolated static func engine(
        _ client: MessengerClient, _ folder: URL, _ settings: StoreSettings
    ) async throws -> StoreEngine {
        guard let user = try await client.user else {
            StorePlaces(folder: folder).remove()
            throw SignedOut()
        }
        return try StoreEngine(client: client, user: user, folder: folder, settings: settings)
    }

    private init(_ client: MessengerClient, _ engine: StoreEngine, pageSize: Int) {
        (self.client, self.engine, self.pageSize) = (client, engine, pageSize)
        user = engine.user
        files = StoreFiles(engine)
        observing = Task { [weak self, signal = engine.signal] in
            for await _ in signal.moments() {
                await self?.refresh(signal.take())
            }
        }
    }

    deinit {
        observing?.cancel()
        Task { [engine] in await engine.stop() }
    }

    // MARK: Chats

    /// Returns the state of a chat. Calls for the same chat return the same object while the app keeps it; as long as
    /// it does, the chat is kept up to date before all others.
    public func chat(_ id: Messenger.Chat.ID) -> ChatState {
        if let state = shown[id]?.state { return state }
        let state = ChatState(id, engine, pageSize: pageSize)
        shown = shown.filter { $0.value.state != nil }
        shown[id] = Weak(state: state)
        return state
    }

    /// Opens a new chat, or the existing direct chat, and returns its state.
    ///
    /// - Throws: The errors of ``Messenger/CreateChat``.
    public func open(_ request: Messenger.CreateChat) async throws -> ChatState {
        let created = try await client.send(request)
        try await engine.readList()
        return chat(created.id)
    }

    /// Reads the list of chats from the server: when the user pulls the list down, or after a push message of a chat that
    /// is not in it. While there is a connection this happens once a minute.
    ///
    /// - Throws: The network's error, the API's refusal.
    public func reload() async throws { try await engine.readList() }

    // MARK: Life

    /// Tries to connect and to send at once. On Apple platforms this happens by itself when the network comes back and
    /// when the app comes to the front.
    public func wake() async { await engine.wake() }

    /// Signs out, and removes all files of the account from this device, messages that were not sent included.
    ///
    /// - Throws: The errors of `MessengerClient.signOut()`. The files are removed nevertheless.
    public func signOut() async throws {
        await engine.wipe()
        connection = .ended
        try await client.signOut()
    }

    /// Ends the connection and closes the files, which stay. A store that was closed shows what it showed.
    public func close() async { await engine.stop() }

    private func refresh(_ changes: Set<StoreSignal.Change>) async {
        if changes.contains(.end) {
            connection = await engine.connection
            if case .ended = connection { forgetAll() }
            return
        }
        if changes.contains(.connection) { connection = await engine.connection }
        if changes.contains(.list) { chats.show(await engine.chats()) }
        if changes.contains(.files) { files.show(await engine.transfers()) }
        for case .chat(let id) in changes { await shown[id]?.state?.refresh() }
    }

    /// Shows nothing more of an account that has signed out.
    private func forgetAll() {
        chats.show([])
        for weak in shown.values { weak.state?.forget() }
    }
}
