/// A row, or a few that belong together, that many writes of one transaction change. It is changed in memory, and stored
/// once for all of them.
///
/// Group commit runs all waiting writes of SQLite in one transaction, so a chat to which fifty messages are sent at the
/// same time needs one `UPDATE` and not fifty.
public protocol KeptRow: AnyObject {
    /// Stores the row as it is now.
    func store(in db: Session) throws
}

/// The rows that a transaction keeps.
struct KeptRows {
    private struct Key: Hashable {
        let kind: ObjectIdentifier
        let id: Int64
    }

    private var rows: [Key: any KeptRow] = [:]

    var isEmpty: Bool { rows.isEmpty }

    subscript<Row: KeptRow>(id: Int64, _: Row.Type) -> Row? {
        get {
            // The key has the type.
            rows[Key(kind: ObjectIdentifier(Row.self), id: id)].map { unsafeDowncast($0, to: Row.self) }
        }
        set { rows[Key(kind: ObjectIdentifier(Row.self), id: id)] = newValue }
    }

    var all: [any KeptRow] { Array(rows.values) }

    mutating func removeAll() { rows.removeAll(keepingCapacity: true) }
}
