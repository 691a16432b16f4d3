import Contract

extension Dunbar {
    static let health = Section("Health", [CheckHealth.self, GetAbout<Dunbar>.self])

    /// The health of the server and its dependencies.
    public struct HealthReport: Codable, Hashable, Sendable {
        /// The health of the server's parts.
        public struct Components: Codable, Hashable, Sendable {
            /// The server: "healthy" or "error".
            public var server: String
            /// The database: "healthy" or "error".
            public var database: String
            /// The file storage: "healthy" or "error".
            public var storage: String
            private init(derived: Never) { switch derived {} }
        }

        /// The health of the whole: "healthy" or "unhealthy".
        public var status: String
        /// The health of each part.
        public var components: Components
        /// The time of the check.
        public var timestamp: Timestamp
        /// The problem, when unhealthy.
        public var message: String? = nil
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /storage/health`: checks whether the server is awake and healthy; otherwise it answers 503 with the same
    /// body. The SDK asks before its first request.
    public struct CheckHealth: OpenEndpoint {
        public static let route = Route.get("/storage/health")
        public typealias Output = HealthReport

        public init() {}
    }
}
