import Database

/// Compares the secret keys of a start with those with which the database was used before. Nodes of one server need the same
/// keys: with different ones, what one node signs or seals is refused by the next.
public struct SharedKeys: Sendable {
    /// A key, without its secret.
    public struct Key: Sendable {
        let name: String
        let variable: String
        let fingerprint: String
        let isNew: Bool
        let loss: String

        /// - Parameters:
        ///   - name: The name of the key's file.
        ///   - variable: The environment variable that replaces the file.
        ///   - fingerprint: A keyed digest, which tells the key from others and says nothing about it.
        ///   - isNew: Whether the key was made by this start.
        ///   - loss: What no longer works with another key, in words.
        public init(name: String, variable: String, fingerprint: String, isNew: Bool, loss: String) {
            self.name = name
            self.variable = variable
            self.fingerprint = fingerprint
            self.isNew = isNew
            self.loss = loss
        }
    }

    private let api: String
    private let keys: [Key]

    public init(api: String, keys: [Key]) {
        self.api = api
        self.keys = keys
    }

    /// Compares the keys with those that the database knows, and records those that it does not know yet.
    ///
    /// With SQLite there is one node, which may have another key than before; the operator is warned what that means.
    ///
    /// - Parameters:
    ///   - table: A table with a row for each account: whether the database is in use.
    ///   - adopts: Whether the operator has said that these are the keys from now on.
    /// - Returns: The warnings for the operator.
    /// - Throws: ``KeyMismatch`` where several nodes may share the database.
    public func settle(in database: Database, usedBy table: String, adopts: Bool = false) async throws -> [String] {
        let isShared = database.isShared
        return try await database.write { [keys, api] db in
            var warnings: [String] = []
            let isUsed = try db.exists(SQL(stringLiteral: "SELECT 1 FROM \(table) LIMIT 1"))
            for key in keys {
                let fact = "key \(key.name)"
                let kept = try db.settleFact(fact, key.fingerprint)
                if kept != key.fingerprint {
                    guard adopts || !isShared else { throw KeyMismatch(key, of: api) }
                    try db.setFact(fact, to: key.fingerprint)
                }
                guard kept != key.fingerprint || key.isNew && isUsed else { continue }
                let cause = key.isNew ? "was missing and has been made anew" : "is another one than before"
                warnings.append("the key \(key.name) (\(key.variable)) \(cause): \(key.loss)")
            }
            return warnings
        }
    }
}

/// The error for a key that differs from the one of the other nodes, in words for the operator.
public struct KeyMismatch: Error, CustomStringConvertible {
    public let description: String

    init(_ key: SharedKeys.Key, of api: String) {
        let state = key.isNew ? "was made by this start" : "is another one"
        description = """
            The database of \(api) is used with another key \(key.name) than this node has: its key \(state). All nodes on \
            one database need the same keys: set \(key.variable) to what the others have, or bring the file keys/\(key.name) \
            back. To change the key on purpose, stop every node, give all of them the new key, and start the first with \
            --adopt-keys \(api); then \(key.loss).
            """
    }
}
