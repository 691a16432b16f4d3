import Foundation

/// The address of a mail server, with the encryption of the connection: `smtps://user:password@host:465` (TLS from the
/// start, RFC 8314 §3.3) or `smtp://user:password@host:587` (STARTTLS, RFC 3207).
public struct SMTPServer: Sendable, Equatable {
    public enum Encryption: Sendable, Equatable {
        case fromTheStart
        /// The server must offer STARTTLS, because an e-mail with a link that gives access to an account must not be
        /// sent unencrypted.
        case startTLS
        /// The connection is not encrypted, for a server on this machine: `?tls=none`.
        case none
    }

    public var host: String
    public var port: Int
    public var encryption: Encryption
    public var user: String?
    public var password: String?
    /// A file of certificates to trust instead of the system's: `?ca=PATH`.
    public var trustedCertificates: String?

    /// Parses a URL; fails for any other text.
    public init?(_ url: String) {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.path.count <= 1,
            parts.fragment == nil
        else { return nil }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let items = (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        switch (parts.scheme?.lowercased(), items.first { $0.0 == "tls" }?.1) {
        case ("smtps", nil): (encryption, port) = (.fromTheStart, parts.port ?? 465)
        case ("smtp", nil): (encryption, port) = (.startTLS, parts.port ?? 587)
        case ("smtp", "none"): (encryption, port) = (.none, parts.port ?? 25)
        default: return nil
        }
        guard items.allSatisfy({ ["tls", "ca"].contains($0.0) }) else { return nil }
        trustedCertificates = items.first { $0.0 == "ca" }?.1
        user = parts.user
        password = parts.password
        // A name without a password is a mistake, and an unencrypted connection would reveal both.
        guard (user == nil) == (password == nil), user == nil || encryption != .none else { return nil }
    }
}
