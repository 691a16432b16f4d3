import Database

/// Compares the secret keys of a start with those that the database was used with before. All nodes of a server need
/// the same keys: with different ones, a node refuses what another node has signed or sealed.
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
        ///   - fingerprint: A keyed digest, which identifies the key and reveals nothing about it.
        ///   - isNew: Whether the key was made by this start.
        ///   - loss: The consequence of a changed key, as a phrase for the operator.
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

    /// Compares the keys with those that the database knows, and records the keys that it does not know yet.
    ///
    /// A server on SQLite has one node, so another key is allowed; the operator is warned about the consequences.
    ///
    /// - Parameters:
    ///   - table: A table with a row for each account. The database is in use when it has rows.
    ///   - adopts: Whether the operator has confirmed these keys as the keys from now on.
    /// - Returns: The warnings for the operator.
    /// - Throws: ``KeyMismatch`` when other nodes may share the database.
    public func reconcile(in database: Database, usedBy table: String, adopts: Bool = false) async throws -> [String] {
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
                let cause = key.isNew ? "was missing and has been generated anew" : "differs from the one before"
                warnings.append("the key \(key.name) (\(key.variable)) \(cause): \(key.loss)")
            }
            return warnings
        }
    }
}

/// The error for a key that differs from the other nodes' key. Its description is for the operator.
public struct KeyMismatch: Error, CustomStringConvertible {
    public let description: String

    init(_ key: SharedKeys.Key, of api: String) {
        let state = key.isNew ? "was generated at this start" : "differs from theirs"
        description = """
            The database of \(api) is used with another key \(key.name) than this node's, which \(state). All nodes on \
            one database need the same keys: set \(key.variable) to the key of the other nodes, or bring the file \
            keys/\(key.name) back. To change the key on purpose, stop every node, give all of them the new key, and \
            start the first with --adopt-keys \(api); then \(key.loss).
            """
    }
}
