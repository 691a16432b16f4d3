import Contract

/// Reports to the operator: an addition to the contract.
extension Messenger {
    static let reports = Section("Reports", [CreateReport.self])

    /// `POST /reports`: reports a user, a message or both to the operator.
    ///
    /// Throws 404 "User not found" and 404 "Message not found" for what the caller cannot see. The report keeps the
    /// text of the message, even if the message is later edited or deleted.
    public struct CreateReport: Endpoint {
        public static let route = Route.post("/reports", .created, idempotencyKey: true)
        public typealias Output = Report
        /// The maximum lengths of ``reason`` and ``details``, in characters.
        public static let (maximumReason, maximumDetails) = (100, 2000)

        /// The reported user.
        public var user: User.ID? = nil
        /// The reported message.
        public var message: Message.ID? = nil
        /// The reason: 1 to 100 characters after trimming.
        public var reason: String
        /// The details: at most 2,000 characters.
        public var details: String? = nil
        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            user = try container.decodeIfPresent(ReadableID<User>.self, forKey: .user)?.id
            message = try container.decodeIfPresent(ReadableID<Message>.self, forKey: .message)?.id
            reason = try container.decode(String.self, forKey: .reason)
            details = try container.decodeIfPresent(String.self, forKey: .details)
        }

        public func validate() throws(Problem) {
            guard user != nil || message != nil else {
                throw Problem(.badRequest, "user_id or message_id required")
            }
            guard 1...Self.maximumReason ~= reason.trimmed.length else {
                throw Problem(.badRequest, "reason must be 1 to \(Self.maximumReason) characters")
            }
            guard (details?.length ?? 0) <= Self.maximumDetails else {
                throw Problem(.badRequest, "details must be at most \(Self.maximumDetails) characters")
            }
        }

        /// An id; one that cannot be read counts as a missing one.
        private struct ReadableID<Named>: WireField {
            let id: Identifier<Named>?
            static var absent: Self { Self(id: nil) }

            private init(id: Identifier<Named>?) { self.id = id }
            init(from decoder: any Decoder) throws { id = try decoder.singleValueContainer().decode(Identifier.self) }
        }
    }

    /// A report that was made. Only the operator can read it.
    public struct Report: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Report>

        /// The report's id.
        public var id: ID
        private init(derived: Never) { switch derived {} }
    }
}
