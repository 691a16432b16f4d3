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
        let message: Messenger.Message
        let answer: SharedAnswer?

        /// The columns of the input, for the definition of its rows.
        static let columns = SQL(
            trusted: "n INT, "
                + Messages.Column.allCases.map { "\($0.rawValue) \(type(of: $0))" }.joined(separator: ", "))

        enum CodingKeys: CodingKey {
            case n
        }

        func encode(to encoder: any Encoder) throws {
            var row = encoder.container(keyedBy: CodingKeys.self)
            try row.encode(n, forKey: .n)
            var columns = encoder.container(keyedBy: Messages.Column.self)
            for column in Messages.Column.allCases {
                switch Sends.value(of: column, in: message) {
                case .null: try columns.encodeNil(forKey: column)
                case .integer(let number): try columns.encode(number, forKey: column)
                case .text(let text): try columns.encode(text, forKey: column)
                case .real, .bytes: preconditionFailure("A message has no such value: \(column)")
                }
            }
            try answer?.encode(to: encoder)
        }

        private static func type(of column: Messages.Column) -> String {
            switch column {
            case .id, .chat, .sender, .file, .createdAt: "BIGINT"
            case .content, .type: "TEXT"
            }
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
            let message = send.message(id)
            var answer = Answer(.created, Messenger.SentMessage(message))
            var stored: SharedAnswer?
            if let key = send.key { (stored, answer) = try SharedAnswer.encode(answer, key) }
            answers.append(answer)
            guard send.key.map({ keys.insert("\($0.scope) \($0.text)").inserted }) ?? true else { continue }
            rows.append(Row(n: index, message: message, answer: stored))
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
            let announcement = LiveAnnouncement.message(sends[index].message(ids[index]))
            let number = EventNumber(event, of: sends[index].request.chat)
            publisher.publish(announcement, short: announcement.shortened, as: number, in: db)
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
                SELECT i.*, i.created_at AS at,
                    c.events + ROW_NUMBER() OVER (PARTITION BY i.chat_id ORDER BY i.n) AS event
                FROM json_to_recordset(CAST(\(json) AS JSON)) AS i (\(Row.columns), \(SharedAnswer.columns))
                    JOIN chats c ON c.id = i.chat_id
                WHERE \(SharedAnswer.isFirst) AND \(mayWrite(to: "c", "i.sender_id"))
            ), dated AS (
                UPDATE chats c SET updated_at = a.at, events = c.events + a.count
                FROM (SELECT chat_id, MAX(at) AS at, COUNT(*) AS count FROM allowed GROUP BY chat_id) a
                WHERE c.id = a.chat_id
            ), marked AS (
                UPDATE members m SET last_read_id = a.id, read_at = a.at
                FROM (
                    SELECT chat_id, sender_id, MAX(id) AS id, MAX(at) AS at FROM allowed GROUP BY chat_id, sender_id) a
                WHERE m.chat_id = a.chat_id AND m.user_id = a.sender_id
            ), answered AS (
                \(SharedAnswer.insertion(from: "allowed"))
            ), added AS (
                INSERT INTO messages (\(Messages.Column.list)) SELECT \(Messages.Column.list) FROM allowed
            )\(pushed)
            SELECT n, event FROM allowed
            """
    }
}
