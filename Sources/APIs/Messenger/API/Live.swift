import Contract

extension Messenger {
    /// A frame that a client sends on `/ws`. The first one must be `auth`, within 10 seconds.
    ///
    /// Apps do not need frames: `MessengerClient.live()` delivers events.
    public enum ClientFrame: Hashable, Sendable {
        /// Signs in with an access token. Sent again with a newer token, it extends the socket's life beyond the old
        /// one.
        case auth(token: String)
        /// Subscribes to the messages of a chat; at most 1,000 chats.
        /// With `since`, the messages after that one come first: an addition to the contract.
        case subscribe(Chat.ID, since: Message.ID? = nil)
        case unsubscribe(Chat.ID)
        /// Tells the other members of a subscribed chat that the user is typing. The server passes on at most one in 3
        /// seconds. An addition to the contract.
        case typing(Chat.ID)
        /// Asks for a sign of life; the server answers with ``ServerFrame/pong``.
        case ping
        /// A frame of an unknown type.
        case unknown(String)
    }

    /// A frame that the server sends on `/ws`. Clients skip frames of unknown types.
    public enum ServerFrame: Hashable, Sendable {
        /// Confirms that this user has signed in.
        case authOK(User.ID)
        /// Gives the reason why the frame before was refused. Before signing in, the socket is closed after it; later
        /// it stays open.
        case error(String)
        /// Reports that a `subscribe` could not be handled and should be sent again. An existing subscription
        /// continues. On the wire it is an ``error(_:)`` that names its chat.
        case tryAgain(Chat.ID, String)
        case subscribed(Chat.ID)
        /// Reports the end of a subscription, by request or because the membership has ended.
        case unsubscribed(Chat.ID)
        /// Reports that more was missed than a socket sends again: read the rest with ``ListMessages``.
        case resync(Chat.ID)
        /// Carries a new message of a subscribed chat, by any member including the caller.
        case message(Message)
        /// Reports that the sender has edited a message.
        case messageEdited(MessageEdit)
        /// Reports that the sender has deleted a message: an app removes it from the chat.
        case messageDeleted(Chat.ID, Message.ID)
        /// Reports that a member has read further.
        case read(ReadMark)
        /// Reports that another member is typing.
        case typing(Chat.ID, User.ID)
        /// Reports that a user has joined a subscribed chat.
        case memberAdded(Chat.ID, User.ID)
        /// Reports that another user has left a subscribed chat or was removed from it.
        case memberRemoved(Chat.ID, User.ID)
        /// Answers a ping.
        case pong
        /// A frame of an unknown type.
        case unknown(String)
    }
}

private enum FrameKeys: String, CodingKey {
    case type, token, since, message, id
    case chat = "chat_id"
    case user = "user_id"
}

extension Messenger.ClientFrame: Codable {
    /// Decodes any JSON object. A missing or mistyped id becomes a placeholder that no record has as its id, so that
    /// the server can answer it with its own message.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FrameKeys.self)
        let chat = (try? container.decode(Messenger.Chat.ID.self, forKey: .chat)) ?? Messenger.Chat.ID(.min)
        switch (try? container.decode(String.self, forKey: .type)) ?? "" {
        case "auth":
            self = .auth(token: (try? container.decode(String.self, forKey: .token)) ?? "")
        case "subscribe":
            var since: Messenger.Message.ID?
            if container.contains(.since), (try? container.decodeNil(forKey: .since)) != true {
                since = (try? container.decode(Messenger.Message.ID.self, forKey: .since)) ?? .init(.min)
            }
            self = .subscribe(chat, since: since)
        case "unsubscribe": self = .unsubscribe(chat)
        case "typing": self = .typing(chat)
        case "ping": self = .ping
        case let other: self = .unknown(other)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FrameKeys.self)
        switch self {
        case .auth(let token):
            try container.encode("auth", forKey: .type)
            try container.encode(token, forKey: .token)
        case .subscribe(let chat, let since):
            try container.encode("subscribe", forKey: .type)
            try container.encode(chat, forKey: .chat)
            try container.encodeIfPresent(since, forKey: .since)
        case .unsubscribe(let chat):
            try container.encode("unsubscribe", forKey: .type)
            try container.encode(chat, forKey: .chat)
        case .typing(let chat):
            try container.encode("typing", forKey: .type)
            try container.encode(chat, forKey: .chat)
        case .ping: try container.encode("ping", forKey: .type)
        case .unknown(let type): try container.encode(type, forKey: .type)
        }
    }
}

extension Messenger.ServerFrame: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FrameKeys.self)
        func chat() throws -> Messenger.Chat.ID { try container.decode(Messenger.Chat.ID.self, forKey: .chat) }
        func user() throws -> Messenger.User.ID { try container.decode(Messenger.User.ID.self, forKey: .user) }
        switch (try? container.decode(String.self, forKey: .type)) ?? "" {
        case "auth_ok": self = .authOK(try user())
        case "error":
            let text = try container.decode(String.self, forKey: .message)
            self = (try? chat()).map { .tryAgain($0, text) } ?? .error(text)
        case "subscribed": self = .subscribed(try chat())
        case "unsubscribed": self = .unsubscribed(try chat())
        case "resync": self = .resync(try chat())
        case "message": self = .message(try Messenger.Message(from: decoder))
        case "message_edited": self = .messageEdited(try Messenger.MessageEdit(from: decoder))
        case "message_deleted":
            self = .messageDeleted(try chat(), try container.decode(Messenger.Message.ID.self, forKey: .id))
        case "read": self = .read(try Messenger.ReadMark(from: decoder))
        case "typing": self = .typing(try chat(), try user())
        case "member_added": self = .memberAdded(try chat(), try user())
        case "member_removed": self = .memberRemoved(try chat(), try user())
        case "pong": self = .pong
        case let other: self = .unknown(other)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if case .message(let message) = self {
            // The key `type` belongs to the frame, so the message's type has the key that lists use for it.
            var container = encoder.container(keyedBy: Messenger.Message.CodingKeys.self)
            try container.encode("message", forKey: .frame)
            return try message.encode(into: &container, typeKey: .messageType)
        }
        var container = encoder.container(keyedBy: FrameKeys.self)
        try container.encode(type, forKey: .type)
        switch self {
        case .authOK(let user): try container.encode(user, forKey: .user)
        case .error(let text): try container.encode(text, forKey: .message)
        case .tryAgain(let chat, let text):
            try container.encode(text, forKey: .message)
            try container.encode(chat, forKey: .chat)
        case .subscribed(let chat), .unsubscribed(let chat), .resync(let chat):
            try container.encode(chat, forKey: .chat)
        case .messageEdited(let edit): try edit.encode(to: encoder)
        case .messageDeleted(let chat, let message):
            try container.encode(message, forKey: .id)
            try container.encode(chat, forKey: .chat)
        case .read(let mark): try mark.encode(to: encoder)
        case .typing(let chat, let user), .memberAdded(let chat, let user), .memberRemoved(let chat, let user):
            try container.encode(chat, forKey: .chat)
            try container.encode(user, forKey: .user)
        case .message, .pong, .unknown: break
        }
    }

    private var type: String {
        switch self {
        case .authOK: "auth_ok"
        case .error, .tryAgain: "error"
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .resync: "resync"
        case .message: "message"
        case .messageEdited: "message_edited"
        case .messageDeleted: "message_deleted"
        case .read: "read"
        case .typing: "typing"
        case .memberAdded: "member_added"
        case .memberRemoved: "member_removed"
        case .pong: "pong"
        case .unknown(let type): type
        }
    }
}
