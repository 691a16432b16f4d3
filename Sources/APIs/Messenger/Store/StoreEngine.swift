import ContractClient
import Foundation
import GRDB
import MessengerAPI
import MessengerClient

/// Keeps the files of one account up to date, and sends what waits: the part of a store that needs no main actor.
///
/// Its parts are extensions: `Synchronizer` (the live connection and what is read besides), `History`, `Sending`,
/// `MessageChanges`, `Files`. A decision and the transaction that stores it are one step, because transactions are
/// synchronous: they run on a queue of the engine's own, so that no disk holds up the tasks of an app.
package actor StoreEngine {
    /// The work that a chat needs, in this order.
    struct Needs: OptionSet {
        let rawValue: Int
        static let membership = Needs(rawValue: 1)
        static let history = Needs(rawValue: 2)
        static let changes = Needs(rawValue: 4)
        static let marks = Needs(rawValue: 8)
        static let members = Needs(rawValue: 16)
        static let inOrder: [Needs] = [.membership, .history, .changes, .marks, .members]
    }

    package nonisolated let user: Messenger.User.ID
    nonisolated let client: MessengerClient
    nonisolated let settings: StoreSettings
    nonisolated let places: StorePlaces
    nonisolated let signal = StoreSignal()
    let live: MessengerLive
    var cache: ChatCache
    let outbox: MessageOutbox

    package private(set) var isStopped = false
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var tasksMade = 0

    // The connection.
    /// Counts the connections. An answer that was asked for during an earlier one is asked for again.
    var generation = 0
    var isConnected = false
    package var connection = StoreConnection.connecting
    /// The chats whose subscription has been asked for during this connection.
    var subscribed: Set<Messenger.Chat.ID> = []
    /// The chats whose events are ignored until they are subscribed again.
    var stale: Set<Messenger.Chat.ID> = []
    /// Asks for subscriptions and ends them, one after the other.
    nonisolated let subscribing: AsyncStream<Subscribing>.Continuation
    private let subscriptions: AsyncStream<Subscribing>
    enum Subscribing {
        case begin(Messenger.Chat.ID, since: Messenger.Message.ID)
        case end(Messenger.Chat.ID)
    }

    // The list of chats.
    var isListDue = false
    var isListScheduled = false
    var isReadingList = false
    var listTurn = 0
    var listFailures = 0
    /// The chats in the order in which they are brought up to date.
    var order: [Messenger.Chat.ID] = []

    // The chats.
    var needs: [Messenger.Chat.ID: Needs] = [:]
    /// The chats that an app shows at present, with the number of objects that show them.
    var open: [Messenger.Chat.ID: Int] = [:]
    /// The chats of which something is being read. Only one request at a time reads from a chat.
    var busy: Set<Messenger.Chat.ID> = []
    var waiters: [Messenger.Chat.ID: [CheckedContinuation<Void, Never>]] = [:]
    /// The chats that wait after a failure, each with the number of its wait, and the number of failures in a row.
    var delayed: [Messenger.Chat.ID: Int] = [:]
    var delaysMade = 0
    var failures: [Messenger.Chat.ID: Int] = [:]
    var workers = 0
    /// The connection during which a chat's list of changes was last read.
    var changesReadIn: [Messenger.Chat.ID: Int] = [:]
    /// The edits that arrived while something was being read from the chat.
    var newerEdits: [Messenger.Chat.ID: [Messenger.Message.ID: Messenger.MessageEdit]] = [:]
    /// The messages that arrived while something was being read from the chat.
    var newerMessages: [Messenger.Chat.ID: [Messenger.Message]] = [:]
    /// The chats of which something could not be stored: the newest message then, and how often it has stayed the newest.
    var unstored: [Messenger.Chat.ID: (newest: Messenger.Message.ID?, count: Int)] = [:]
    /// The number of changes to each chat's messages that have arrived, by which outdated answers are found.
    var changeCounts: [Messenger.Chat.ID: Int] = [:]
    /// The edits that the server has accepted, and whose text is to be read.
    var confirmed: [Messenger.Chat.ID: Set<Messenger.Message.ID>] = [:]
    var typing: [Messenger.Chat.ID: [Messenger.User.ID: Int]] = [:]
    var typingMade = 0
    var viewsMade = 0

    // Sending.
    var sending: Set<Messenger.Chat.ID> = []
    var sendFailures: [Messenger.Chat.ID: Int] = [:]
    var sendTurns: [Messenger.Chat.ID: Int] = [:]
    var uploads: [Int64: TransferProgress] = [:]
    var uploadedAgain: Set<Int64> = []
    var isMarking = false
    var downloads: [Messenger.File.ID: Task<URL, any Error>] = [:]
    var downloaded: [Messenger.File.ID: TransferProgress] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { settings.executor.asUnownedSerialExecutor() }

    package init(
        client: MessengerClient, user: Messenger.User.ID, folder: URL, settings: StoreSettings
    ) throws {
        self.client = client
        self.user = user
        self.settings = settings
        places = StorePlaces(folder: folder)
        (cache, outbox) = try places.open(for: user, settings.database)
        live = client.live(pacing: settings.pacing)
        (subscriptions, subscribing) = AsyncStream<Subscribing>.makeStream()
    }

    // MARK: Life

    /// Begins to connect and to send.
    package func start() {
        run { await $0.followSession() }
        run { [subscriptions, live] _ in
            for await next in subscriptions {
                switch next {
                case .begin(let chat, let since): await live.subscribe(to: chat, since: since)
                case .end(let chat): await live.unsubscribe(from: chat)
                }
            }
        }
        run { await $0.follow() }
        run { await $0.poll() }
        attempt {
            for chat in try outbox.waitingChats() { send(in: chat) }
            for entry in try outbox.everything() { try settle(entry.chat) }
            try places.removeStrays(try outbox.everything().compactMap(\.fileKey))
        }
    }

    /// Ends everything. The files stay.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        live.close()
        subscribing.finish()
        for (_, task) in tasks.sorted(by: { $0.key < $1.key }) { task.cancel() }
        for task in downloads.values { task.cancel() }
        for waiter in waiters.values.joined() { waiter.resume() }
        waiters = [:]
        try? cache.pool.close()
        try? outbox.pool.close()
        signal.add(.end)
    }

    /// Ends everything, and removes all files of the account.
    package func wipe() {
        stop()
        connection = .ended
        places.remove()
    }

    /// Tries to connect and to send at once.
    package func wake() {
        live.wake()
        listChats()
        sendAll()
    }

    /// Starts a task that ends with the engine.
    func run(_ body: @escaping @Sendable (isolated StoreEngine) async -> Void) {
        guard !isStopped else { return }
        tasksMade += 1
        let id = tasksMade
        tasks[id] = Task {
            await body(self)
            tasks[id] = nil
        }
    }

    /// Waits, and returns whether the engine goes on afterwards.
    func pause(_ duration: Duration) async -> Bool {
        try? await settings.sleep(duration)
        return !isStopped && !Task.isCancelled
    }

    private func followSession() async {
        for await state in client.sessionStates {
            switch state {
            case .signedIn(let present), .renewing(let present):
                if present == user.description || present == nil { continue }
            case .signedOut, .ended: break
            }
            return wipe()
        }
    }

    // MARK: Errors

    /// Runs transactions whose failure leaves everything as it was.
    func attempt(_ body: () throws -> Void) {
        do { try body() } catch { handle(error) }
    }

    /// Decides what follows from an error of the files or of a request. Requests are repeated by their callers.
    func handle(_ error: any Error) {
        guard !isStopped else { return }
        if error is SignedOut { return wipe() }
        if StoreFile.isDamage(error) { return rebuild() }
    }

    /// Throws the cache away, and reads everything from the server again.
    private func rebuild() {
        try? cache.pool.close()
        guard let fresh = try? places.rebuildCache(for: user, settings.database) else { return stop() }
        cache = fresh
        for chat in subscribed { subscribing.yield(.end(chat)) }
        subscribed = []
        needs = [:]
        changesReadIn = [:]
        generation += 1
        signal.add(.list)
        for chat in open.keys { signal.add(.chat(chat)) }
        listChats()
    }

    var now: Int64 { Int64(settings.now().timeIntervalSince1970 * 1000) }
}

/// The values by which an app, or a test, configures a store.
package struct StoreSettings: Sendable {
    /// The number of messages in a page of history.
    package var pageSize = 50
    /// The number of missed messages from which only the newest page is read, which leaves a gap.
    package var catchUp = 100
    /// The largest number of bytes of downloaded files.
    package var fileLimit: Int64 = 500_000_000
    /// The time between two looks at the list of chats.
    package var listInterval = Duration.seconds(60)
    package var pacing = LiveConnection.Pacing.standard
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    package var now: @Sendable () -> Date = { Date() }
    package var executor: any SerialExecutor = QueueExecutor("MessengerStore")
    /// How the files are opened. A test has transactions fail.
    package var database = Configuration()

    package init() {}
}
