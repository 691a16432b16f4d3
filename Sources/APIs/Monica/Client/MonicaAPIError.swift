import ContractClient
import Foundation

/// The reason for which a request failed, with a description for people.
public enum MonicaAPIError: ReadableError {
    /// 401: the app removes the token and asks the user to sign in.
    case invalidToken
    /// There is no connection, or the server did not answer in time, and no earlier answer is stored.
    case networkUnavailable
    case notFound(resourceType: String, id: Int?)
    case rateLimitExceeded
    case serverError(statusCode: Int)
    case decodingError(DecodingError)
    case unknown(any Error)
    /// 403: the token does not allow this. The user stays signed in.
    case forbidden
    /// Another refusal, with the server's message: 400 for a parameter, 422 for a field.
    case rejected(statusCode: Int, message: String)

    public var translationKey: String {
        switch self {
        case .invalidToken: "error.signed-out"
        case .networkUnavailable: "error.network-unavailable"
        case .notFound: "error.refused.404"
        case .rateLimitExceeded: "error.refused.429"
        case .serverError(let code), .rejected(let code, _): "error.refused.\(code)"
        case .decodingError: "error.unreadable-answer"
        case .unknown: "error.unknown"
        case .forbidden: "error.refused.403"
        }
    }

    public var errorDescription: String? {
        switch self {
        case .invalidToken: "Your session expired. Please log in again."
        case .networkUnavailable: "Cannot connect. Check your internet connection and try again."
        case .notFound(let type, let id?): "\(type.capitalized) #\(id) was not found."
        case .notFound(let type, nil): "\(type.capitalized) was not found."
        case .rateLimitExceeded: "Too many requests. Please wait a moment and try again."
        case .serverError(let code): "Monica is having trouble (Error \(code)). Please try again later."
        case .decodingError: "Unable to process server response. Please try again."
        case .unknown: "An unexpected error occurred. Please try again."
        case .forbidden: "You don't have permission to access this data."
        case .rejected(_, let message): message
        }
    }
}
