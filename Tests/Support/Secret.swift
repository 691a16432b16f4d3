public import Crypto
public import Identity

extension Secret {
    /// Returns a secret of 32 equal bytes, with a former one of other bytes or none.
    public static func ofTests(_ byte: UInt8, former: UInt8? = nil) -> Secret {
        Secret(Array(repeating: byte, count: 32), former: former.map { Array(repeating: $0, count: 32) })
    }
}

/// Returns the key for the URLs of a store: 32 equal bytes.
public func storeKeys(_ byte: UInt8) -> @Sendable () -> [SymmetricKey] {
    { [SymmetricKey(data: Array(repeating: byte, count: 32))] }
}
