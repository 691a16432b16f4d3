import Foundation

/// A value in a file that only its owner can read.
struct SecretFile: Sendable {
    private let url: URL

    init(_ url: URL) { self.url = url }

    func load<Value: Decodable>(_: Value.Type = Value.self) throws -> Value? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try JSONDecoder().decode(Value.self, from: Data(contentsOf: url))
    }

    func save<Value: Encodable>(_ value: Value?) throws {
        guard let value else {
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            return
        }
        // The file is written beside the old one and renamed, so that a crash leaves the old value or the new. It is
        // private from its first byte.
        let draft = url.appendingPathExtension(UUID().uuidString)
        let made = FileManager.default.createFile(
            atPath: draft.path, contents: try JSONEncoder().encode(value), attributes: [.posixPermissions: 0o600])
        guard made, rename(draft.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}

#if canImport(Security)
import Security

/// A value in the Keychain, for this device only, readable after the first unlock.
struct KeychainItem: Sendable {
    let service: String
    let account: String
    /// The group of apps and extensions that share the value; nil for this app alone.
    let accessGroup: String?

    func load<Value: Decodable>(_: Value.Type = Value.self) throws -> Value? {
        var query = item
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = result as? Data else { throw KeychainError(status: status) }
        return try JSONDecoder().decode(Value.self, from: data)
    }

    func save<Value: Encodable>(_ newValue: Value?) throws {
        guard let newValue else {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
            return
        }
        let value: [String: Any] = [
            kSecValueData as String: try JSONEncoder().encode(newValue),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging(value) { _, new in new } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    private var item: [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
        if let accessGroup {
            item[kSecAttrAccessGroup as String] = accessGroup
            // Groups exist in this Keychain alone, which on macOS is not the default.
            item[kSecUseDataProtectionKeychain as String] = true
        }
        return item
    }
}

/// The Keychain refused an operation.
public struct KeychainError: Error {
    /// The status; `SecCopyErrorMessageString` translates it.
    public let status: OSStatus
}
#endif
