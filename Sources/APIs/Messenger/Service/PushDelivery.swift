import Backend
import Contract
import Database
import Logging
import MessengerAPI
import Push

/// Sends the notifications of one message.
struct PushDelivery: Sendable {
    /// The number of devices that one node notifies of a message. Those of a larger chat are several jobs.
    static let maximumDevices = 100

    let settings: PushSettings
    let database: Database
    let attendance: Attendance
    let time: TimeSource
    let logger: Logger

    /// A device that is to be notified.
    fileprivate struct Recipient: Sendable {
        let id: Messenger.Device.ID
        let user: Messenger.User.ID
        let device: PushDevice
    }

    func deliver(_ job: PushJob) async throws -> JobQueue<PushJob>.Outcome {
        let now = time.milliseconds()
        let due = try await database.read { db -> (PushedMessage, [Recipient])? in
            guard let message = try PushedMessage.one(job.message, in: db) else { return nil }
            return (message, try Self.recipients(of: message, among: job.devices, at: now, in: db))
        }
        guard let (message, everybody) = due, !everybody.isEmpty else { return .done }
        // No node may have run for long.
        guard now < message.expiresAt * 1000 else { return .done }
        var recipients = everybody
        if job.devices == nil {
            let present = try await attendance.users(in: message.chat, patience: settings.patience)
            recipients.removeAll { present.contains($0.user) }
            if recipients.count > Self.maximumDevices {
                let ids = recipients.map(\.id)
                return .split(
                    stride(from: 0, to: ids.count, by: Self.maximumDevices).map { first in
                        PushJob(message: job.message, devices: Array(ids[first...].prefix(Self.maximumDevices)))
                    })
            }
        }
        return try await send(message, to: recipients, at: now)
    }

    private func send(
        _ message: PushedMessage, to recipients: [Recipient], at now: Int64
    ) async throws -> JobQueue<PushJob>.Outcome {
        let users = Set(recipients.map(\.user)).sorted()
        let badges = try await database.read { try Self.unread(of: users, in: $0) }
        let outcomes = try await withThrowingTaskGroup(of: (Recipient, PushOutcome).self) { group in
            for recipient in recipients {
                let payload = try message.payload(
                    badge: badges[recipient.user] ?? 0, showingText: settings.showsText)
                group.addTask {
                    let notification = PushNotification(
                        to: recipient.device, payload: payload, expiresAt: message.expiresAt,
                        // What is sent again after a lost answer replaces what has arrived.
                        collapseID: "message-\(message.id)")
                    return (recipient, await settings.client.send(notification))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return try await settle(outcomes, of: message, at: now)
    }

    /// Removes the devices that are no more, and leaves for later those that could not be notified.
    private func settle(
        _ outcomes: [(Recipient, PushOutcome)], of message: PushedMessage, at now: Int64
    ) async throws -> JobQueue<PushJob>.Outcome {
        var gone: [(Recipient, Int64)] = []
        var (later, pause) = ([Messenger.Device.ID](), Int64(0))
        for (recipient, outcome) in outcomes {
            switch outcome {
            case .sent: break
            case .gone(let reason, let since):
                gone.append((recipient, since ?? now))
                logger.info("a device is not notified any more", metadata: recipient.metadata(reason))
            case .refused(let reason):
                logger.warning("a notification was refused", metadata: recipient.metadata(reason))
            case .postponed(let reason, let retryAfter):
                if later.isEmpty { logger.warning("a notification waits", metadata: recipient.metadata(reason)) }
                later.append(recipient.id)
                pause = max(pause, retryAfter ?? 0)
            }
        }
        if !gone.isEmpty {
            try await database.write { [gone] db in
                for (recipient, since) in gone {
                    try Devices.remove(recipient.id, token: recipient.device.token, registeredBefore: since, in: db)
                }
            }
        }
        return later.isEmpty ? .done : .again(PushJob(message: message.id, devices: later), notWithin: pause)
    }

    // MARK: Queries

    /// Returns the devices of the chat's other members who have not read the message, nor muted the chat, and
    /// are not suspended.
    private static func recipients(
        of message: PushedMessage, among devices: [Messenger.Device.ID]?, at now: Int64,
        in db: Session
    ) throws -> [Recipient] {
        let listed: SQL = devices.map { "AND d.id IN (\(list: $0))" } ?? ""
        return try db.all(
            """
            SELECT d.id, d.user_id, d.token, d.environment
            FROM members m JOIN devices d ON d.user_id = m.user_id JOIN chats c ON c.id = m.chat_id
            WHERE m.chat_id = \(message.chat) AND m.user_id <> \(message.sender)
                AND COALESCE(m.last_read_id, 0) < \(message.id) \(listed)
                AND (m.muted_until IS NULL OR m.muted_until <= \(now))
                AND EXISTS (SELECT 1 FROM users WHERE users.id = m.user_id AND \(Users.isUsable(at: now)))
                AND (c.direct_low IS NULL OR NOT EXISTS (
                    SELECT 1 FROM blocks b WHERE b.blocker_id = m.user_id AND b.blocked_id = \(message.sender)
                    UNION ALL
                    SELECT 1 FROM blocks b WHERE b.blocker_id = \(message.sender) AND b.blocked_id = m.user_id))
            ORDER BY d.id
            """
        ) { row in
            let environment = PushDevice.Environment(rawValue: try row.get(3, as: String.self))
            return Recipient(
                id: try row.get(0), user: try row.get(1),
                device: .init(token: try row.get(2), environment: environment ?? .production))
        }
    }

    /// Returns the number of unread messages of users in all their chats, up to 9,999.
    private static func unread(of users: [Messenger.User.ID], in db: Session) throws -> [Messenger.User.ID: Int] {
        let counts: [(Messenger.User.ID, Int)] = try db.all(
            """
            SELECT u.id, (SELECT COUNT(*) FROM (
                SELECT x.id FROM members m
                    JOIN messages x ON x.chat_id = m.chat_id AND x.id > COALESCE(m.last_read_id, 0)
                WHERE m.user_id = u.id AND x.sender_id <> u.id LIMIT 9999) unread)
            FROM users u WHERE u.id IN (\(list: users))
            """
        ) { (try $0.get(0), try $0.get(1)) }
        return Dictionary(uniqueKeysWithValues: counts)
    }
}

extension PushDelivery.Recipient {
    /// Returns what the log says. It never has the token, nor anything of the message.
    fileprivate func metadata(_ reason: String) -> Logger.Metadata {
        ["device": .stringConvertible(id), "reason": "\(reason)"]
    }
}
