import GRDB

/// What the engine refused.
public enum DatabaseFailure: Error, CustomStringConvertible {
    /// A constraint of the schema: which, in the engine's words.
    case constraint(String)
    /// The database cannot be used now: locked, full, gone. Nothing was written; the same call may succeed later.
    case unavailable(String)
    /// There is no space left for what was to be written. Nothing was written.
    case full(String)
    /// Another transaction was in the way. Nothing was written; the engine has tried several times.
    case conflict(String)
    /// The connection was lost while the commit was under way: whether it was written is not known.
    case unknownOutcome(String)
    /// The file is damaged: what it says, and what to do. Nothing was written; nothing more is written by this process.
    case damaged(String)
    /// Anything else, a mistake of the statement's included.
    case failed(String)

    init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_CONSTRAINT:
            self = .constraint(error.message ?? "constraint")
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_NOMEM,
            .SQLITE_PROTOCOL:
            self = .unavailable(error.description)
        case .SQLITE_FULL:
            self = .full(error.description)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self = .damaged(error.description)
        default:
            self = .failed(error.description)
        }
    }

    public var description: String {
        switch self {
        case .constraint(let text): "constraint: \(text)"
        case .unavailable(let text): "database unavailable: \(text)"
        case .full(let text): "no space for the database: \(text)"
        case .conflict(let text): "database conflict: \(text)"
        case .unknownOutcome(let text): "outcome of the commit unknown: \(text)"
        case .damaged(let text): "database damaged: \(text)"
        case .failed(let text): "database: \(text)"
        }
    }
}
