import Contract

extension DeuceDiary {
    /// A frame that a client sends on `/ws`.
    public enum ClientFrame: Hashable, Sendable {
        /// Subscribes to a group, in place of the one before. Nil stands for a value that is not an id.
        case joinGroup(Group.ID?)
        /// Sends a newer token of the same user, so that a socket that was opened with a token outlasts it. An addition
        /// to the contract: servers that do not know it ignore it.
        case auth(token: String)
        /// A frame of an unknown type. Servers ignore it.
        case unknown(String)
    }

    /// A frame that the server sends on `/ws`. Clients skip frames of unknown types.
    public enum ServerFrame: Hashable, Sendable {
        case deuceLogged(Notice)
        /// Reports that the group could not be joined, that the membership has ended, or that the newer token was
        /// refused. It is sent only on a socket that was opened with a token.
        case error(String)
        case unknown(String)
    }

    /// Reports a new log entry in the subscribed group.
    public struct Notice: Codable, Hashable, Sendable {
        /// A text for a banner: "johndoe logged a new deuce".
        public var message: String
        /// The entry with its author.
        public var entry: FeedEntry
        /// The author. An app ignores its own user's notices.
        public var userId: User.ID

        public init(message: String, entry: FeedEntry, userId: User.ID) {
            self.message = message
            self.entry = entry
            self.userId = userId
        }

        /// Makes a notice in the server's words.
        public init(_ entry: FeedEntry) {
            self.init(
                message: "\(entry.user.displayName) logged a new deuce", entry: entry, userId: entry.userId)
        }
    }
}

private enum FrameKeys: String, CodingKey { case type, groupId, token, message }

extension DeuceDiary.ClientFrame: Codable {
    /// Decodes any JSON object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FrameKeys.self)
        switch (try? container.decode(String.self, forKey: .type)) ?? "" {
        case "join_group": self = .joinGroup(try? container.decode(DeuceDiary.Group.ID.self, forKey: .groupId))
        case "auth": self = .auth(token: (try? container.decode(String.self, forKey: .token)) ?? "")
        case let other: self = .unknown(other)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FrameKeys.self)
        switch self {
        case .joinGroup(let group):
            try container.encode("join_group", forKey: .type)
            try container.encodeIfPresent(group, forKey: .groupId)
        case .auth(let token):
            try container.encode("auth", forKey: .type)
            try container.encode(token, forKey: .token)
        case .unknown(let type):
            try container.encode(type, forKey: .type)
        }
    }
}

extension DeuceDiary.ServerFrame: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FrameKeys.self)
        switch (try? container.decode(String.self, forKey: .type)) ?? "" {
        case "deuce_logged": self = .deuceLogged(try DeuceDiary.Notice(from: decoder))
        case "error": self = .error(try container.decode(String.self, forKey: .message))
        case let other: self = .unknown(other)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FrameKeys.self)
        switch self {
        case .deuceLogged(let notice):
            try container.encode("deuce_logged", forKey: .type)
            try notice.encode(to: encoder)
        case .error(let text):
            try container.encode("error", forKey: .type)
            try container.encode(text, forKey: .message)
        case .unknown(let type):
            try container.encode(type, forKey: .type)
        }
    }
}
