import Backend
import Contract
import ContractServer
import Database
import Logging
import MessengerAPI
import Push

/// The way in which devices are notified of messages.
public struct PushSettings: Sendable {
    /// The client of Apple's push service.
    public var client: APNsClient
    /// Whether notifications have the text of the message, and the names of its sender and its group. Otherwise they have
    /// only ids, and the app reads the message itself.
    public var showsText: Bool
    /// The time for which the other nodes are asked who sees the message anyway.
    public var patience: Duration

    public init(client: APNsClient, showsText: Bool = true, patience: Duration = .seconds(2)) {
        self.client = client
        self.showsText = showsText
        self.patience = patience
    }
}

/// A message in the queue, of which devices are still to be notified.
struct PushJob: Codable, Sendable {
    let message: Messenger.Message.ID
    /// The devices; nil until the members who are to be notified have been found.
    var devices: [Messenger.Device.ID]?
}

/// Notifies devices of messages. A send adds one row; all else happens behind it.
struct Pushes: Sendable {
    /// The number of messages above which no more wait, as when Apple's service cannot be reached for hours.
    private static let maximum: Int64 = 200_000

    let queue: JobQueue<PushJob>

    init(
        _ settings: PushSettings, database: Database, attendance: Attendance, time: TimeSource, logger: Logger
    ) {
        let delivery = PushDelivery(
            settings: settings, database: database, attendance: attendance, time: time, logger: logger)
        queue = JobQueue(
            database: database, secret: nil, time: time, maximum: Self.maximum, metrics: .init("concord_pushes"),
            report: { message, error, isTriedAgain in
                logger.warning(
                    "devices were not notified of a message",
                    metadata: [
                        "job": message.map { .stringConvertible($0) } ?? "unknown", "error": "\(error)",
                        "again": .stringConvertible(isTriedAgain),
                    ])
            }, deliver: { try await delivery.deliver($0) })
    }

    /// Whether messages are added to the queue.
    var isAccepting: Bool { !queue.isFull }

    /// Notifies devices of a message, if the transaction commits.
    func post(_ message: Messenger.Message.ID, at now: Int64, in db: Session) throws {
        if isAccepting { try queue.post(PushJob(message: message), at: now, in: db) }
    }

    /// Returns the statement that does what ``post(_:at:in:)`` does for a table with the columns `id` and `at`.
    static func insertion(from table: SQL) -> SQL {
        """
        INSERT INTO outbox (sealed, created_at, due_at, attempts)
        SELECT convert_to('{"message":' || id || '}', 'UTF8'), at, at, 0 FROM \(table)
        """
    }
}

extension MessengerService {
    /// Sends the notifications that are due now. It is for tests.
    public func sendDuePushes() async throws { try await pushes?.queue.sendDue() }

    /// Returns the users who have a socket on this node that is subscribed to a chat. It is for tests.
    package func listeners(to chat: Messenger.Chat.ID) async throws -> [Messenger.User.ID] {
        try await hub.ask(.chat(chat)) { ($0 as? Subscription)?.user }
    }
}
