import Backend
import Contract
import ContractServer
import Database
import MessengerAPI
import Push

/// A message as notifications tell of it.
struct PushedMessage: Sendable {
    let id: Messenger.Message.ID
    let chat: Messenger.Chat.ID
    let sender: Messenger.User.ID
    let content: String
    let type: Messenger.MessageType
    /// Milliseconds since 1970.
    let createdAt: Int64
    let senderName: String
    /// The name of the group; nil in a direct chat.
    let chatName: String?

    /// The time in Unix seconds from which no device is notified any more.
    var expiresAt: Int64 { (createdAt + JobQueue<PushJob>.lifetime) / 1000 }

    /// The columns of a message `x` with the names of its sender `u` and its chat `c`.
    private enum Column: String, Columns {
        case id = "x.id"
        case chat = "x.chat_id"
        case sender = "x.sender_id"
        case content = "x.content"
        case type = "x.type"
        case createdAt = "x.created_at"
        case senderName = "u.display_name"
        case chatName = "c.name"

        static let list = ColumnList(Self.self)
    }

    static func one(_ id: Messenger.Message.ID, in db: Session) throws -> PushedMessage? {
        try db.one(
            """
            SELECT \(Column.list)
            FROM messages x JOIN chats c ON c.id = x.chat_id JOIN users u ON u.id = x.sender_id WHERE x.id = \(id)
            """
        ) { row in
            PushedMessage(
                id: try row.get(Column.id), chat: try row.get(Column.chat), sender: try row.get(Column.sender),
                content: try row.get(Column.content),
                type: try row.get(Column.type), createdAt: try row.get(Column.createdAt),
                senderName: try row.get(Column.senderName),
                chatName: try row.get(Column.chatName))
        }
    }

    // MARK: The payload

    /// The JSON of a notification. The SDK's `MessengerPush` reads it.
    private struct Payload: Encodable {
        let aps: Display
        let chat: Messenger.Chat.ID
        let message: Messenger.Message.ID
        let sender: Messenger.User.ID

        enum CodingKeys: String, CodingKey {
            case aps
            case chat = "chat_id"
            case message = "message_id"
            case sender = "sender_id"
        }
    }

    private struct Display: Encodable {
        let alert: Alert
        let badge: Int
        let sound = "default"
        let thread: String
        /// Lets the app's extension change the notification before it is shown.
        let isMutable = 1

        enum CodingKeys: String, CodingKey {
            case alert, badge, sound
            case thread = "thread-id"
            case isMutable = "mutable-content"
        }
    }

    private struct Alert: Encodable {
        var title: String?
        var subtitle: String?
        var body: String?
        /// A key of the app's `Localizable.strings`. Where the app has no such key it is shown itself.
        var key: String?

        enum CodingKeys: String, CodingKey {
            case title, subtitle, body
            case key = "loc-key"
        }
    }

    /// Returns the JSON of a notification, whose text is cut so that it fits.
    func payload(badge: Int, showingText isShowingText: Bool) throws -> [UInt8] {
        guard isShowingText else { return try payload(Alert(key: "New message"), badge) }
        var alert = Alert(title: senderName.isEmpty ? nil : senderName, subtitle: chatName)
        guard !content.isBlank else {
            alert.key = type == .voice ? "New voice message" : "New file"
            return try payload(alert, badge)
        }
        var text = content.prefix(2000)
        alert.body = content
        if text.endIndex < content.endIndex { alert.body = text + "…" }
        while true {
            let payload = try payload(alert, badge)
            if payload.count <= PushNotification.maximumPayload || text.isEmpty { return payload }
            text = text.prefix(text.count * 3 / 4)
            alert.body = text + "…"
        }
    }

    private func payload(_ alert: Alert, _ badge: Int) throws -> [UInt8] {
        let payload = Payload(
            aps: Display(alert: alert, badge: badge, thread: "chat-\(chat)"), chat: chat, message: id, sender: sender)
        return Array(try JSONBody.encode(payload).readableBytesView)
    }
}
