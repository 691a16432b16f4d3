import Contract

/// The socket `/ws`: signing in and subscriptions. The frames about a chat's messages and members are listed in their own
/// sections.
///
/// Apps do not need frames to connect: `MessengerClient.live()` does, and delivers events.
extension Messenger {
    static let live = Section(
        "Live socket",
        frames: [
            Authenticate.self, Authenticated.self, Subscribe.self, Subscribed.self, Unsubscribe.self, Unsubscribed.self,
            Resync.self, StartTyping.self, Typing.self, Ping.self, Pong.self, LiveError.self,
        ])

    /// A frame that a client sends on `/ws`. The first one must be ``Authenticate``, within 10 seconds.
    public protocol ClientFrame: Contract.ClientFrame {}
    /// A frame that the server sends on `/ws`. Clients skip frames of unknown types, which are `UnknownFrame`.
    public protocol ServerFrame: Contract.ServerFrame {}
    /// A frame about a subscribed chat. An app receives it as `MessengerLive.Event.update(_:)`, a ``Message`` as
    /// `MessengerLive.Event.message(_:)`.
    public protocol ChatFrame: ServerFrame {
        /// The chat.
        var chat: Chat.ID { get }
    }

    /// The frames that clients send.
    public static let clientFrames = FrameSet<any ClientFrame>(
        sections, unknown: { $0 }, where: { $0 is any ClientFrame.Type })
    /// The frames that the server sends.
    public static let serverFrames = FrameSet<any ServerFrame>(
        sections, unknown: { $0 }, where: { $0 is any ServerFrame.Type })

    // MARK: The connection

    /// `auth`: signs in with an access token. Sent again with a newer token, it extends the socket's life beyond the old
    /// one.
    public struct Authenticate: ClientFrame {
        public static let type = "auth"
        /// The access token.
        public var token: String
        /// True asks for the frames about the user's list of chats: ``ChatAdded``, ``ChatRemoved`` and ``ChatsChanged``. They
        /// come after ``Authenticated``, whatever is subscribed. An addition to the contract.
        public var chats: Bool? = nil
        private init(derived: Never) { switch derived {} }
    }

    /// `auth_ok`: confirms that a user has signed in.
    public struct Authenticated: ServerFrame {
        public static let type = "auth_ok"
        /// The user.
        public var user: User.ID
        /// Whether frames about the user's list of chats come from now on. It is nil when they were not asked for, and from
        /// older servers. An addition to the contract.
        public var chats: Bool? = nil
        private init(derived: Never) { switch derived {} }
    }

    /// `ping`: asks for a sign of life; the server answers with ``Pong``.
    public struct Ping: ClientFrame {
        public static let type = "ping"

        public init() {}
    }

    /// `pong`: answers a ``Ping``.
    public struct Pong: ServerFrame {
        public static let type = "pong"

        public init() {}
    }

    /// `error`: gives the reason why the frame before was refused. Before signing in, the socket is closed after it;
    /// later it stays open.
    public struct LiveError: ServerFrame {
        public static let type = "error"
        /// The message in English, as the contract words it.
        public var message: String
        /// The chat of a ``Subscribe`` that could not be handled and should be sent again. An existing subscription
        /// continues. Nil in every other error. An addition to the contract.
        public var chat: Chat.ID? = nil
        private init(derived: Never) { switch derived {} }
    }

    // MARK: Subscriptions

    /// `subscribe`: subscribes to the messages of a chat; at most 1,000 chats.
    public struct Subscribe: ClientFrame {
        public static let type = "subscribe"
        /// The chat.
        public var chat: Chat.ID
        /// The messages after this one come first. An addition to the contract.
        public var since: Message.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            try Messenger.validate(chat: chat)
            if let since, since.rawValue < 0 { throw Problem(.badRequest, "Invalid since") }
        }
    }

    /// `subscribed`: confirms a subscription.
    public struct Subscribed: ServerFrame {
        public static let type = "subscribed"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `unsubscribe`: ends a subscription. An addition to the contract.
    public struct Unsubscribe: ClientFrame {
        public static let type = "unsubscribe"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Messenger.validate(chat: chat) }
    }

    /// `unsubscribed`: reports the end of a subscription, by request or because the membership has ended. An addition
    /// to the contract.
    public struct Unsubscribed: ServerFrame {
        public static let type = "unsubscribed"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `resync`: reports that more was missed than a socket sends again: read the rest with ``ListMessages``. An
    /// addition to the contract.
    public struct Resync: ChatFrame {
        public static let type = "resync"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    // MARK: Typing

    /// `typing`, from a client: tells the other members of a subscribed chat that the user is typing. The server passes
    /// on at most one in 3 seconds. An addition to the contract.
    public struct StartTyping: ClientFrame {
        public static let type = "typing"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Messenger.validate(chat: chat) }
    }

    /// `typing`, from the server: reports that another member is typing. An addition to the contract.
    public struct Typing: ChatFrame {
        public static let type = "typing"
        /// The chat.
        public var chat: Chat.ID
        /// The member.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }

    /// Throws when no chat can have the id of a frame.
    private static func validate(chat: Chat.ID) throws(Problem) {
        guard chat.isValid else { throw Problem(.badRequest, "Invalid chat_id") }
    }
}

extension UnknownFrame: Messenger.ClientFrame, Messenger.ServerFrame {}
