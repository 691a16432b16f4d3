import Contract

/// Archives with all that the server keeps of a person: additions to the contract.
extension DeuceDiary {
    /// `POST /api/auth/user/archive`: asks for an archive of all that the server keeps of the caller.
    ///
    /// It is a ZIP file with what ``ExportUser`` returns, and the profile picture.
    ///
    /// The server makes it in the background; ``GetArchive`` says when it is ready. An archive that is being made, or that is
    /// younger than an hour, answers a further request. A new one replaces the one before.
    public struct RequestArchive: Endpoint {
        public static let route = Route.post("/api/auth/user/archive")
        public typealias Output = Archive

        public init() {}
    }

    /// `GET /api/auth/user/archive`: returns the state of the caller's archive.
    ///
    /// Throws 404 "No archive was requested" before the first request, and when the archive is over.
    public struct GetArchive: Endpoint {
        public static let route = Route.get("/api/auth/user/archive")
        public typealias Output = Archive

        public init() {}
    }

    /// The state of an archive.
    public typealias ArchiveState = Contract.ArchiveState

    /// An archive with all that the server keeps of a person.
    public struct Archive: Codable, Hashable, Sendable, ArchiveDescription {
        /// Whether it is being made, can be downloaded, or could not be made.
        public var state: ArchiveState
        /// The time of the request.
        public var requestedAt: Timestamp
        /// The size in bytes; nil unless it is ready.
        @OrNull public var size: Int64?
        /// A URL that serves the ZIP file without credentials, in ranges too, for an hour; nil unless it is ready. Each answer
        /// has another one.
        @OrNull public var url: String?
        /// The time at which the server removes it, two days after it was made; nil unless it is ready.
        @OrNull public var expiresAt: Timestamp?
        private init(derived: Never) { switch derived {} }
    }
}
