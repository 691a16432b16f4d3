import Backend
import Contract
import Database
import MessengerAPI

/// A chat to which the waiting writes send messages. Its row and those of its senders are stored once for all of them.
final class BusyChat: KeptRow {
    private let id: Messenger.Chat.ID
    private var events: Int64
    /// The time of the newest message; nil before the first.
    private var updatedAt: Int64?
    private var senders: [Sender]

    /// A member whose right to send has been checked, and what the member has read.
    private struct Sender {
        let user: Messenger.User.ID
        /// SQLite's number of the member's row.
        let row: Int64
        var read: (id: Messenger.Message.ID, at: Int64)?
    }

    private init(_ id: Messenger.Chat.ID, events: Int64, _ sender: Sender) {
        (self.id, self.events, senders) = (id, events, [sender])
    }

    /// Adds a message, like ``Messages/insert(_:from:at:in:)``.
    static func send(
        _ request: Messenger.SendMessage, from sender: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> (Messenger.Message.ID, EventNumber<Messenger.Chat.ID>) {
        // None of the statements reads or changes what the kept rows change: the chats' times and numbers of events, and
        // what senders have read.
        try db.beside {
            let chat = try entered(request.chat, by: sender, in: db)
            let id = try Messages.add(request, from: sender, at: now, in: db)
            return (id, chat.note(id, from: sender, at: now))
        }
    }

    /// Returns the kept chat, once the sender may write to it.
    private static func entered(
        _ id: Messenger.Chat.ID, by sender: Messenger.User.ID, in db: Session
    ) throws -> BusyChat {
        let kept: BusyChat? = db.keptRow(id.rawValue)
        if let kept, kept.senders.contains(where: { $0.user == sender }) { return kept }
        let found = try db.one(
            """
            SELECT c.events, m.rowid, c.direct_low, c.direct_high FROM chats c JOIN members m ON m.chat_id = c.id
            WHERE c.id = \(id) AND m.user_id = \(sender)
            """
        ) { row in
            (
                events: try row.get(0, as: Int64.self), sender: Sender(user: sender, row: try row.get(1)),
                pair: try Pair(row: row, at: 2)
            )
        }
        guard let found else { throw Chats.notAMember }
        if let pair = found.pair { try Blocks.requireContact(pair, in: db) }
        if let kept {
            kept.senders.append(found.sender)
            return kept
        }
        let chat = BusyChat(id, events: found.events, found.sender)
        db.keep(chat, as: id.rawValue)
        return chat
    }

    private func note(
        _ message: Messenger.Message.ID, from sender: Messenger.User.ID, at now: Int64
    ) -> EventNumber<Messenger.Chat.ID> {
        events += 1
        updatedAt = now
        if let index = senders.firstIndex(where: { $0.user == sender }) { senders[index].read = (message, now) }
        return EventNumber(events, of: id)
    }

    func store(in db: Session) throws {
        guard let updatedAt else { return }
        try db.run("UPDATE chats SET updated_at = \(updatedAt), events = \(events) WHERE id = \(id)")
        for sender in senders {
            guard let read = sender.read else { continue }
            try db.run(
                "UPDATE members SET last_read_id = \(read.id), read_at = \(read.at) WHERE rowid = \(sender.row)")
        }
    }
}
