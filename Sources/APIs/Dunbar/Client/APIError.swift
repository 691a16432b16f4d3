import Contract
import ContractClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The reason for which a request has no usable answer: the cases of the contract's own client.
public typealias APIError = DunbarClient.APIError

extension Dunbar {
    /// The SDK's error, by a name that no other SDK has: for files that import several of them.
    public typealias APIError = DunbarClient.APIError
}

extension DunbarClient {
    /// The reason for which a request has no usable answer.
    public enum APIError: Error, Sendable {
        case invalidURL
        /// The network failed, with its error.
        case requestFailed(any Error)
        /// The server refused the request, with a status and a message. A request that is refused before it is sent has
        /// the status and message that the server would give.
        case serverError(Int, String?)
        case responseDecodingFailed(any Error)
        /// No user is signed in, or no longer. Wrong credentials are a ``serverError(_:_:)`` with 401.
        case unauthorized
        /// The answer lacks the requested value.
        case noData
        case networkUnavailable
        /// The server did not wake up in time.
        case serverUnavailable
        case unknownError

        /// Whether the same request may succeed later.
        public var isRetryable: Bool {
            switch self {
            case .serverUnavailable, .networkUnavailable: true
            case .serverError(let code, _): 500..<600 ~= code
            default: false
            }
        }

        /// The status of a ``serverError(_:_:)``; nil for other errors.
        public var status: Int? { if case .serverError(let code, _) = self { code } else { nil } }
        /// The server's message, or which address gave an answer that is not Dunbar's; nil for other errors.
        public var message: String? { if case .serverError(_, let message) = self { message } else { nil } }
    }
}

extension DunbarClient.APIError: ReadableError {
    public var translationKey: String {
        switch self {
        case .invalidURL: "error.invalid-url"
        case .requestFailed: "error.request-failed"
        case .serverError(let code, _): "error.refused.\(code)"
        case .responseDecodingFailed: "error.unreadable-answer"
        case .unauthorized: "error.signed-out"
        case .noData: "error.no-data"
        case .networkUnavailable: "error.network-unavailable"
        case .serverUnavailable: "error.server-unavailable"
        case .unknownError: "error.unknown"
        }
    }

    public var errorDescription: String? { localizedDescription }

    /// A description in English that an app may show.
    public var localizedDescription: String {
        switch self {
        case .invalidURL: "Invalid URL"
        case .requestFailed(let error): "Request failed: \(error.localizedDescription)"
        case .serverError(let code, let message?): "Server error (\(code)): \(message)"
        case .serverError(let code, nil): "Server error (\(code))"
        case .responseDecodingFailed(let error): "Failed to process the response: \(error.localizedDescription)"
        case .unauthorized: "You need to log in to continue"
        case .noData: "The server returned an empty response"
        case .networkUnavailable: "No internet connection available"
        case .serverUnavailable: "The server is currently unavailable. It may be waking up, please try again."
        case .unknownError: "An unknown error occurred"
        }
    }
}

extension DunbarClient.APIError {
    /// Converts any error of a request into one of the contract's cases.
    init(_ error: any Error) {
        switch error {
        case let error as Self: self = error
        case let error as ContractClient.APIError:
            self = .serverError(error.status.code, error.message)
        case let error as UnreadableAnswer:
            self = error.body.isEmpty ? .noData : .responseDecodingFailed(error)
        case let error as URLError:
            switch error.code {
            case .badURL, .unsupportedURL: self = .invalidURL
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: self = .networkUnavailable
            case .badServerResponse: self = .unknownError
            default: self = .requestFailed(error)
            }
        default: self = .requestFailed(error)
        }
    }
}
