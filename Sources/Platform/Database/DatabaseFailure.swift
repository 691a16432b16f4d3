import GRDB

/// An error of the database engine.
public enum DatabaseFailure: Error, CustomStringConvertible {
    /// A constraint of the schema was violated; the engine names it.
    case constraint(String)
    /// The database cannot be used now: locked, full, unreachable. Nothing was written; the same call may succeed
    /// later.
    case unavailable(String)
    /// There is no space left for the write. Nothing was written.
    case full(String)
    /// Another transaction conflicted, even after several attempts. Nothing was written.
    case conflict(String)
    /// The connection was lost during the commit: it is not known whether it was written.
    case unknownOutcome(String)
    /// The file is damaged; the text says what was found, and what to do. Nothing was written, and this process writes
    /// nothing more.
    case damaged(String)
    /// Any other error, including mistakes in a statement.
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
