import HTTPTypes

/// `{"error":"…"}`: the body of every refusal, for an API that says no more.
public struct ErrorMessage: WireFailure, Hashable {
    /// The message for a person.
    public let error: String
    public var message: String { error }

    /// Renders a problem: its message alone.
    public init(_ problem: Problem, requestID: String) { error = problem.message }
}

extension Problem {
    /// Refuses a request unless a condition holds.
    ///
    /// - Throws: 400 with the message.
    public static func require(_ condition: Bool, _ message: String) throws(Problem) {
        if !condition { throw Problem(.badRequest, message) }
    }
}
