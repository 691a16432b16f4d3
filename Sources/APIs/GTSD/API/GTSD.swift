import Contract
import Foundation

/// The GTSD API: daily tasks, evidence that they were done, streaks and badges, progress photos, and weekly plans.
public enum GTSD: ServiceAPI {
    /// An operation that needs `Authorization: Bearer`. Without a session, or when it has ended, the SDK throws `SignedOut`.
    public protocol Endpoint: AuthenticatedEndpoint, Validatable {}
    /// An operation that needs no credentials.
    public protocol OpenEndpoint: Contract.OpenEndpoint, Validatable {}

    public static let name = "gtsd"
    public static let captureForm = CaptureForm.text
    public static let ignoresTrailingSlash = true
    public static let errorMessages: ErrorMessages = {
        var errorMessages = ErrorMessages()
        errorMessages.notFound = "Resource not found"
        errorMessages.malformedJSON = "Invalid JSON in request body"
        errorMessages.storageUnavailable = errorMessages.unavailable
        errorMessages.internalError = "Internal server error"
        return errorMessages
    }()
    /// 403: the operator has deactivated the caller's account. The end and the reason stand behind, if the operator has
    /// given them.
    public static let deactivated = Problem(.forbidden, "Account is deactivated")
    public static let callerRefusals = [deactivated]
    /// Returns the answer of `GetAbout`.
    public static func answering(_ about: About) -> APIResponse<About> { APIResponse(about) }
    /// The sections of the contract. Each lists its own operations and frames.
    public static let sections = [
        auth, sessions, recovery, tasks, photos, streaks, plans, onboarding,
    ]

    /// `{ "error": { "message": "…", "requestId": "…" } }`: the body of every refusal. The SDK throws it as an `APIError`.
    public struct Failure: WireFailure, Hashable {
        /// The content of a refusal.
        public struct Content: Codable, Hashable, Sendable {
            /// The message in English, as the contract words it.
            public let message: String
            /// The id of the request in the server's log.
            public let requestId: String
            /// The stack trace of an unhandled error; development mode only.
            public let stack: String?
        }

        /// The content.
        public let error: Content

        /// Renders a problem.
        public init(_ problem: Problem, requestID: String) {
            error = Content(message: problem.message, requestId: requestID, stack: problem.details)
        }

        public init(message: String, requestId: String, stack: String? = nil) {
            error = Content(message: message, requestId: requestId, stack: stack)
        }

        public var message: String { error.message }
    }

    /// A point in time, `2025-10-26T10:00:00.000Z` on the wire.
    ///
    /// Decoding accepts any RFC 3339 time, with or without a fraction, with `Z` or an offset, and a day, which stands
    /// for its beginning in UTC.
    public struct Timestamp: Codable, Hashable, Comparable, Sendable, CustomStringConvertible {
        /// Milliseconds since 1970-01-01T00:00:00Z.
        public let milliseconds: Int64

        public init(milliseconds: Int64) { self.milliseconds = milliseconds }
        /// Makes a timestamp from a date, cut to a millisecond.
        public init(_ date: Date) { milliseconds = Contract.Timestamp<Milliseconds>(date).milliseconds }

        /// Parses a time or a day. Fails when the text is neither.
        public init?(_ text: String) {
            if let time = Contract.Timestamp<Milliseconds>(text) {
                milliseconds = time.milliseconds
            } else if let day = Day(text) {
                milliseconds = day.daysSince1970 * 86_400_000
            } else {
                return nil
            }
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let time = Self(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither time nor day: \(text)")
            }
            self = time
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(written)
        }

        /// The time as answers have it.
        var written: Contract.Timestamp<Milliseconds> { .init(milliseconds: milliseconds) }

        /// The same point in time as a `Date`, for formatting and arithmetic.
        public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
        public var description: String { written.description }
        public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
    }
}

extension ObjectWriter {
    /// Writes a time as answers have it.
    mutating func write(_ key: StaticString, _ value: GTSD.Timestamp) throws { try write(key, value.written) }

    /// Writes a time as answers have it, or null.
    mutating func write(_ key: StaticString, _ value: GTSD.Timestamp?) throws { try write(key, value?.written) }
}

/// The envelope of every success of the GTSD API: `{ "success": true, "data": … }`.
public struct APIResponse<Value: Codable & Sendable>: Codable, Sendable {
    /// Whether the operation succeeded: true in every success.
    public var success: Bool = true
    /// The value; ``NoData`` for an answer that is only a message.
    public var data: Value
    /// Whether the server answered from its cache; nil for operations without one.
    public var cached: Bool?
    /// A message for people, if there is one.
    public var message: String?

    public init(_ data: Value, cached: Bool? = nil, message: String? = nil) {
        self.data = data
        self.cached = cached
        self.message = message
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = try container.decode(Bool.self, forKey: .success)
        // An answer that is only a message has no data, or an empty object.
        if let none = NoData() as? Value {
            data = none
        } else {
            data = try container.decode(Value.self, forKey: .data)
        }
        cached = try container.decodeIfPresent(Bool.self, forKey: .cached)
        message = try container.decodeIfPresent(String.self, forKey: .message)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(success, forKey: .success)
        if !(data is NoData) { try container.encode(data, forKey: .data) }
        try container.encodeIfPresent(cached, forKey: .cached)
        try container.encodeIfPresent(message, forKey: .message)
    }
}

extension GTSD {
    /// The envelope of every success, by a name that no other SDK has: for files that import several of them.
    public typealias Response<Value: Codable & Sendable> = APIResponse<Value>
}

extension APIResponse: Equatable where Value: Equatable {}
extension APIResponse: Hashable where Value: Hashable {}

extension APIResponse: DeletionOutput where Value == NoData {
    /// The output of a deletion whose own answer was lost.
    public static var alreadyDeleted: APIResponse<NoData> { APIResponse(message: "Already deleted") }
}

extension APIResponse where Value == NoData {
    public init(message: String) { self.init(NoData(), message: message) }
}

/// The data of an answer that is only a message.
public struct NoData: Codable, Hashable, Sendable {
    public init() {}
    public init(from decoder: any Decoder) {}
    public func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: NoKey.self) }

    private enum NoKey: CodingKey {}
}
