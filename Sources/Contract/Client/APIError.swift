import Contract
import Foundation
import HTTPTypes

/// The API refused a request.
public struct APIError: Error, Sendable {
    /// What to act upon: 404 for what is not there, 403 for what is not allowed, 429 and 503 for later.
    public let status: HTTPResponse.Status
    /// As the API words it, in English. Texts are exact, so that an app can tell two refusals of one status apart.
    public let message: String
    /// Whether the body was in the API's error shape. A proxy's page is not.
    public let isFromAPI: Bool
    /// Names the request in the server's log. Nil when the SDK refused it itself, before it was sent.
    public let requestID: String?
    /// When it may be tried again, in seconds from the answer.
    public let retryAfter: Int?
    /// As they came; none when the SDK refused the request itself.
    public let headers: HTTPFields
    /// The body as it came, for what an API says beyond a message.
    public let body: [UInt8]

    init<API: ServiceAPI>(_ response: TransportResponse, api: API.Type) {
        status = response.status
        let failure = try? JSONDecoder().decode(API.Failure.self, from: Data(response.body))
        message = failure?.message ?? "Unexpected answer from the server"
        isFromAPI = failure != nil
        requestID = response.headers[.requestID]
        retryAfter = response.headers[.retryAfter].flatMap(Int.init)
        headers = response.headers
        body = response.body
    }

    /// What ``Endpoint/validate()`` refused.
    init(_ problem: Problem) {
        status = problem.status
        message = problem.message
        isFromAPI = true
        requestID = nil
        retryAfter = nil
        headers = [:]
        body = []
    }
}

extension APIError: CustomStringConvertible {
    public var description: String { "\(status.code) \(message)" }
}

extension APIError: LocalizedError {
    public var errorDescription: String? { message }
}

/// The answer is not what the contract promises: another server perhaps, or a proxy between.
public struct UnreadableAnswer: Error, Sendable {
    public let status: HTTPResponse.Status
    /// As it came.
    public let body: [UInt8]
    /// For a developer.
    public let reason: String
}

/// There is no session: nobody signed in, or the server ended it. An app shows its sign-in screen.
///
/// Only the server's clear refusal ends a session. A network error or a server in trouble never does.
public struct SignedOut: Error, Sendable, Equatable {
    public init() {}
}
