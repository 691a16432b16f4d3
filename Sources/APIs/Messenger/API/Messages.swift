import Contract

extension Messenger {
    static let messages: [any Contract.Endpoint.Type] = [SendMessage.self, ListMessages.self]

    /// `text`, `file` or `voice`. A newer server may know more: show their ``Message/content``.
    public struct MessageType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let text = MessageType(rawValue: "text")
        public static let file = MessageType(rawValue: "file")
        public static let voice = MessageType(rawValue: "voice")
        /// What a request without a type means.
        public static let absent = text
    }

    /// `POST /chats/{id}/messages`: everybody in the chat receives it, the sender's own sockets too.
    ///
    /// 403 "Not a member of this chat" (for a chat that does not exist too), 403 "You cannot message this user", 404 "File
    /// not found" for a file that is not the sender's upload.
    public struct SendMessage: Endpoint {
        public static let route = Route.post("/chats/{id}/messages", .created, idempotencyKey: true)
        public typealias Output = SentMessage
        /// Of ``content``, in Unicode scalars.
        public static let maximumLength = 16_384

        public var chat: Chat.ID
        /// Kept as it is, up to ``maximumLength``. A text needs a character that shows; a file may have none, or a caption.
        public var content: String
        public var type: MessageType
        /// One's own upload. A file or voice message needs one, a text may have one.
        public var file: File.ID?

        public init(chat: Chat.ID, content: String, type: MessageType = .text, file: File.ID? = nil) {
            self.chat = chat
            self.content = content
            self.type = type
            self.file = file
        }

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

        enum CodingKeys: String, CodingKey {
            case chat = "id"
            case content, type
            case file = "file_id"
        }
    }

    /// A message, from wherever it comes: the list and the socket say `message_type`, the answer to a send `type`.
    public struct Message: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Message>

        /// Grows through all chats: order messages by it, never by time. Ids of one chat have gaps.
        public var id: ID
        public var chat: Chat.ID
        /// May be the id of an account that is no more.
        public var sender: User.ID
        /// The text, or a file's caption; empty for a bare file.
        public var content: String
        public var type: MessageType
        /// What it carries; nil for a plain text. An addition to the contract: nil from older servers.
        @OrNull public var file: File.ID?
        public var createdAt: Timestamp
        /// Nil where an answer does not tell: then there is no key.
        package var edited: OrNull<Timestamp>?
        /// When the content was changed last. Nil for a message as it was sent, and in lists that were not asked to tell
        /// (``ListMessages/include``).
        public var editedAt: Timestamp? { edited?.wrappedValue }

        public init(
            id: ID, chat: Chat.ID, sender: User.ID, content: String, type: MessageType, file: File.ID?,
            createdAt: Timestamp
        ) {
            self.id = id
            self.chat = chat
            self.sender = sender
            self.content = content
            self.type = type
            self.file = file
            self.createdAt = createdAt
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(ID.self, forKey: .id)
            chat = try container.decode(Chat.ID.self, forKey: .chat)
            sender = try container.decode(User.ID.self, forKey: .sender)
            content = try container.decodeIfPresent(String.self, forKey: .content) ?? ""
            type =
                try container.decodeIfPresent(MessageType.self, forKey: .messageType)
                ?? container.decodeIfPresent(MessageType.self, forKey: .type) ?? .text
            file = try container.decodeIfPresent(File.ID.self, forKey: .file)
            createdAt = try container.decode(Timestamp.self, forKey: .createdAt)
            if container.contains(.edited) {
                edited = try container.decode(OrNull<Timestamp>.self, forKey: .edited)
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try encode(into: &container, typeKey: .messageType)
        }

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

            static var type: CodingKeys { .frame }
        }

        /// `file_id` stands right before `created_at` in every message object.
        func encode(into container: inout KeyedEncodingContainer<CodingKeys>, typeKey: CodingKeys) throws {
            // Raw values: lists of messages are the largest answers, and a wrapper costs an encoder several calls.
            try container.encode(id.rawValue, forKey: .id)
            try container.encode(chat.rawValue, forKey: .chat)
            try container.encode(sender.rawValue, forKey: .sender)
            try container.encode(content, forKey: .content)
            try container.encode(type.rawValue, forKey: typeKey)
            if let file {
                try container.encode(file.rawValue, forKey: .file)
            } else {
                try container.encodeNil(forKey: .file)
            }
            try container.encode(createdAt, forKey: .createdAt)
            if let edited { try container.encode(edited, forKey: .edited) }
        }
    }

    /// The answer to a send: the message, whose kind is under `type` here.
    @dynamicMemberLookup
    public struct SentMessage: Codable, Hashable, Sendable {
        /// As the list and the socket have it. Its properties are this value's own, too: `sent.id`.
        public var message: Message

        public init(_ message: Message) { self.message = message }
        public init(from decoder: any Decoder) throws { message = try Message(from: decoder) }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Message.CodingKeys.self)
            try message.encode(into: &container, typeKey: .type)
        }

        public subscript<Value>(dynamicMember path: KeyPath<Message, Value>) -> Value { message[keyPath: path] }
    }

    /// `GET /chats/{id}/messages`: a page of the history, newest first. An empty page ends it.
    ///
    /// 403 "Not a member of this chat". `MessengerClient.history(of:)` turns the pages by itself.
    public struct ListMessages: Endpoint {
        public static let route = Route.get("/chats/{id}/messages")
        public typealias Output = [Message]
        /// The most of one page.
        public static let maximum = 100

        public var chat: Chat.ID
        /// 1 to 100, 50 when absent.
        public var limit: Int?
        /// Ids below this one, which need not exist.
        public var before: Message.ID?
        /// The lowest ids above this one, still shown newest first. An addition to the contract.
        public var after: Message.ID?
        /// ``Inclusions/edited``, for ``Message/editedAt``.
        public var include: Inclusions?

        public init(
            chat: Chat.ID, limit: Int? = nil, before: Message.ID? = nil, after: Message.ID? = nil,
            include: Inclusions? = nil
        ) {
            self.chat = chat
            self.limit = limit
            self.before = before
            self.after = after
            self.include = include
        }

        public func validate() throws(Problem) {
            if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
            if let before, !before.isValid { throw Problem(.badRequest, "Invalid before") }
            if let after, after.rawValue < 0 { throw Problem(.badRequest, "Invalid after") }
            if before != nil, after != nil { throw Problem(.badRequest, "before and after cannot be combined") }
        }

        enum CodingKeys: String, CodingKey {
            case chat = "id"
            case limit, before, after, include
        }
    }
}
