import Contract

/// Muting of chats: additions to the contract.
///
/// A user's devices are not notified of the messages of a chat that the user has muted. Everything else stays: messages come over
/// live sockets and count as unread. Only the user knows of it, all of the user's devices alike, and leaving the chat ends it.
extension Messenger {
    static let muting = Section("Muting", [MuteChat.self, UnmuteChat.self])

    /// `POST /chats/{id}/mute`: mutes a chat for the caller. For a chat that is muted already the new end counts.
    ///
    /// Throws 403 "Not a member of this chat" and 400 "until must be a time in the future".
    public struct MuteChat: Endpoint {
        public static let route = Route.post("/chats/{id}/mute", .noContent, mayRepeat: true)
        public typealias Output = Empty

        /// The chat.
        public var chat: Chat.ID
        /// The time at which muting ends by itself; nil for a chat that stays muted until ``UnmuteChat``.
        public var until: Timestamp? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            if let until, until == .malformed { throw Self.invalidUntil }
        }

        /// The refusal of an end that is not a time, or has passed.
        package static let invalidUntil = Problem(.badRequest, "until must be a time in the future")
    }

    /// `DELETE /chats/{id}/mute`: has the caller's devices notified of the chat again. For a chat that is not muted it has no
    /// effect.
    ///
    /// Throws 403 "Not a member of this chat".
    public struct UnmuteChat: Endpoint {
        public static let route = Route.delete("/chats/{id}/mute", .noContent)
        public typealias Output = Empty

        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// The muting of a chat by the caller.
    public struct Mute: Codable, Hashable, Sendable {
        /// The time at which it ends by itself; nil when it does not.
        @OrNull public var until: Timestamp?
        private init(derived: Never) { switch derived {} }
    }
}
