import Foundation
import HTTPTypes

/// An error that an app can show to its user.
///
/// `errorDescription` is an English sentence, `recoverySuggestion` says what the user can do. An app in other languages
/// looks up its own sentence under ``translationKey``, for example in a String Catalog; `docs/errors.md` lists all keys.
public protocol ReadableError: LocalizedError {
    /// A key that stays the same in later versions, such as `error.signed-out`.
    var translationKey: String { get }
}

extension APIError: ReadableError {
    /// The key `error.refused.` with the status, such as `error.refused.404`.
    public var translationKey: String { "error.refused.\(status.code)" }

    /// The message in the API's own wording.
    public var errorDescription: String? { message }

    public var recoverySuggestion: String? {
        switch (status.code, retryAfter) {
        case (401, _): "Please sign in again."
        case (429, let seconds?), (503, let seconds?): "Please try again in \(seconds) seconds."
        case (429, nil), (500..., nil): "Please try again later."
        default: nil
        }
    }
}

extension UnreadableAnswer: ReadableError {
    public var translationKey: String { "error.unreadable-answer" }
    public var errorDescription: String? { "The server's answer could not be read." }
    public var recoverySuggestion: String? { "Please update the app, or try again later." }
}

extension SignedOut: ReadableError {
    public var translationKey: String { "error.signed-out" }
    public var errorDescription: String? { "You are signed out." }
    public var recoverySuggestion: String? { "Please sign in again." }
}

extension SocketsUnavailable: ReadableError {
    public var translationKey: String { "error.sockets-unavailable" }
    public var errorDescription: String? { "Live updates are not available on this device." }
}

extension SocketClosed: ReadableError {
    public var translationKey: String { "error.socket-closed" }
    public var errorDescription: String? { "The live connection has ended." }
    public var recoverySuggestion: String? { "Please try again." }
}

extension SocketRefused: ReadableError {
    public var translationKey: String { "error.socket-refused" }
    public var errorDescription: String? { "The server refused the live connection." }
    public var recoverySuggestion: String? {
        status == 401 ? "Please sign in again." : "Please try again later."
    }
}

extension PeerSilent: ReadableError {
    public var translationKey: String { "error.peer-silent" }
    public var errorDescription: String? { "The server does not respond." }
    public var recoverySuggestion: String? { "Please check your connection and try again." }
}

#if canImport(Security)
extension KeychainError: ReadableError {
    public var translationKey: String { "error.keychain" }
    public var errorDescription: String? { "The sign-in could not be stored on this device." }
    public var recoverySuggestion: String? { "Please unlock the device and try again." }
}
#endif
