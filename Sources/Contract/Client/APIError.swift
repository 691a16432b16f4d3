import Contract
import Foundation
import HTTPTypes

/// The API refused a request.
public struct APIError: Error, Sendable {
    /// The status to act upon: 404 when something does not exist, 403 when it is not allowed, 429 and 503 when it may
    /// work later.
    public let status: HTTPResponse.Status
    /// The message in the API's own English wording. Wordings are exact, so an app can tell two refusals of one status
    /// apart. Where ``isFromAPI`` is false, it names the address that was asked.
    public let message: String
    /// Whether the body had the API's error shape. The error page of a proxy does not.
    public let isFromAPI: Bool
    /// The id of the request in the server's log. Nil when the SDK refused the request before sending it.
    public let requestID: String?
    /// The time after which the request may be repeated, in seconds from the answer.
    public let retryAfter: Int?
    /// The headers of the answer; empty when the SDK refused the request itself.
    public let headers: HTTPFields
    /// The body of the answer, for details that an API gives beside the message.
    public let body: [UInt8]

    init<API: ServiceAPI>(_ response: TransportResponse, api: API.Type, from server: URL) {
        status = response.status
        let failure = try? JSONDecoder().decode(API.Failure.self, from: Data(response.body))
        message = failure?.message ?? Self.unexpectedAnswer(response.status, of: api, from: server)
        isFromAPI = failure != nil
        requestID = response.headers[.requestID]
        retryAfter = response.headers[.retryAfter].flatMap(Int.init)
        headers = response.headers
        body = response.body
    }

    /// Creates an error from what ``Endpoint/validate()`` refused.
    package init(_ problem: Problem) {
        self.init(status: problem.status, message: problem.message)
    }

    package init(
        status: HTTPResponse.Status, message: String, isFromAPI: Bool = true, retryAfter: Int? = nil
    ) {
        self.status = status
        self.message = message
        self.isFromAPI = isFromAPI
        self.retryAfter = retryAfter
        requestID = nil
        headers = [:]
        body = []
    }

    /// Returns the message for an answer that has not the API's error shape: where it came from, and the question that
    /// finds the cause most often.
    package static func unexpectedAnswer<API: ServiceAPI>(
        _ status: HTTPResponse.Status, of _: API.Type, from server: URL
    ) -> String {
        var address = URLComponents(url: server, resolvingAgainstBaseURL: true)
        // An address may have a password, and its query a token.
        address?.user = nil
        address?.password = nil
        address?.query = nil
        address?.fragment = nil
        if address?.path == "/" { address?.path = "" }
        let name = address?.string ?? server.host ?? "the server"
        let isBusy = status == .tooManyRequests || status.code >= 500
        let question = isBusy ? "did a proxy answer in its place?" : "is it a \(API.title)?"
        return "Unexpected answer from \(name): \(question)"
    }
}

extension APIError: CustomStringConvertible {
    public var description: String { "\(status.code) \(message)" }
}

/// The answer does not match the contract: it may come from another server, or from a proxy in between.
public struct UnreadableAnswer: Error, Sendable {
    /// The HTTP status of the answer.
    public let status: HTTPResponse.Status
    /// The body of the answer.
    public let body: [UInt8]
    /// What could not be read, for a developer.
    public let reason: String
}

/// There is no session, because the user has not signed in or the server has ended it. An app shows its sign-in screen.
///
/// Only an explicit refusal by the server ends a session. A network error or a failing server never does.
public struct SignedOut: Error, Sendable, Equatable {
    public init() {}
}
