import Contract

/// The sessions of the caller's account: additions to the contract.
extension Messenger {
    static let sessions = Section("Sessions", [ListSessions.self, EndOtherSessions.self, EndSession.self])

    /// `GET /me/sessions`: returns the sessions of the caller's account, the one that was used last first: at most the 500
    /// that were.
    public struct ListSessions: Endpoint {
        public static let route = Route.get("/me/sessions")
        public typealias Output = [Session]

        public init() {}
    }

    /// `DELETE /me/sessions`: ends all sessions of the caller's account but the caller's own, with their sockets and devices.
    public struct EndOtherSessions: Endpoint {
        public static let route = Route.delete("/me/sessions", .noContent)
        public typealias Output = Empty

        public init() {}
    }

    /// `DELETE /me/sessions/{id}`: ends a session of the caller's account, with its sockets and devices. The caller's own
    /// ends, too, as by ``Logout``.
    ///
    /// Throws 404 "Session not found", also for another user's session.
    public struct EndSession: Endpoint {
        public static let route = Route.delete("/me/sessions/{id}", .noContent)
        public typealias Output = Empty

        /// The session to end.
        public var id: Session.ID
        private init(derived: Never) { switch derived {} }
    }

    /// A session of the caller's account.
    public struct Session: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Session>

        /// The session's id among those of its user.
        public var id: ID
        /// The device's name: ``Login/deviceName``, else the program that has signed in (`User-Agent`); nil when it said
        /// neither.
        @OrNull public var device: String?
        /// The time of the sign-in; nil for sessions that began before servers noted it.
        @OrNull public var createdAt: Timestamp?
        /// The time at which the session was last renewed, which apps in use do every hour.
        public var lastUsedAt: Timestamp
        /// The address at the last renewal: one of IPv4, or an IPv6 network of 64 bits; nil where it is not known.
        @OrNull public var address: String?
        /// Whether it is the session that asks.
        public var current: Bool
        private init(derived: Never) { switch derived {} }
    }
}
