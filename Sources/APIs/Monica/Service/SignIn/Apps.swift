import Backend
import Contract
import Database
import Foundation
import Identity

/// An app of other people that may ask for access to accounts: a client of OAuth 2 (RFC 6749 §2).
struct SignInApp: Sendable {
    let id: Int64
    let name: String
    /// The URL to which a browser is sent with the answer.
    let redirect: String
    /// The digest of the app's secret; nil for an app that has none, which then needs PKCE.
    let secret: [UInt8]?

    /// The most apps that a server has.
    static let most = 100

    static let tables = [
        """
        CREATE TABLE apps (
            id {ID}, name TEXT NOT NULL, client_id {KEY} NOT NULL UNIQUE, secret {BYTES}, redirect TEXT NOT NULL,
            created_at BIGINT NOT NULL)
        """
    ]

    private static let columns: SQL = "id, name, redirect, secret"

    private init(row: borrowing Row) throws {
        id = try row.get(0)
        name = try row.get(1)
        redirect = try row.get(2)
        secret = try row.get(3)
    }

    /// Returns the app with a client id.
    static func find(_ clientID: String, in db: Session) throws -> SignInApp? {
        try db.one("SELECT \(columns) FROM apps WHERE client_id = \(clientID)") { try SignInApp(row: $0) }
    }

    /// Returns the problem of a redirect URL in words; nil when an app may have it. A browser is sent there with a code that
    /// signs in, so the address must be an app's or encrypted.
    static func problem(ofRedirect text: String) -> String? {
        guard text.utf8.count <= 2000, let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            !text.contains(where: { $0.isWhitespace })
        else { return "it is no URL" }
        if url.fragment != nil { return "it has a fragment" }
        if ["javascript", "data", "file", "about", "blob", "vbscript"].contains(scheme) {
            return "browsers do not lead to \(scheme):"
        }
        if scheme == "http", !["127.0.0.1", "[::1]", "::1", "localhost"].contains(url.host ?? "") {
            return "http is for this machine alone: use https"
        }
        if ["http", "https"].contains(scheme), (url.host ?? "").isEmpty { return "it has no host" }
        return nil
    }
}

/// An app as an operator sees it: its secret was shown once.
public struct RegisteredApp: Sendable, Codable, Equatable {
    public let number: Int64
    public let name: String
    public let clientID: String
    public let redirect: String
    /// The number of accounts' tokens that it holds.
    public let tokens: Int

    private enum CodingKeys: String, CodingKey {
        case number, name, redirect, tokens
        case clientID = "client_id"
    }
}

extension MonicaService {
    /// Registers an app that may ask for access to accounts.
    ///
    /// - Parameter hasSecret: Whether the app proves who it is with a secret; one that cannot keep a secret uses PKCE instead.
    /// - Returns: The client id and the secret, which is shown once.
    /// - Throws: ``OperatorError`` when there are 100 apps, or the redirect URL cannot be used.
    public func registerApp(
        named name: String, redirect: String, hasSecret: Bool, audit: Audit
    ) async throws -> (clientID: String, secret: String?) {
        if let problem = SignInApp.problem(ofRedirect: redirect) {
            throw OperatorError("'\(redirect)' cannot be a redirect URL: \(problem)")
        }
        let (clientID, secret) = (makeID(), hasSecret ? RandomToken.make() : nil)
        let now = time.milliseconds()
        try await database.write { db in
            guard try db.value("SELECT COUNT(*) FROM apps", as: Int.self) ?? 0 < SignInApp.most else {
                throw OperatorError("There are \(SignInApp.most) apps: remove one that is not used")
            }
            try db.run(
                """
                INSERT INTO apps (name, client_id, secret, redirect, created_at)
                VALUES (\(name), \(clientID), \(secret.map { Digest.sha256($0) }), \(redirect), \(now))
                """)
            try audit.record("\(name), \(redirect)", in: db)
        }
        return (clientID, secret)
    }

    /// Returns the apps in the order in which they were registered.
    public func listApps() async throws -> [RegisteredApp] {
        try await database.read { db in
            try db.all(
                """
                SELECT id, name, client_id, redirect, (SELECT COUNT(*) FROM tokens t WHERE t.app_id = apps.id) FROM apps
                ORDER BY id
                """
            ) { row in
                RegisteredApp(
                    number: try row.get(0), name: try row.get(1), clientID: try row.get(2), redirect: try row.get(3),
                    tokens: try row.get(4))
            }
        }
    }

    /// Removes an app and revokes its tokens, within a second on every node. It returns false when there is no such app.
    public func removeApp(_ id: Int64, audit: Audit) async throws -> Bool {
        try await database.write { db in
            guard let name: String = try db.value("SELECT name FROM apps WHERE id = \(id)") else { return false }
            for table: SQL in ["tokens", "sign_in_grants"] { try db.run("DELETE FROM \(table) WHERE app_id = \(id)") }
            try db.run("DELETE FROM apps WHERE id = \(id)")
            try audit.record("\(id): \(name)", in: db)
            return true
        }
    }
}
