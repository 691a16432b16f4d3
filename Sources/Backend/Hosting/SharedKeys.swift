import Database
import Identity

/// Compares the secret keys of a start with those that the database was used with before. All nodes of a server need
/// the same keys: with different ones, a node refuses what another node has signed or sealed.
public struct SharedKeys: Sendable {
    /// A key, without its secret.
    public struct Key: Sendable {
        let name: String
        let variable: String
        let fingerprint: String
        /// The fingerprint of the former key, whose signatures this node accepts.
        let former: String?
        let isNew: Bool
        let loss: String

        /// - Parameters:
        ///   - name: The name of the key's file.
        ///   - variable: The environment variable that replaces the file.
        ///   - fingerprint: A keyed digest, which identifies the key and reveals nothing about it.
        ///   - former: The digest of the former key; nil when there is none.
        ///   - isNew: Whether the key was made by this start.
        ///   - loss: The consequence of a changed key, as a phrase for the operator.
        public init(
            name: String, variable: String, fingerprint: String, former: String? = nil, isNew: Bool, loss: String
        ) {
            self.name = name
            self.variable = variable
            self.fingerprint = fingerprint
            self.former = former
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
    /// Nodes that share a database change a key in two steps: first each gets the new key as its former one, which it
    /// accepts and does not sign with, then the two are exchanged. The database knows both keys, so a node that signs
    /// with a key that the others do not accept is refused.
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
            let isUsed = try db.exists(SQL(trusted: "SELECT 1 FROM \(table) LIMIT 1"))
            for key in keys {
                let kept = try db.settleFact(Self.fact(key.name), key.fingerprint)
                let accepted = try db.fact(Self.formerFact(key.name))
                if kept != key.fingerprint {
                    let isExchange = kept == key.former && accepted == key.fingerprint
                    guard adopts || !isShared || isExchange else { throw KeyMismatch(key, of: api, other: kept) }
                }
                try Self.record(key, in: db)
                let isKnown = kept == key.fingerprint || kept == key.former
                guard !isKnown || key.isNew && isUsed else { continue }
                let cause = key.isNew ? "was missing and has been generated anew" : "differs from the one before"
                warnings.append("the key \(key.name) (\(key.variable)) \(cause): \(key.loss)")
            }
            return warnings
        }
    }
}

extension SharedKeys {
    /// Records the keys of this node as those that all nodes use from now on.
    static func record(_ key: Key, in db: Session) throws {
        try db.setFact(fact(key.name), to: key.fingerprint)
        try db.setFact(formerFact(key.name), to: key.former ?? "")
    }

    private static func fact(_ name: String) -> String { "key \(name)" }
    private static func formerFact(_ name: String) -> String { "former key \(name)" }
}

/// The error for a key that differs from the other nodes' key. Its description is for the operator.
public struct KeyMismatch: Error, CustomStringConvertible {
    public let description: String

    /// - Parameter other: The fingerprint of the other nodes' key.
    init(_ key: SharedKeys.Key, of api: String, other: String) {
        guard key.former != other else {
            description = """
                This node would sign with a key \(key.name) that the other nodes on the database of \(api) do not \
                accept yet. First start every node with the old key as \(key.variable) and the new one as \
                \(key.variable)_FORMER; then exchange the two.
                """
            return
        }
        let state = key.isNew ? "was generated at this start" : "differs from theirs"
        description = """
            The database of \(api) is used with another key \(key.name) than this node's, which \(state). All nodes on \
            one database need the same keys: set \(key.variable) to the key of the other nodes, or bring the file \
            keys/\(key.name) back. To change the key on purpose, stop every node, give all of them the new key, and \
            start the first with --adopt-keys \(api); then \(key.loss).
            """
    }
}

extension SecretKeys {
    /// Loads a key, and returns it as the database knows it: by its fingerprint.
    func shared(_ key: HostedKey) throws(SecretKeyError) -> SharedKeys.Key {
        let fingerprint: String
        var former: String?
        switch key.form {
        case .secret:
            fingerprint = Self.fingerprint(of: try self.key(key.name, variable: key.variable), name: key.name)
            if let bytes = try formerKey(key.name, variable: key.variable) {
                former = Self.fingerprint(of: bytes, name: key.name)
            }
        case .rsa:
            let issuer = try localIssuer(key.name, variable: key.variable) { TimeSource.system.seconds }
            (fingerprint, former) = (issuer.fingerprint, issuer.formerFingerprint)
        }
        return SharedKeys.Key(
            name: key.name, variable: key.variable, fingerprint: fingerprint, former: former,
            isNew: wasMade(key.name), loss: key.loss)
    }

    /// Returns digests that identify a key and its former key, and reveal nothing about them. A key that is missing is
    /// made.
    ///
    /// - Throws: `SecretKeyError`, whose description is for the operator.
    public func fingerprints(of key: HostedKey) throws(SecretKeyError) -> (present: String, former: String?) {
        let shared = try shared(key)
        return (shared.fingerprint, shared.former)
    }
}
