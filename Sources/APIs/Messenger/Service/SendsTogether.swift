import Backend
import Contract
import ContractServer
import Database
import Foundation
import MessengerAPI

/// Sends that wait at the same time, at most 64, are made by one transaction of PostgreSQL with two round trips.
///
/// Left out is what would be refused or has a stored answer, and the second of two with one key.
extension Sends {
    /// A message as the statement reads it.
    private struct Row: Encodable {
        let n: Int
        let id: Messenger.Message.ID
        let chat: Messenger.Chat.ID
        let sender: Messenger.User.ID
        let content: String
        let type: Messenger.MessageType
        let at: Int64
        let answer: SharedAnswer?

        enum CodingKeys: CodingKey {
            case n, id, chat, sender, content, type, at
        }

        func encode(to encoder: any Encoder) throws {
            var row = encoder.container(keyedBy: CodingKeys.self)
            try row.encode(n, forKey: .n)
            try row.encode(id, forKey: .id)
            try row.encode(chat, forKey: .chat)
            try row.encode(sender, forKey: .sender)
            try row.encode(content, forKey: .content)
            try row.encode(type, forKey: .type)
            try row.encode(at, forKey: .at)
            try answer?.encode(to: encoder)
        }
    }

    /// Sends messages, and publishes them after the commit.
    ///
    /// - Returns: The answer to each; nil for one that was left out.
    static func together(
        _ sends: [Waiting], publishing publisher: MessengerService.Publisher, pushing pushes: Pushes?, in db: Session
    ) throws -> [Answer<Messenger.SentMessage>?] {
        let ids = try lock(sends, in: db)
        var keys: Set<String> = []
        var answers: [Answer<Messenger.SentMessage>] = []
        var rows: [Row] = []
        for (index, (send, id)) in zip(sends, ids).enumerated() {
            let request = send.request
            var answer = Answer(.created, Messenger.SentMessage(send.message(id)))
            var stored: SharedAnswer?
            if let key = send.key { (stored, answer) = try SharedAnswer.encode(answer, key) }
            answers.append(answer)
            guard send.key.map({ keys.insert("\($0.scope) \($0.text)").inserted }) ?? true else { continue }
            rows.append(
                Row(
                    n: index, id: id, chat: request.chat, sender: send.sender, content: request.content,
                    type: request.type, at: send.now, answer: stored))
        }
        let json = String(decoding: try JSONEncoder().encode(rows), as: UTF8.self)
        let sent = try db.finish(
            .all(statement(json, pushing: pushes?.isAccepting == true)) { row -> (index: Int, event: Int64) in
                (try row.get(0), try row.get(1))
            })
        pushes?.queue.deliverAfterCommit(of: db)
        var results = [Answer<Messenger.SentMessage>?](repeating: nil, count: sends.count)
        for (index, event) in sent {
            results[index] = answers[index]
            let message = sends[index].message(ids[index])
            publisher.publish(
                .message(message), short: .stored(message.id), as: EventNumber(event, of: message.chat), in: db)
        }
        return results
    }

    /// Locks the rows of the chats, as every send does, and reserves ids behind the locks, so that the ids of a chat's
    /// messages grow in the order of the commits. What the next statement reads stays true until the commit.
    private static func lock(_ sends: [Waiting], in db: Session) throws -> [Messenger.Message.ID] {
        let chats = "{" + Set(sends.map(\.request.chat.rawValue)).map(String.init).joined(separator: ",") + "}"
        // A chat that another transaction keeps for long must not delay the messages to others.
        let timeout = Query<[String]>.all("SELECT set_config('lock_timeout', '1000', true)") { try $0.get(0) }
        let ids = Query<[Messenger.Message.ID]>.all(
            """
            WITH locked AS MATERIALIZED (
                SELECT id FROM chats WHERE id = ANY (CAST(\(chats) AS BIGINT[])) ORDER BY id FOR NO KEY UPDATE)
            SELECT nextval(pg_get_serial_sequence('messages', 'id'))
            FROM generate_series(1, \(sends.count)), (SELECT COUNT(*) FROM locked) l
            """
        ) { try $0.get(0) }
        let reserved = try db.both(timeout, ids).1
        guard reserved.count == sends.count else { throw DatabaseFailure.failed("there are not enough ids") }
        return reserved
    }

    /// Returns the statement that adds the messages of members who may write to the chat, and returns their positions and
    /// the numbers of their events.
    ///
    /// - Parameter isPushing: Whether the messages are added to the queue of push notifications.
    private static func statement(_ json: String, pushing isPushing: Bool) -> SQL {
        let pushed: SQL = isPushing ? ", pushed AS (\(Pushes.insertion(from: "allowed")))" : ""
        return """
            WITH allowed AS MATERIALIZED (
                SELECT i.*, c.events + ROW_NUMBER() OVER (PARTITION BY i.chat ORDER BY i.n) AS event
                FROM json_to_recordset(CAST(\(json) AS JSON)) AS i (n INT, id BIGINT, chat BIGINT, sender BIGINT,
                        content TEXT, type TEXT, at BIGINT, \(SharedAnswer.columns))
                    JOIN chats c ON c.id = i.chat
                WHERE \(SharedAnswer.isFirst) AND \(mayWrite(to: "c", "i.sender"))
            ), dated AS (
                UPDATE chats c SET updated_at = a.at, events = c.events + a.count
                FROM (SELECT chat, MAX(at) AS at, COUNT(*) AS count FROM allowed GROUP BY chat) a WHERE c.id = a.chat
            ), marked AS (
                UPDATE members m SET last_read_id = a.id, read_at = a.at
                FROM (SELECT chat, sender, MAX(id) AS id, MAX(at) AS at FROM allowed GROUP BY chat, sender) a
                WHERE m.chat_id = a.chat AND m.user_id = a.sender
            ), answered AS (
                \(SharedAnswer.insertion(from: "allowed"))
            ), added AS (
                INSERT INTO messages (id, \(columns))
                SELECT id, chat, sender, content, type, NULL, at FROM allowed
            )\(pushed)
            SELECT n, event FROM allowed
            """
    }
}
