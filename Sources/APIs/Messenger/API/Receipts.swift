import Contract

/// Read receipts.
extension Messenger {
    static let receipts = Section("Receipts", [MarkRead.self, GetReceipts.self], frames: [ReadMark.self])

    /// `POST /chats/{id}/messages/{msgId}/read`: marks everything up to this message as read. The mark never moves
    /// back.
    ///
    /// Throws 403 "Not a member of this chat" and 404 "Message not found".
    public struct MarkRead: Endpoint {
        public static let route = Route.post("/chats/{id}/messages/{msgId}/read", .noContent)
        public typealias Output = Empty

        /// The chat.
        public var chat: Chat.ID
        /// The newest message that the caller has read.
        public var message: Message.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /chats/{id}/receipts`: returns the receipt of every member who has read something, by user id. An addition
    /// to the contract.
    ///
    /// Throws 403 "Not a member of this chat".
    public struct GetReceipts: Endpoint {
        public static let route = Route.get("/chats/{id}/receipts")
        public typealias Output = [Receipt]

        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// The read mark of a member. A sender's own messages count as read.
    public struct Receipt: Codable, Hashable, Sendable {
        /// The member.
        public var user: User.ID
        /// The newest message that the member has read.
        public var lastRead: Message.ID
        /// The time at which the mark was last moved.
        public var readAt: Timestamp
        private init(derived: Never) { switch derived {} }

        private enum WireNames: String { case lastRead = "last_read_message_id" }
    }

    /// `read`: reports that a member has read further.
    public struct ReadMark: ChatFrame {
        public static let type = "read"
        /// The chat.
        public var chat: Chat.ID
        /// The member.
        public var user: User.ID
        /// The newest message that the member has read.
        public var message: Message.ID
        /// The time at which the mark was moved.
        public var readAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }
}
