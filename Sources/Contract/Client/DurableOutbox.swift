import Contract
import Foundation

/// Keeps what an app has written until the server has it: items survive the app's death and days without a network, and are
/// sent once and in order, each with the time at which it was made.
///
/// An API's client opens one for an account, with functions of its own to add to it. Each item is a folder on the disk, made
/// before the call that adds it returns, with the `Idempotency-Key` for all of its attempts and copies of its files.
///
/// What fails for a while is tried again, after 1, 2, 4 … 60 seconds and when the device has a network again: network errors,
/// 5xx, 408, 425, 429 (after its `Retry-After`), and 401, which the client answers by renewing the session. Other refusals
/// (4xx) fail for good: the item stays, ``OutboxState/failed(_:)``, until the app retries or discards it. An item that the
/// server answers with 5xx three times lets those behind it pass.
///
/// An item belongs to the account: it is never sent as another user, and signing out removes it. An app and its extensions may
/// open the same folder: what both send arrives once.
public actor DurableOutbox<Content: Codable & Sendable> {
    /// The account to which the items belong.
    public nonisolated let account: String
    /// The items whose files could not be read when the outbox was opened. Each was set aside.
    public private(set) var damage: [OutboxDamage] = []

    let folder: OutboxFolder
    package let settings: OutboxSettings<Content>
    let pacing: LiveConnection.Pacing
    let waker = Waker()
    var entries: [OutboxEntry<Content>] = []
    /// The task that sends; nil while nothing waits.
    var sender: Task<Void, Never>?
    /// The number of attempts in a row that failed.
    var failures = 0
    var isClosed = false
    private var listener: Task<Void, Never>?
    private var lastNumber = 0
    private nonisolated let observers = Locked<[Int: AsyncStream<OutboxChange<Content>>.Continuation]>([:])
    private nonisolated let executor = QueueExecutor("Outbox")

    /// The executor of the outbox, which has a queue of its own for the disk.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(
        of account: String, in folder: OutboxFolder, pacing: LiveConnection.Pacing, settings: OutboxSettings<Content>
    ) {
        self.account = account
        self.folder = folder
        self.settings = settings
        self.pacing = pacing
    }

    deinit {
        sender?.cancel()
        listener?.cancel()
        for observer in observers.use({ $0.values }) { observer.finish() }
    }

    /// Opens the outbox of an account, and begins to send what waits in it. Apps call the function of their API's client.
    ///
    /// - Parameters:
    ///   - account: The id of the signed-in user.
    ///   - folder: A folder for the outboxes of one server, such as one in Application Support, or in the container that an
    ///     app shares with its extensions. It need not exist.
    ///   - settings: How items are sent, and the outbox's bounds.
    ///   - pacing: The times between two attempts.
    ///   - wakes: The moments at which what waits is sent at once.
    /// - Throws: The disk's error. Damaged items are set aside instead (``damage``).
    public static func open(
        of account: String, in folder: URL, settings: OutboxSettings<Content>,
        pacing: LiveConnection.Pacing = .standard, wakes: DeviceWakes = .standard
    ) async throws -> DurableOutbox {
        let files = OutboxFolder(folder, account: account, step: settings.step)
        let outbox = DurableOutbox(of: account, in: files, pacing: pacing, settings: settings)
        try await outbox.begin(wakes)
        return outbox
    }

    private func begin(_ wakes: DeviceWakes) throws {
        try readFolder()
        let stream = wakes.stream()
        listener = Task { [weak self] in
            for await _ in stream { try? await self?.resume() }
        }
        send()
    }

    // MARK: Reading

    /// The items that are not sent yet, in the order in which they were added.
    public var items: [OutboxItem<Content>] { entries.map { $0.item() } }

    /// Every change from now on. Any number of tasks may observe them.
    public nonisolated var changes: AsyncStream<OutboxChange<Content>> {
        let (stream, observer) = AsyncStream<OutboxChange<Content>>.makeStream()
        let id = observers.use { observers in
            let id = (observers.keys.max() ?? 0) + 1
            observers[id] = observer
            return id
        }
        observer.onTermination = { [weak self] _ in self?.observers.use { _ = $0.removeValue(forKey: id) } }
        return stream
    }

    func announce(_ change: OutboxChange<Content>) {
        for observer in observers.use({ Array($0.values) }) { observer.yield(change) }
    }

    /// Takes over the items in the folder that are not known, and forgets those that have gone.
    private func readFolder() throws {
        let names = try folder.items()
        let known = Set(entries.map(\.id.name))
        for name in names where !known.contains(name) {
            do {
                let entry = try OutboxEntry<Content>(reading: name, account: account, in: folder)
                entries.append(entry)
                announce(.changed(entry.item()))
            } catch  where folder.exists(name) {
                let damage = OutboxDamage(location: try folder.setAside(name), reason: "\(error)")
                self.damage.append(damage)
                announce(.damaged(damage))
            } catch {
                // Another process has just sent it.
            }
        }
        entries.sort { $0.id.name < $1.id.name }
        let present = Set(names)
        for entry in entries where entry.sending == nil && !present.contains(entry.id.name) { forget(entry.id) }
        lastNumber = max(lastNumber, entries.last.flatMap { Int($0.id.name.prefix(16)) } ?? 0)
    }

    func forget(_ id: OutboxItemID) {
        entries.removeAll { $0.id == id }
        announce(.removed(id))
    }

    // MARK: Writing

    /// Adds an item. It is on the disk, with copies of its files, when this returns.
    ///
    /// - Parameters:
    ///   - files: The files that go with it. They may be deleted afterwards.
    ///   - createdAt: The time at which it was made; the present time when nil.
    /// - Throws: ``OutboxFull``; the disk's error: the item is not in the outbox then.
    @discardableResult
    public func add(
        _ content: Content, files: [Upload] = [], createdAt: Date? = nil
    ) throws -> OutboxItem<Content> {
        let record = OutboxEntry<Content>.Record(
            account: account, createdAt: Self.milliseconds(createdAt ?? settings.now()),
            key: UUID().uuidString.lowercased(), content: content,
            files: try files.map {
                .init(filename: $0.filename, contentType: $0.contentType, size: try $0.outboxSize())
            })
        let data = try JSONEncoder().encode(record)
        let digits = String(lastNumber + 1)
        let id = OutboxItemID(name: String(repeating: "0", count: 16 - digits.count) + digits + "-" + record.key)
        let entry = OutboxEntry(id, record, .init(), requestSize: data.count, in: folder)
        let limits = settings.limits
        guard entries.count < limits.items, entries.reduce(entry.size, { $0 + $1.size }) <= limits.bytes else {
            throw OutboxFull(limits: limits)
        }
        try folder.add(id.name, request: data, files: files)
        lastNumber += 1
        entries.append(entry)
        announce(.changed(entry.item()))
        send()
        return entry.item()
    }

    /// Sends a failed item again, under a new key.
    ///
    /// - Throws: The disk's error.
    public func retry(_ id: OutboxItemID) throws {
        guard let index = index(of: id), entries[index].attempt.failure != nil else { return }
        var attempt = entries[index].attempt
        (attempt.key, attempt.firstAt, attempt.failure) = (UUID().uuidString.lowercased(), nil, nil)
        try store(attempt, at: index)
        announce(.changed(entries[index].item()))
        send()
    }

    /// Removes an item that the app does not want to be sent.
    ///
    /// - Returns: Whether it was still there and not being sent.
    /// - Throws: The disk's error.
    @discardableResult
    public func discard(_ id: OutboxItemID) throws -> Bool {
        guard let index = index(of: id), entries[index].sending == nil else { return false }
        try folder.remove(id.name)
        forget(id)
        return true
    }

    /// Sends what waits, at once, with what another process of the app has added. Apple's platforms do it when there is a
    /// network again and when the app comes to the front; an app calls it after a sign-in and in a background task.
    ///
    /// - Throws: The disk's error.
    public func resume() throws {
        guard !isClosed else { return }
        try readFolder()
        send()
    }

    /// Ends the sending. The items stay on the disk. What is being sent may still arrive.
    public func close() {
        isClosed = true
        sender?.cancel()
        listener?.cancel()
        sender = nil
    }

    /// Removes all items of the account, with their files, and stops sending them: what signing out does.
    ///
    /// - Throws: The disk's error.
    public func wipe() throws {
        sender?.cancel()
        sender = nil
        let ids = entries.map(\.id)
        entries = []
        damage = []
        for id in ids { announce(.removed(id)) }
        try folder.wipe()
    }

    // MARK: Entries

    func index(of id: OutboxItemID) -> Int? { entries.firstIndex { $0.id == id } }

    /// Stores what is known of the attempts to send an item.
    func store(_ attempt: OutboxEntry<Content>.Attempt, at index: Int) throws {
        try folder.store(try JSONEncoder().encode(attempt), of: entries[index].id.name)
        entries[index].attempt = attempt
    }

    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded(.down)) }
}

/// How an outbox sends its items, and its bounds.
public struct OutboxSettings<Content: Sendable>: Sendable {
    /// The bounds of the outbox.
    public var limits = OutboxLimits.standard
    /// Returns this device's time.
    public var now: @Sendable () -> Date = { Date() }
    /// Returns for how long the server remembers the key of an item; nil for one that may be repeated for ever. Afterwards an
    /// item whose answer was lost is not sent again by itself (``OutboxFailure/Reason/uncertain``).
    public var keyLifetime: @Sendable (Content) -> Duration?
    /// Sends an item once, as the account of the outbox and as no other user. It throws ``APIError`` for a refusal, or an
    /// ``OutboxFailure`` for another error after which a repeat is of no use.
    public var deliver: @Sendable (OutboxDelivery<Content>) async throws -> Void
    /// Called before each step on the disk; what it throws, the step does. For tests.
    package var step: @Sendable () throws -> Void = {}

    public init(
        keyLifetime: @escaping @Sendable (Content) -> Duration?,
        deliver: @escaping @Sendable (OutboxDelivery<Content>) async throws -> Void
    ) {
        self.keyLifetime = keyLifetime
        self.deliver = deliver
    }
}
