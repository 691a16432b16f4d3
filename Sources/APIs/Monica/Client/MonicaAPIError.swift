import Foundation

/// Why a request failed, in a sentence for a person.
public enum MonicaAPIError: LocalizedError {
    /// 401: the app clears its credentials and asks to sign in.
    case invalidToken
    /// No connection, or a time-out, and nothing was kept of an earlier answer.
    case networkUnavailable
    case notFound(resourceType: String, id: Int?)
    case rateLimitExceeded
    case serverError(statusCode: Int)
    case decodingError(DecodingError)
    case unknown(any Error)
    /// 403: a token that may not do this. Nobody is signed out for it.
    case forbidden
    /// Another refusal, in the server's words: 400 for a parameter, 422 for a field.
    case rejected(statusCode: Int, message: String)

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
