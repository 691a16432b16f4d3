import Contract

extension DeuceDiary {
    /// What a client says on `/ws`.
    public enum ClientFrame: Hashable, Sendable {
        /// Listens to a group, in place of the one before. Nil for what is no id.
        case joinGroup(Group.ID?)
        /// Brings a newer token of the same user, so that a socket that was opened with one outlasts it. An addition to the
        /// contract: a server that does not know it ignores it.
        case auth(token: String)
        /// A frame of a type that is not known here. Servers ignore it.
        case unknown(String)
    }

    /// What the server says on `/ws`. Clients skip unknown types.
    public enum ServerFrame: Hashable, Sendable {
        case deuceLogged(Notice)
        /// Only on a socket that was opened with a token: the group could not be joined, the membership has ended, or the
        /// newer token was refused.
        case error(String)
        case unknown(String)
    }

    /// Somebody logged something in the group that the socket listens to.
    public struct Notice: Codable, Hashable, Sendable {
        /// For a banner: "johndoe logged a new deuce".
        public var message: String
        public var entry: FeedEntry
        /// Who it was: an app passes over its own.
        public var userId: User.ID

        public init(message: String, entry: FeedEntry, userId: User.ID) {
            self.message = message
            self.entry = entry
            self.userId = userId
        }

        /// In the server's words.
        public init(_ entry: FeedEntry) {
            self.init(
                message: "\(entry.user.displayName) logged a new deuce", entry: entry, userId: entry.userId)
        }
    }
}

private enum FrameKeys: String, CodingKey { case type, groupId, token, message }

extension DeuceDiary.ClientFrame: Codable {
    /// Reads any JSON object.
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
