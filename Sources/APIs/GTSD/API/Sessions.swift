import Contract

/// The sessions of the caller's account. Additions to the contract.
extension GTSD {
    static let sessions = Section("Sessions", [ListSessions.self, EndOtherSessions.self, EndSession.self])

    /// `GET /auth/sessions`: returns the sessions of the caller's account, the one that was used last first: at most the 500
    /// that were.
    public struct ListSessions: Endpoint {
        public static let route = Route.get("/auth/sessions")
        public typealias Output = APIResponse<SessionList>

        public init() {}
    }

    /// `DELETE /auth/sessions`: ends all sessions of the caller's account but the caller's own.
    public struct EndOtherSessions: Endpoint {
        public static let route = Route.delete("/auth/sessions")
        public typealias Output = APIResponse<NoData>

        public init() {}
    }

    /// `DELETE /auth/sessions/{sessionId}`: ends a session of the caller's account. The caller's own ends, too, as by
    /// ``LogOut``.
    ///
    /// Throws 404 "Session not found", also for another user's session.
    public struct EndSession: Endpoint {
        public static let route = Route.delete("/auth/sessions/{sessionId}")
        public typealias Output = APIResponse<NoData>

        /// The session to end.
        public var sessionId: Session.ID
        private init(derived: Never, _ sessionId: Never) { switch derived {} }
    }

    /// The sessions of an account.
    public struct SessionList: Codable, Hashable, Sendable {
        /// The sessions, the one that was used last first.
        public var sessions: [Session]
        private init(derived: Never) { switch derived {} }
    }

    /// A session of the caller's account.
    public struct Session: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Session>

        /// The session's id among those of its user: a decimal number, as text.
        public var id: ID
        /// The device's name: ``LogIn/deviceName``, else the program that has signed in (`User-Agent`); nil when it said
        /// neither.
        @OrNull public var device: String?
        /// The time of the sign-in; nil for sessions that began before servers noted it.
        @OrNull public var createdAt: Timestamp?
        /// The time at which the session was last renewed, which apps in use do every 15 minutes.
        public var lastUsedAt: Timestamp
        /// The address at the last renewal: one of IPv4, or an IPv6 network of 64 bits; nil where it is not known.
        @OrNull public var address: String?
        /// Whether it is the session that asks.
        public var current: Bool
        private init(derived: Never) { switch derived {} }
    }
}
