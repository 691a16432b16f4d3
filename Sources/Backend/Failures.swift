import Contract
import Database
import HTTPTypes
import Identity
import ObjectStore

extension Problem {
    /// What the layers below may throw that is nobody's mistake: 503, come again.
    public static func unavailable(_ error: any Error, _ phrases: Phrases) -> Problem? {
        switch error {
        case DatabaseFailure.unavailable, DatabaseFailure.conflict, DatabaseFailure.unknownOutcome:
            Problem(.serviceUnavailable, phrases.unavailable).retry(afterSeconds: 1)
        case is FileSystemError, is S3Error:
            Problem(.serviceUnavailable, phrases.storageUnavailable).retry(afterSeconds: 5)
        case is Passwords.Overloaded: Problem(.serviceUnavailable, phrases.unavailable).retry(afterSeconds: 1)
        default: nil
        }
    }
}
