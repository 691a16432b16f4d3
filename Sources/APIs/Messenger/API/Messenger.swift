import Contract

/// The Messenger API: accounts, chats, messages, files and a live socket.
public enum Messenger: ServiceAPI {
    /// An operation that needs `Authorization: Bearer`. Without a session, or when it has ended, the SDK throws
    /// `SignedOut`.
    public protocol Endpoint: AuthenticatedEndpoint where API == Messenger {}
    /// An operation that needs no credentials.
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == Messenger {}

    /// A point in time in UTC, `2026-02-23T10:00:00Z` on the wire: whole seconds, cut and not rounded.
    public typealias Timestamp = Contract.Timestamp<Seconds>

    public static let name = "messenger"
    public static let errorMessages = ErrorMessages()
    /// 403: the operator has suspended the caller's account. The end, if there is one, and the reason stand behind.
    public static let suspended = Problem(.forbidden, "Account is suspended")
    public static let callerRefusals = [suspended]
    /// The sections of the contract. Each lists its own operations and frames.
    public static let sections = [
        auth, account, sessions, recovery, users, blocks, chats, members, messages, messageChanges, receipts, files,
        devices, muting,
        reports, live,
    ]

    /// The body of every refusal, `{ "error": "…" }`. The SDK throws it as an `APIError`.
    public struct Failure: WireFailure, Hashable {
        /// The message in English, as the contract words it.
        public let error: String

        /// Renders a problem.
        public init(_ problem: Problem, requestID: String) { error = problem.message }
        public init(error: String) { self.error = error }
        public var message: String { error }
    }
}
