import Identity
import NIOConcurrencyHelpers

/// The keys that the services of this process use, so that a rotation takes effect without a restart.
public final class KeysInUse: Sendable {
    private let reloads = NIOLockedValueBox<[String: [@Sendable () throws -> Void]]>([:])

    public init() {}

    /// Returns a key with its former version, and replaces both when the key is read again. A key that is missing is made.
    func secret(_ key: HostedKey, from secrets: SecretKeys) throws -> Secret {
        let read = { @Sendable () throws in
            (
                try secrets.key(key.name, variable: key.variable),
                try secrets.formerKey(key.name, variable: key.variable)
            )
        }
        let (bytes, former) = try read()
        let secret = Secret(bytes, former: former)
        add(key) {
            let (bytes, former) = try read()
            secret.replace(with: bytes, former: former)
        }
        return secret
    }

    /// Remembers how a key that is in use is read again.
    func add(_ key: HostedKey, reload: @escaping @Sendable () throws -> Void) {
        reloads.withLockedValue { $0[key.name, default: []].append(reload) }
    }

    /// Reads a key again wherever it is in use.
    func reload(_ key: HostedKey) throws {
        for reload in reloads.withLockedValue({ $0[key.name] ?? [] }) { try reload() }
    }
}
