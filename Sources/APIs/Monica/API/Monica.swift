import Contract
import HTTPTypes

/// The Monica API: an account's contacts, with activities, notes, tasks, gifts and tags. An account sees only its own
/// data.
///
/// The models are nested in here, because one of them is called `Task`.
public enum Monica: ServiceAPI {
    /// An operation that needs `Authorization: Bearer`, with a personal access token.
    public protocol Endpoint: AuthenticatedEndpoint where API == Monica {}
    /// An operation that needs no token.
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == Monica {}

    /// A point in time in UTC, `2026-02-23T10:00:00Z` on the wire: whole seconds, cut and not rounded.
    public typealias Timestamp = Contract.Timestamp<Seconds>

    public static let name = "monica"
    public static let basePath = "/api"
    public static let captureForm = CaptureForm.text
    public static let ignoresTrailingSlash = true
    public static let errorMessages: ErrorMessages = {
        var errorMessages = ErrorMessages()
        errorMessages.notFound = "The requested resource was not found."
        errorMessages.malformedJSON = "Problems parsing JSON"
        errorMessages.tooManyRequests = "Too many attempts, please slow down the request"
        errorMessages.storageUnavailable = errorMessages.unavailable
        errorMessages.internalError = "Internal server error"
        return errorMessages
    }()
    /// 403: the operator has suspended the caller's account. The end, if there is one, and the reason stand behind.
    public static let suspended = Problem(.forbidden, "Account is suspended")
    public static let callerRefusals = [suspended]
    /// Returns the answer of `GetAbout`.
    public static func answering(_ about: About) -> APIResponse<About> { APIResponse(data: about) }
    /// The sections of the contract. Each lists its own operations and frames.
    public static let sections = [
        contacts, merges, relationships, contactFields, addresses, activities, notes, tasks, gifts, phoneCalls,
        conversations,
        reminders, debts, pets, lifeEvents, journal, tags, genders, activityTypes, currencies, account,
    ]

    /// The body of every refusal: `{ "error": { "message": "…", "code": 404, "error_code": 31 } }`.
    ///
    /// It also decodes what other servers send: a message that is a list, a body without `code`, a flat `message`.
    public struct Failure: WireFailure, Hashable {
        /// The message in English, as the server words it.
        public let message: String
        /// The HTTP status. Other servers may leave it out.
        public let code: Int?
        /// A code that distinguishes refusals of one status; 0 when there is nothing to distinguish.
        public let errorCode: Int?

        /// Renders a problem.
        public init(_ problem: Problem, requestID: String) {
            message = problem.message
            code = problem.status.code
            errorCode = Self.errorCode(of: problem)
        }

        private init(derived: Never) { switch derived {} }

        private enum WireNames: String { case errorCode = "errorCode" }

        private static func errorCode(of problem: Problem) -> Int {
            switch (problem.status.code, problem.code) {
            case (_, .number(let number)?): number
            case (_, .malformedJSON?): 37
            case (400, _), (_, .reusedIdempotencyKey?): 41
            case (401, _): 42
            case (404, _): 31
            case (422, _): 32
            case (429, _): 34
            default: 0
            }
        }
    }

    /// Errors that several operations share.
    package enum Problems {
        package static let unauthenticated = Problem(.unauthorized, "Unauthenticated.")
        package static let limitTooBig = Problem(.badRequest, "The limit parameter is too big", code: .number(30))
        package static let limit = Problem(
            .badRequest, "The limit parameter must be a positive integer", code: .number(30))
        package static let page = Problem(.badRequest, "The page parameter must be a positive integer")
        package static let contact = Problem(.badRequest, "The contact_id parameter must be a positive integer")
        package static let month = Problem(.badRequest, "The month parameter must be 0 or a positive integer")
        package static let query = Problem(.badRequest, "The query parameter is too long")
        package static let sort = Problem(.badRequest, "The sorting criteria is invalid", code: .number(39))

        /// Returns the error for a resource that does not exist.
        ///
        /// - Parameter what: The kind of resource: `contact`, `note` …
        package static func notFound(_ what: String) -> Problem {
            Problem(.notFound, "The requested \(what) was not found.")
        }

        /// Returns an error with every message of a validation, in the order of the fields.
        package static func invalid(_ texts: [String]) -> Problem {
            Problem(.unprocessableContent, texts.joined(separator: " "))
        }
    }
}

extension Monica.Failure: Codable {
    private enum CodingKeys: String, CodingKey {
        case error, message, code
        case errorCode = "error_code"
    }

    public init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: CodingKeys.self)
        // A body `{"error": "…"}` has an error without members.
        let inner = try? outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .error)
        let container = inner ?? outer
        let texts: [String]
        switch try container.decodeIfPresent(JSONValue.self, forKey: .message) {
        case .string(let text): texts = [text]
        case .list(let elements): texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: texts = (try? outer.decode(String.self, forKey: .error)).map { [$0] } ?? []
        }
        guard !texts.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .message, in: container, debugDescription: "no message")
        }
        message = texts.joined(separator: " ")
        code = try container.integer(.code)
        errorCode = try container.integer(.errorCode)
    }

    public func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: CodingKeys.self)
        var error = outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .error)
        try error.encode(message, forKey: .message)
        try error.encodeIfPresent(code, forKey: .code)
        try error.encodeIfPresent(errorCode, forKey: .errorCode)
    }
}
