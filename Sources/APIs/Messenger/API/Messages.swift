import Contract

extension Messenger {
    static let messages = Section("Messages", [SendMessage.self, ListMessages.self], frames: [Message.self])

    /// The type of a message: `text`, `file` or `voice`. A newer server may have more; show their ``Message/content``.
    public struct MessageType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A text, which may have a file.
        public static let text = MessageType(rawValue: "text")
        /// A file, which may have a caption.
        public static let file = MessageType(rawValue: "file")
        /// A voice recording.
        public static let voice = MessageType(rawValue: "voice")
        /// The type of a request that does not give one.
        public static let absent = text
    }

    /// `POST /chats/{id}/messages`: sends a message. Every member of the chat receives it, and so do the sender's own
    /// sockets.
    ///
    /// Throws 403 "Not a member of this chat" (also for a chat that does not exist), 403 "You cannot message this
    /// user", and 404 "File not found" for a file that the sender did not upload.
    public struct SendMessage: Endpoint {
        public static let route = Route.post("/chats/{id}/messages", .created, idempotencyKey: true)
        public typealias Output = SentMessage
        /// The maximum length of ``content``, in Unicode scalars.
        public static let maximumLength = 16_384

        /// The chat.
        public var chat: Chat.ID
        /// The text, stored unchanged, up to ``maximumLength``. A text message needs a visible character; for a file it
        /// is a caption and may be empty.
        public var content: String
        /// The type of the message.
        public var type: MessageType = .text
        /// A file that the sender has uploaded. A file or voice message needs one, a text may have one.
        public var file: File.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard [.text, .file, .voice].contains(type) else {
                throw Problem(.badRequest, "type must be 'text', 'file' or 'voice'")
            }
            guard type == .text ? !content.isBlank : file != nil else {
                throw Problem(.badRequest, "content or file_id required")
            }
            guard content.length <= Self.maximumLength else {
                throw Problem(.badRequest, "content too long (max \(Self.maximumLength) characters)")
            }
            if let file, !file.isValid { throw Problem(.badRequest, "Invalid file_id") }
        }
    }

    /// A message. Lists and sockets call its type `message_type`, the answer to a send calls it `type`.
    ///
    /// It is also the frame `message`, which subscribers receive of every new message, by any member including the
    /// caller.
    public struct Message: ChatFrame, WrittenByMembers, Identifiable {
        public typealias ID = Identifier<Message>
        public static let type = "message"

        /// The message's id. Ids grow across all chats: order messages by id, never by time. The ids of one chat have
        /// gaps.
        public var id: ID
        /// The chat.
        public var chat: Chat.ID
        /// The sender, who may be a deleted account.
        public var sender: User.ID
        /// The text, or a file's caption; empty for a file without one.
        public var content: String
        /// The type of the message.
        public var type: MessageType
        /// The message's file; nil for a plain text. An addition to the contract: nil from older servers.
        @OrNull public var file: File.ID?
        /// The time at which the message was sent.
        public var createdAt: Timestamp
        /// The value of the key `edited_at`; nil when an answer does not have the key.
        package var edited: OrNull<Timestamp>?
        /// The time at which the content was last edited. Nil for an unedited message, and in lists that were not asked
        /// for it (``ListMessages/include``).
        public var editedAt: Timestamp? { edited?.wrappedValue }
        /// The value of the key `file`; nil when an answer does not have the key.
        package var described: OrNull<FileDescription>?
        /// The description of the message's file. Nil without a file, and in lists that were not asked for it
        /// (``ListMessages/include``).
        public var fileDescription: FileDescription? { described?.wrappedValue }

        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(ID.self, forKey: .id)
            chat = try container.decode(Chat.ID.self, forKey: .chat)
            sender = try container.decode(User.ID.self, forKey: .sender)
            content = try container.decodeIfPresent(String.self, forKey: .content) ?? ""
            type =
                try container.decodeIfPresent(MessageType.self, forKey: .messageType)
                ?? container.decodeIfPresent(MessageType.self, forKey: .frame) ?? .text
            file = try container.decodeIfPresent(File.ID.self, forKey: .file)
            createdAt = try container.decode(Timestamp.self, forKey: .createdAt)
            edited = try container.decodeIfPresent(OrNull<Timestamp>.self, forKey: .edited)
            described = try container.decodeIfPresent(OrNull<FileDescription>.self, forKey: .described)
        }

        public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

        @usableFromInline
        package func write(to object: inout ObjectWriter) throws { try write(to: &object, type: "message_type") }

        enum CodingKeys: String, CodingKey {
            case frame = "type"
            case id
            case chat = "chat_id"
            case sender = "sender_id"
            case content
            case messageType = "message_type"
            case file = "file_id"
            case createdAt = "created_at"
            case edited = "edited_at"
            case described = "file"
        }

        /// Writes the members. `file_id` stands right before `created_at` in every message object.
        ///
        /// - Parameter key: The key of the message's type.
        fileprivate func write(to object: inout ObjectWriter, type key: StaticString) throws {
            try object.write("id", id.rawValue)
            try object.write("chat_id", chat.rawValue)
            try object.write("sender_id", sender.rawValue)
            try object.write("content", content)
            try object.write(key, type.rawValue)
            try object.write("file_id", file?.rawValue)
            try object.write("created_at", createdAt)
            if let edited { try object.write("edited_at", edited.wrappedValue) }
            if let described { try object.write("file", encoding: described) }
        }
    }

    /// The answer to a send: the message, whose type has the key `type` here.
    @dynamicMemberLookup
    public struct SentMessage: Codable, Hashable, Sendable {
        /// The message as lists and sockets have it. Its properties are available on this value, too: `sent.id`.
        public var message: Message
        private init(derived: Never, _ message: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws { message = try Message(from: decoder) }

        public func encode(to encoder: any Encoder) throws {
            var object = try ObjectWriter(encoder)
            try message.write(to: &object, type: "type")
            object.finish()
        }

        /// Returns a property of the message.
        public subscript<Value>(dynamicMember path: KeyPath<Message, Value>) -> Value { message[keyPath: path] }
    }

    /// `GET /chats/{id}/messages`: returns a page of the history, newest first. An empty page is the end.
    ///
    /// Throws 403 "Not a member of this chat". `MessengerClient.history(of:)` reads all pages.
    public struct ListMessages: Endpoint {
        public static let route = Route.get("/chats/{id}/messages")
        public typealias Output = [Message]
        /// The maximum number of messages in a page.
        public static let maximum = 100
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The chat.
        public var chat: Chat.ID
        /// The number of messages to return: 1 to 100, 50 when absent.
        public var limit: Int? = nil
        /// Returns messages with ids below this one, which need not exist.
        public var before: Message.ID? = nil
        /// Returns the messages with the lowest ids above this one, still ordered newest first. An addition to the
        /// contract.
        public var after: Message.ID? = nil
        /// The word ``Inclusions/edited`` asks for ``Message/editedAt``, ``Inclusions/file`` for
        /// ``Message/fileDescription``.
        public var include: Inclusions? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
            if let before, !before.isValid { throw Problem(.badRequest, "Invalid before") }
            if let after, after.rawValue < 0 { throw Problem(.badRequest, "Invalid after") }
            if before != nil, after != nil { throw Problem(.badRequest, "before and after cannot be combined") }
        }
    }
}
