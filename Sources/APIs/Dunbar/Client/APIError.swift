import Contract
import ContractClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Why a request has no answer that an app can use: the cases of the contract's own client.
public typealias APIError = DunbarClient.APIError

extension DunbarClient {
    /// Why a request has no answer that an app can use.
    public enum APIError: Error, Sendable {
        case invalidURL
        /// The network's error.
        case requestFailed(any Error)
        /// The server refused: the status, and why, in its words. A request that is refused before it is sent has the
        /// status and words that the server would have.
        case serverError(Int, String?)
        case responseDecodingFailed(any Error)
        /// Nobody is signed in (any more). Wrong credentials are a ``serverError(_:_:)`` with 401.
        case unauthorized
        /// An answer without what was asked for.
        case noData
        case networkUnavailable
        /// It did not wake up.
        case serverUnavailable
        case unknownError

        /// Whether the same request may do better later.
        public var isRetryable: Bool {
            switch self {
            case .serverUnavailable, .networkUnavailable: true
            case .serverError(let code, _): 500..<600 ~= code
            default: false
            }
        }

        /// Of a ``serverError(_:_:)``.
        public var status: Int? { if case .serverError(let code, _) = self { code } else { nil } }
        /// The server's words.
        public var message: String? { if case .serverError(_, let message) = self { message } else { nil } }
    }
}

extension DunbarClient.APIError: LocalizedError {
    public var errorDescription: String? { localizedDescription }

    /// For a person, in English.
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
    /// Whatever a request threw, as the contract's cases have it.
    init(_ error: any Error) {
        switch error {
        case let error as Self: self = error
        case let error as ContractClient.APIError:
            self = .serverError(error.status.code, error.isFromAPI ? error.message : nil)
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
