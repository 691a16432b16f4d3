import Contract

/// Changes and deletion of messages: additions to the contract.
extension Messenger {
    static let messageChanges = Section(
        "Changing messages",
        [EditMessage.self, DeleteMessage.self, ListChanges.self], frames: [MessageEdit.self, MessageDeletion.self])

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
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try SendMessage(chat: chat, content: content).validate() }
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
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /chats/{id}/changes`: returns the messages that were edited or deleted after a version of the chat, each once
    /// and as it is now, in the order of their last changes. An empty page is the end.
    ///
    /// A version counts the changes of a chat. An app keeps the one that an answer has, and asks with it after it was
    /// away. Throws 403 "Not a member of this chat". `MessengerClient.changes(of:after:)` reads all pages.
    public struct ListChanges: Endpoint {
        public static let route = Route.get("/chats/{id}/changes")
        public typealias Output = MessageChanges
        /// The maximum number of changes in a page.
        public static let maximum = 100
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The chat.
        public var chat: Chat.ID
        /// Returns the changes after this version; none when absent, for the version to begin with.
        public var after: Int? = nil
        /// The number of changes to return: 1 to 100, the maximum when absent.
        public var limit: Int? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            if let after, after < 0 { throw Problem(.badRequest, "Invalid after") }
            if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
        }
    }

    /// The changes of a chat's messages after a version.
    public struct MessageChanges: Codable, Hashable, Sendable {
        /// The version after which the next page, or what changes later, begins.
        public var version: Int
        /// Whether all changes after the requested version are still known. If not, an app that keeps messages reads
        /// them again.
        public var isComplete: Bool
        /// The changed messages.
        public var changes: [MessageChange]
        private init(derived: Never) { switch derived {} }
    }

    /// A message that was edited or deleted.
    public struct MessageChange: Codable, Hashable, Sendable, Identifiable {
        /// The message's id.
        public var id: Message.ID
        /// The text as it is now; nil for a message that was deleted.
        @OrNull public var content: String?
        /// The time of the last edit; nil for a message that was deleted.
        @OrNull public var editedAt: Timestamp?

        /// Whether the message was deleted.
        public var isDeletion: Bool { content == nil }

        private init(derived: Never) { switch derived {} }
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
        private init(derived: Never) { switch derived {} }
    }

    /// `message_deleted`: reports that the sender has deleted a message: an app removes it from the chat.
    public struct MessageDeletion: ChatFrame, Identifiable {
        public static let type = "message_deleted"
        /// The message's id.
        public var id: Message.ID
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }
}
