import Contract

/// The socket `/ws`, which reports the log entries of one group at a time.
extension DeuceDiary {
    static let live = Section("Live socket", frames: [WatchGroup.self, Authenticate.self, Notice.self, LiveError.self])

    /// A frame that a client sends on `/ws`. Servers ignore frames of unknown types, which are `UnknownFrame`.
    public protocol ClientFrame: Contract.ClientFrame {}
    /// A frame that the server sends on `/ws`. Clients skip frames of unknown types, which are `UnknownFrame`.
    public protocol ServerFrame: Contract.ServerFrame {}

    /// The frames that clients send.
    public static let clientFrames = FrameSet<any ClientFrame>(
        sections, unknown: { $0 }, where: { $0 is any ClientFrame.Type })
    /// The frames that the server sends.
    public static let serverFrames = FrameSet<any ServerFrame>(
        sections, unknown: { $0 }, where: { $0 is any ServerFrame.Type })

    /// `join_group`: subscribes to a group, in place of the one before. A value that is not a group's id ends the
    /// subscription.
    public struct WatchGroup: ClientFrame {
        public static let type = "join_group"
        /// The group.
        public var group: Group.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `auth`: sends a newer token of the same user, so that a socket that was opened with a token outlasts it. An
    /// addition to the contract: servers that do not know it ignore it.
    public struct Authenticate: ClientFrame {
        public static let type = "auth"
        /// The token.
        public var token: String
        private init(derived: Never) { switch derived {} }
    }

    /// `deuce_logged`: reports a new log entry in the subscribed group.
    public struct Notice: ServerFrame {
        public static let type = "deuce_logged"
        /// A text for a banner: "johndoe logged a new deuce".
        public var message: String
        /// The entry with its author.
        public var entry: FeedEntry
        /// The author. An app ignores its own user's notices.
        public var userId: User.ID
        private init(derived: Never) { switch derived {} }

        /// Makes a notice in the server's words.
        public init(_ entry: FeedEntry) {
            self.init(
                message: "\(entry.user.displayName) logged a new deuce", entry: entry, userId: entry.userId)
        }
    }

    /// `error`: reports that the group could not be joined, that the membership has ended, or that the newer token was
    /// refused. It is sent only on a socket that was opened with a token. An addition to the contract.
    public struct LiveError: ServerFrame {
        public static let type = "error"
        /// The reason in English.
        public var message: String
        private init(derived: Never) { switch derived {} }
    }
}

extension UnknownFrame: DeuceDiary.ClientFrame, DeuceDiary.ServerFrame {}
