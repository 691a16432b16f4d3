import Database
import Identity

/// The commands on keys, which every API has.
enum KeyCommands {
    static let all: [any OperatorCommand.Type] = [RotateKey.self, DropFormerKey.self]
}

/// Replaces a key of an API by a new one. What the former key has signed is accepted until it is dropped.
public struct RotateKey: OperatorCommand {
    public static let name = "keys rotate"
    public static let role = OperatorRole.all

    var key: String
    /// Whether the operator has confirmed that no other node uses the database.
    var isOnlyNode: Bool

    public init(_ key: HostedKey, isOnlyNode: Bool) {
        self.key = key.name
        self.isOnlyNode = isOnlyNode
    }

    public func run(in context: OperatorContext) async throws {
        let key = try context.rotatable(key)
        let secrets = context.secrets
        guard !secrets.isFromVariable(key.variable), isOnlyNode || !context.database.isShared else {
            for line in try steps(for: key, secrets) { try await context.print(line) }
            return
        }
        // A key that no server has used yet is made first, so that there is one to keep.
        _ = try secrets.shared(key)
        try secrets.rotate(key.name, form: key.secretForm, at: TimeSource.system.seconds)
        try context.keysInUse.reload(key)
        let shared = try secrets.shared(key)
        try await context.database.write { [audit = context.audit] db in
            try SharedKeys.record(shared, in: db)
            try audit.record(key.name, in: db)
        }
        try await context.print(
            """
            \(key.name) has a new key. What the former one has signed is accepted until: \
            concord keys drop-former \(key.name)
            """)
    }

    /// Returns the steps by which an operator gives several nodes a new key.
    private func steps(for key: HostedKey, _ secrets: SecretKeys) throws -> [String] {
        _ = try secrets.shared(key)
        let present = try secrets.text(of: key.name, variable: key.variable, form: key.secretForm) ?? ""
        let new = key.secretForm.newKey()
        let (variable, former) = (key.variable, SecretKeys.formerVariable(of: key.variable))
        let reason =
            secrets.isFromVariable(variable)
            ? "\(key.name) comes from \(variable)."
            : "Other nodes may use this server's PostgreSQL (if not: --only-node)."
        return [
            "\(reason) Nothing was changed. Set these variables, or their files, on every node:",
            "1. So that all nodes accept the new key, restart one after the other with",
            "   \(variable)=\(present)", "   \(former)=\(new)",
            "2. So that the new key signs, restart one after the other with", "   \(variable)=\(new)",
            "   \(former)=\(present)",
            "3. When the tokens of the former key have expired, restart without \(former).",
        ]
    }
}

/// Stops accepting what the former key has signed.
public struct DropFormerKey: OperatorCommand {
    public static let name = "keys drop-former"
    public static let role = OperatorRole.all

    var key: String

    public init(_ key: HostedKey) { self.key = key.name }

    public func run(in context: OperatorContext) async throws {
        let key = try context.rotatable(key)
        let former = SecretKeys.formerVariable(of: key.variable)
        guard !context.secrets.isFromVariable(former) else {
            throw OperatorError("The former key comes from \(former): restart every node without that variable")
        }
        guard try context.secrets.dropFormer(key.name) else {
            throw OperatorError("\(key.name) has no former key")
        }
        try context.keysInUse.reload(key)
        let shared = try context.secrets.shared(key)
        try await context.database.write { [audit = context.audit] db in
            try SharedKeys.record(shared, in: db)
            try audit.record(key.name, in: db)
        }
        try await context.print("The former key of \(key.name) was dropped: what it has signed is refused")
    }
}

extension OperatorContext {
    /// Returns a key of the command's API that can be replaced.
    fileprivate func rotatable(_ name: String) throws -> HostedKey {
        guard let key = api.keys.first(where: { $0.name == name }) else {
            throw OperatorError("\(api.title) has no key \(name)")
        }
        return key
    }
}

extension HostedKey {
    fileprivate var secretForm: SecretForm { form == .rsa ? .rsaPrivateKey : .randomBytes }
}
