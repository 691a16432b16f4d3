import Identity
import NIOConcurrencyHelpers

/// The keys that the services of this process use, so that a rotation takes effect without a restart.
public final class KeysInUse: Sendable {
    private let reloads = NIOLockedValueBox<[String: [@Sendable () throws -> Void]]>([:])

    public init() {}

    /// Remembers how a key that is in use is read again.
    func add(_ key: HostedKey, reload: @escaping @Sendable () throws -> Void) {
        reloads.withLockedValue { $0[key.name, default: []].append(reload) }
    }

    /// Reads a key again wherever it is in use.
    func reload(_ key: HostedKey) throws {
        for reload in reloads.withLockedValue({ $0[key.name] ?? [] }) { try reload() }
    }
}
