import Contract
import Foundation

extension GTSD.SubmitEvidence {
    /// Returns evidence that is a text.
    ///
    /// - Parameters:
    ///   - text: 1 to 2,000 characters after trimming.
    ///   - task: The task that it completes.
    ///   - notes: At most 1,000 characters.
    ///   - occurredAt: The time at which it happened, at most 48 hours ago; the present time when nil.
    public static func text(
        _ text: String, for task: GTSD.Task.ID, notes: String? = nil, occurredAt: GTSD.Timestamp? = nil
    ) -> Self {
        evidence(.textLog, .init(text: text), task, notes, occurredAt)
    }

    /// Returns evidence that is numbers and texts, such as `["km": 5.2, "shoes": "new"]`.
    ///
    /// - Parameters:
    ///   - metrics: 1 to 50 values, each under a name of 1 to 64 characters; a text has at most 200.
    ///   - task: The task that it completes.
    ///   - notes: At most 1,000 characters.
    ///   - occurredAt: The time at which it happened, at most 48 hours ago; the present time when nil.
    public static func metrics(
        _ metrics: [String: GTSD.MetricValue], for task: GTSD.Task.ID, notes: String? = nil,
        occurredAt: GTSD.Timestamp? = nil
    ) -> Self {
        evidence(.metrics, .init(metrics: metrics.mapValues(\.json)), task, notes, occurredAt)
    }

    /// Returns evidence that is the URL of a photo.
    ///
    /// - Parameters:
    ///   - url: An `http` or `https` URL of at most 2,048 characters. The server never fetches it.
    ///   - task: The task that it completes.
    ///   - notes: At most 1,000 characters.
    ///   - occurredAt: The time at which it happened, at most 48 hours ago; the present time when nil.
    public static func photo(
        at url: URL, for task: GTSD.Task.ID, notes: String? = nil, occurredAt: GTSD.Timestamp? = nil
    ) -> Self {
        evidence(.photoReference, .init(photoUrl: url.absoluteString), task, notes, occurredAt)
    }

    private static func evidence(
        _ type: GTSD.EvidenceType, _ data: GTSD.EvidenceData, _ task: GTSD.Task.ID, _ notes: String?,
        _ occurredAt: GTSD.Timestamp?
    ) -> Self {
        var request = Self(taskId: task, type: type, data: data, notes: notes)
        request.occurredAt = occurredAt?.description
        return request
    }
}

extension GTSD {
    /// A number or a text among the metrics of evidence, written as a literal or with `init(_:)`.
    public struct MetricValue: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
        ExpressibleByStringLiteral
    {
        /// The value as it is sent.
        public let json: JSONValue

        /// Makes a metric of a whole number.
        public init(_ number: Int) { json = .integer(Int64(number)) }
        /// Makes a metric of a number. It must be finite.
        public init(_ number: Double) { json = .number(number) }
        /// Makes a metric of a text of at most 200 characters.
        public init(_ text: String) { json = .string(text) }

        public init(integerLiteral value: Int) { self.init(value) }
        public init(floatLiteral value: Double) { self.init(value) }
        public init(stringLiteral value: String) { self.init(value) }
    }
}
