import Contract

/// The Messenger API: accounts, chats, messages, files and a live socket.
public enum Messenger: ServiceAPI {
    /// An operation that needs `Authorization: Bearer`. Without a session, or when it has ended, the SDK throws `SignedOut`.
    public protocol Endpoint: AuthenticatedEndpoint where API == Messenger {}
    /// An operation that anybody may call.
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == Messenger {}

    /// A moment in UTC, `2026-02-23T10:00:00Z` on the wire: whole seconds, cut and not rounded.
    public typealias Timestamp = Contract.Timestamp<Seconds>

    public static let name = "messenger"
    public static let phrases = Phrases()
    /// Each section lists its own.
    public static var endpoints: [any Contract.Endpoint.Type] {
        auth + account + users + blocks + chats + members + messages + messageChanges + receipts + files + reports
    }

    /// `{ "error": "…" }`: the body of every refusal. The SDK throws it as an `APIError`.
    public struct Failure: WireFailure, Hashable {
        /// In English, as the contract words it.
        public let error: String

        public init(_ problem: Problem, requestID: String) { error = problem.message }
        public init(error: String) { self.error = error }
        public var message: String { error }
    }
}
