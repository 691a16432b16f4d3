import Contract

/// Changes and deletion of messages: additions to the contract.
extension Messenger {
    static let messageChanges = Section(
        "Changing messages",
        [EditMessage.self, DeleteMessage.self], frames: [MessageEdit.self, MessageDeletion.self])

    /// `PUT /chats/{id}/messages/{msgId}`: replaces the text of a text message that the caller sent. Answers the
    /// message as a send does, with `edited_at`.
    ///
    /// Throws 403 "Not a member of this chat", 404 "Message not found", 403 "Only the sender can change a message", and
    /// 400 "Only text messages can be changed".
    public struct EditMessage: Endpoint {
        public static let route = Route.put("/chats/{id}/messages/{msgId}")
        public typealias Output = SentMessage

        /// The chat.
        public var chat: Chat.ID
        /// The message.
        public var message: Message.ID
        /// The new text, under the rules of ``SendMessage`` for a text.
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

    /// `DELETE /chats/{id}/messages/{msgId}`: deletes a message of any type that the caller sent, for every member, and
    /// with it their access to its file.
    ///
    /// Throws 403 "Not a member of this chat", 404 "Message not found", and 403 "Only the sender can change a message".
    public struct DeleteMessage: Endpoint {
        public static let route = Route.delete("/chats/{id}/messages/{msgId}", .noContent)
        public typealias Output = Empty

        /// The chat.
        public var chat: Chat.ID
        /// The message.
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

    /// `message_edited`: reports that the sender has edited a message.
    public struct MessageEdit: ChatFrame, Identifiable {
        public static let type = "message_edited"
        /// The message's id.
        public var id: Message.ID
        /// The chat.
        public var chat: Chat.ID
        /// The new text.
        public var content: String
        /// The time of the edit.
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

    /// `message_deleted`: reports that the sender has deleted a message: an app removes it from the chat.
    public struct MessageDeletion: ChatFrame, Identifiable {
        public static let type = "message_deleted"
        /// The message's id.
        public var id: Message.ID
        /// The chat.
        public var chat: Chat.ID

        public init(id: Message.ID, chat: Chat.ID) {
            self.id = id
            self.chat = chat
        }

        enum CodingKeys: String, CodingKey {
            case id
            case chat = "chat_id"
        }
    }
}
