import Contract

extension Dunbar {
    static let health: [any Contract.Endpoint.Type] = [CheckHealth.self]

    /// How the server is, and what it stands on.
    public struct HealthReport: Codable, Hashable, Sendable {
        public struct Components: Codable, Hashable, Sendable {
            /// "healthy" or "error", each.
            public var server: String
            public var database: String
            public var storage: String

            public init(server: String, database: String, storage: String) {
                self.server = server
                self.database = database
                self.storage = storage
            }
        }

        /// "healthy" or "unhealthy".
        public var status: String
        public var components: Components
        public var timestamp: Timestamp
        /// When unhealthy.
        public var message: String?

        public init(status: String, components: Components, timestamp: Timestamp, message: String? = nil) {
            self.status = status
            self.components = components
            self.timestamp = timestamp
            self.message = message
        }
    }

    /// `GET /storage/health`: whether the server is awake and well; else 503 with the same members. The SDK asks before
    /// its first request.
    public struct CheckHealth: OpenEndpoint {
        public static let route = Route.get("/storage/health")
        public typealias Output = HealthReport

        public init() {}
    }
}
