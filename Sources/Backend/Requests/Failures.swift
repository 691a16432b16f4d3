import Contract
import Database
import HTTPTypes
import Identity
import ObjectStore

extension Problem {
    /// Maps transient errors of the infrastructure to 503 with `Retry-After`, and a lack of space to 507. Nil for other
    /// errors.
    public static func unavailable(_ error: any Error, _ errorMessages: ErrorMessages) -> Problem? {
        switch error {
        case DatabaseFailure.unavailable, DatabaseFailure.full, DatabaseFailure.conflict,
            DatabaseFailure.unknownOutcome:
            Problem(.serviceUnavailable, errorMessages.unavailable).retry(afterSeconds: 1)
        // A smaller or a later request would not help.
        case is InsufficientStorage: .insufficientStorage
        case let error as FileSystemError where error.isLackOfSpace: .insufficientStorage
        // The client has disconnected, or the server is stopping.
        case is CancellationError: Problem(.serviceUnavailable, errorMessages.unavailable).retry(afterSeconds: 1)
        case is FileSystemError, is S3Error, is StoreNotPaired:
            Problem(.serviceUnavailable, errorMessages.storageUnavailable).retry(afterSeconds: 5)
        case is Passwords.Overloaded: Problem(.serviceUnavailable, errorMessages.unavailable).retry(afterSeconds: 1)
        case is TooManyAtOnce: Problem(.tooManyRequests, errorMessages.tooManyRequests).retry(afterSeconds: 1)
        default: nil
        }
    }

    /// The error for an upload when the disk has less free space than uploads must leave. The rest of the upload is not
    /// read.
    public static var insufficientStorage: Problem {
        Problem(
            .init(code: 507, reasonPhrase: "Insufficient Storage"), "Insufficient storage",
            headers: [.connection: "close"])
    }

    /// The error for a user who has used up the storage quota.
    public static let quotaExceeded = Problem(.contentTooLarge, "Storage quota exceeded")
}
