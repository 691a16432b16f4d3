import Contract

/// Messages that change or disappear: additions to the contract.
extension Messenger {
    static let messageChanges: [any Contract.Endpoint.Type] = [EditMessage.self, DeleteMessage.self]

    /// `PUT /chats/{id}/messages/{msgId}`: another text in a text message of one's own. Answers the message as a send
    /// does, with `edited_at`.
    ///
    /// 403 "Not a member of this chat", 404 "Message not found", 403 "Only the sender can change a message",
    /// 400 "Only text messages can be changed".
    public struct EditMessage: Endpoint {
        public static let route = Route.put("/chats/{id}/messages/{msgId}")
        public typealias Output = SentMessage

        public var chat: Chat.ID
        public var message: Message.ID
        /// As in ``SendMessage`` of a text.
        public var content: String

        public init(chat: Chat.ID, message: Message.ID, content: String) {
            self.chat = chat
            self.message = message
            self.content = content
        }

        public func validate() throws(Problem) { try SendMessage(chat: chat, content: content).validate() }

        enum CodingKeys: String, CodingKey {
            case chat = "id"
            case message = "msgId"
            case content
        }
    }

    /// `DELETE /chats/{id}/messages/{msgId}`: a message of one's own, of any kind, disappears for everybody, and the
    /// right to its file with it.
    ///
    /// 403 "Not a member of this chat", 404 "Message not found", 403 "Only the sender can change a message".
    public struct DeleteMessage: Endpoint {
        public static let route = Route.delete("/chats/{id}/messages/{msgId}", .noContent)
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

    /// What subscribers hear of an edit.
    public struct MessageEdit: Codable, Hashable, Sendable, Identifiable {
        public var id: Message.ID
        public var chat: Chat.ID
        public var content: String
        public var editedAt: Timestamp

        public init(id: Message.ID, chat: Chat.ID, content: String, editedAt: Timestamp) {
            self.id = id
            self.chat = chat
            self.content = content
            self.editedAt = editedAt
        }

        enum CodingKeys: String, CodingKey {
            case id
            case chat = "chat_id"
            case content
            case editedAt = "edited_at"
        }
    }
}
