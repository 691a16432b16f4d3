import Foundation

/// The address of a Redis, or of a server that speaks its protocol: `redis://user:password@host:6379/0`, or `rediss://` for
/// TLS from the start.
///
/// The number after the host is the database of the keys. Messages between clients do not belong to a database.
public struct RedisServer: Sendable, Equatable, CustomStringConvertible {
    public var host: String
    public var port: Int
    public var isEncrypted: Bool
    public var user: String?
    public var password: String?
    public var database: Int
    /// A file of certificates to trust instead of the system's: `?ca=PATH`.
    public var trustedCertificates: String?

    /// Parses a URL; fails for any other text.
    public init?(_ url: String) {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.fragment == nil else {
            return nil
        }
        switch parts.scheme?.lowercased() {
        case "redis": isEncrypted = false
        case "rediss": isEncrypted = true
        default: return nil
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? 6379
        // `redis://:password@host` is the way to give a password alone.
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password.flatMap { $0.isEmpty ? nil : $0 }
        let path = parts.path.drop { $0 == "/" }
        guard let database = path.isEmpty ? 0 : Int(path), database >= 0, user == nil || password != nil else {
            return nil
        }
        self.database = database
        let items = (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        trustedCertificates = items.first { $0.0 == "ca" }?.1
        guard items.allSatisfy({ $0.0 == "ca" }), trustedCertificates == nil || isEncrypted else { return nil }
    }

    /// The URL without the password.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isEncrypted ? "rediss" : "redis")://\(name):\(port)/\(database)"
    }
}

/// The error of a Redis that cannot be reached, refuses a command or breaks the protocol. Its description is for the operator.
public struct RedisError: Error, CustomStringConvertible, Equatable {
    public let description: String

    init(_ description: String) { self.description = description }
}
