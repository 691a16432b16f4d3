import Contract

extension Monica {
    static let conversations = Section(
        "Conversations",
        [
            List<Conversation>.self, ListOfContact<Conversation>.self, Get<Conversation>.self,
            Create<Conversation>.self, Update<Conversation>.self, Delete<Conversation>.self, CreateMessage.self,
            UpdateMessage.self, DeleteMessage.self,
        ])

    /// The orders of a list of conversations.
    public enum ConversationOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case happenedAt = "happened_at"
    }

    /// A conversation with a contact, with its messages. The owner writes down what was said elsewhere.
    public struct Conversation: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = ConversationOrder
        public typealias Draft = ConversationDraft
        public static let plural = "conversations"
        public static let singular = "conversation"
        public static let fieldRules = conversationRules
        public static let newFieldRules = newConversationRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of messages of a conversation.
        public static let maximumNumber = 100
        /// The maximum number of characters of all messages of a conversation together.
        public static let maximumLength = textLength

        /// The conversation's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "conversation"
        /// The time of the conversation.
        public var happenedAt: Timestamp
        /// The messages, in the order in which they were added.
        public var messages: [Message]
        /// The way in which the two wrote to each other.
        public var contactFieldType: ContactFieldType
        /// The URL of the resource in the API.
        public var url: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change of the conversation or of its messages.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, happenedAt: Timestamp, type: ContactFieldType, url: String, account: Int,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.happenedAt = happenedAt
            messages = []
            contactFieldType = type
            self.url = url
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// A message of a conversation.
    public struct Message: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The name in error messages.
        public static let singular = "message"

        /// The message's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "message"
        /// The text.
        public var content: String
        /// The time at which it was written.
        public var writtenAt: Timestamp
        /// Whether the owner wrote it; otherwise the contact did.
        public var writtenByMe: Bool
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The conversation.
        public var conversation: ConversationReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, content: String, writtenAt: Timestamp, writtenByMe: Bool, account: Int, conversation: Int,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.content = content
            self.writtenAt = writtenAt
            self.writtenByMe = writtenByMe
            self.account = AccountReference(id: account)
            self.conversation = ConversationReference(id: conversation)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// The conversation that a message belongs to.
    public struct ConversationReference: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The conversation's id.
        public var id: Int
        private init(derived: Never) { switch derived {} }
    }

    /// The fields of a new or changed conversation.
    public struct ConversationDraft: Draft, Hashable {
        public typealias Item = Conversation

        /// The contact's id. A conversation stays with its contact: a change names the same one.
        public var contactID: Int
        /// The time of the conversation. A server also accepts a day, which stands for its beginning in UTC.
        public var happenedAt: Timestamp
        /// The id of the type, one of ``ListContactFieldTypes``: the way in which the two wrote to each other.
        public var typeID: Int
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "happened_at": .string(happenedAt.description),
                "contact_field_type_id": .integer(Int64(typeID)),
            ])
        }
    }

    /// The fields of a new or changed message.
    public struct MessageDraft: Hashable, Sendable {
        /// The text, of at most 100,000 characters.
        public var content: String
        /// The time at which it was written. A server also accepts a day, which stands for its beginning in UTC.
        public var writtenAt: Timestamp
        /// Whether the owner wrote it; otherwise the contact did.
        public var writtenByMe: Bool
        private init(derived: Never) { switch derived {} }

        /// The fields of the request.
        public var form: Form {
            Form([
                "content": .string(content), "written_at": .string(writtenAt.description),
                "written_by_me": .bool(writtenByMe),
            ])
        }
    }

    /// `POST /conversations/{id}/messages`: adds a message to a conversation, and returns the conversation. Throws 422 when the
    /// conversation has 100 messages, or would have more than 100,000 characters.
    public struct CreateMessage: Endpoint {
        public static let route = Route.post("/conversations/{id}/messages", idempotencyKey: true)
        public typealias Output = APIResponse<Conversation>
        public static let fieldRules = messageRules

        /// The conversation.
        public var conversation: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(conversation: Int, _ draft: MessageDraft) {
            self.conversation = conversation
            form = draft.form
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (conversation, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws {
            try FormWithID(id: conversation, form).encode(to: encoder)
        }
    }

    /// `PUT /conversations/{id}/messages/{message}`: replaces every field of a message, and returns the conversation. `PATCH`
    /// does the same.
    public struct UpdateMessage: Endpoint {
        public static let route = Route.put("/conversations/{id}/messages/{message}", alternatives: [.patch])
        public typealias Output = APIResponse<Conversation>
        public static let fieldRules = messageRules

        /// The conversation.
        public var conversation: Int
        /// The message's id.
        public var message: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(conversation: Int, message: Int, _ draft: MessageDraft) {
            self.conversation = conversation
            self.message = message
            form = draft.form
        }

        private enum PathKey: String, CodingKey {
            case conversation = "id"
            case message
        }

        public init(from decoder: any Decoder) throws {
            let path = try decoder.container(keyedBy: PathKey.self)
            conversation = try path.decode(Int.self, forKey: .conversation)
            message = try path.decode(Int.self, forKey: .message)
            form = try Form(from: decoder)
            // The path has it, as it has the conversation's id.
            form.fields[PathKey.message.rawValue] = nil
        }

        public func encode(to encoder: any Encoder) throws {
            try form.encode(to: encoder)
            var path = encoder.container(keyedBy: PathKey.self)
            try path.encode(conversation, forKey: .conversation)
            try path.encode(message, forKey: .message)
        }
    }

    /// `DELETE /conversations/{id}/messages/{message}`: deletes a message. A second deletion throws 404.
    public struct DeleteMessage: Endpoint {
        public static let route = Route.delete("/conversations/{id}/messages/{message}")
        public typealias Output = Deletion

        /// The conversation.
        public var conversation: Int
        /// The message's id.
        public var message: Int
        private init(derived: Never) { switch derived {} }
    }
}
