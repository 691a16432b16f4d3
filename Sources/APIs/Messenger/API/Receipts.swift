import Contract

/// Who has read how far.
extension Messenger {
    static let receipts: [any Contract.Endpoint.Type] = [MarkRead.self, GetReceipts.self]

    /// `POST /chats/{id}/messages/{msgId}/read`: everything up to this message is read. The mark never moves back.
    ///
    /// 403 "Not a member of this chat", 404 "Message not found".
    public struct MarkRead: Endpoint {
        public static let route = Route.post("/chats/{id}/messages/{msgId}/read", .noContent)
        public typealias Output = Empty

        public var chat: Chat.ID
        public var message: Message.ID

        public init(chat: Chat.ID, message: Message.ID) {
            self.chat = chat
            self.message = message
        }

        enum CodingKeys: String, CodingKey {
            case chat = "id"
            case message = "msgId"
        }
    }

    /// `GET /chats/{id}/receipts`: of every member who has read something, by user id. An addition to the contract.
    ///
    /// 403 "Not a member of this chat".
    public struct GetReceipts: Endpoint {
        public static let route = Route.get("/chats/{id}/receipts")
        public typealias Output = [Receipt]

        public var chat: Chat.ID

        public init(chat: Chat.ID) { self.chat = chat }

        enum CodingKeys: String, CodingKey { case chat = "id" }
    }

    /// How far a member has read. One's own messages are read.
    public struct Receipt: Codable, Hashable, Sendable {
        public var user: User.ID
        public var lastRead: Message.ID
        public var readAt: Timestamp

        public init(user: User.ID, lastRead: Message.ID, readAt: Timestamp) {
            self.user = user
            self.lastRead = lastRead
            self.readAt = readAt
        }

        enum CodingKeys: String, CodingKey {
            case user = "user_id"
            case lastRead = "last_read_message_id"
            case readAt = "read_at"
        }
    }

    /// What subscribers hear when somebody has read on.
    public struct ReadMark: Codable, Hashable, Sendable {
        public var chat: Chat.ID
        public var user: User.ID
        public var message: Message.ID
        public var readAt: Timestamp

        public init(chat: Chat.ID, user: User.ID, message: Message.ID, readAt: Timestamp) {
            self.chat = chat
            self.user = user
            self.message = message
            self.readAt = readAt
        }

        enum CodingKeys: String, CodingKey {
            case chat = "chat_id"
            case user = "user_id"
            case message = "message_id"
            case readAt = "read_at"
        }
    }
}
