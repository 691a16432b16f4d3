import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import MonicaAPI
import NIOConcurrencyHelpers

/// Who asks, and with which token.
public struct Caller: Sendable {
    public let account: Int
    let token: Int
}

/// Personal access tokens: made and revoked by the operator, kept as digests.
struct Tokens: Sendable {
    /// A token that was found good, for a second.
    private struct Known {
        let token: Int
        let account: Int
        let at: Int64
    }

    private static let freshness: Int64 = 1000
    private static let capacity = 20_000

    private let database: Database
    private let time: TimeSource
    private let limits: MonicaService.Limits
    private let windows: RateLimits
    private let known = NIOLockedValueBox<[[UInt8]: Known]>([:])

    init(database: Database, time: TimeSource, limits: MonicaService.Limits) {
        self.database = database
        self.time = time
        self.limits = limits
        windows = RateLimits(database, time: time)
    }

    /// The caller behind `Authorization: Bearer …`; the scheme's case does not matter.
    ///
    /// - Throws: 401; 429 for too many wrong tokens.
    @Sendable func caller(_ info: RequestInfo) async throws -> Caller {
        let parts = (info.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw Monica.Refusal.unauthenticated }
        let text = parts[1].trimmingPrefix { $0 == " " }
        guard !text.isEmpty else { throw Monica.Refusal.unauthenticated }
        guard let known = try await look(up: Digest.sha256(String(text))) else {
            let standing = try await windows.count("wrong \(info.address.network)", limit: limits.wrongTokens)
            if standing.isExceeded { throw standing.refusal(Monica.phrases.tooManyRequests, at: time.milliseconds()) }
            throw Monica.Refusal.unauthenticated
        }
        return Caller(account: known.account, token: known.token)
    }

    /// Counts a request in its class, before anything of it is read.
    ///
    /// - Returns: `X-RateLimit-*`.
    /// - Throws: 429 for who has sent too much.
    @Sendable func count(_ route: Route, of caller: Caller) async throws -> HTTPFields {
        let isOfContacts = route.path.hasPrefix("/contacts") || route.path.hasPrefix("/export")
        return try await windows.admit(
            "\(isOfContacts ? "contacts" : "others") \(caller.token)",
            limit: isOfContacts ? limits.contactRequests : limits.otherRequests, Monica.phrases.tooManyRequests)
    }

    private func look(up digest: [UInt8]) async throws -> Known? {
        let now = time.milliseconds()
        // A clock that was set back must not keep anything alive.
        if let last = known.withLockedValue({ $0[digest] }), 0..<Self.freshness ~= now - last.at { return last }
        let found = try await database.read { db in
            try db.one("SELECT id, account_id, last_used_at FROM tokens WHERE digest = \(digest)") { row in
                (
                    known: Known(token: try row.get(0), account: try row.get(1), at: now),
                    lastUsed: try row.get(2, as: Int64?.self)
                )
            }
        }
        guard let found else {
            known.withLockedValue { $0[digest] = nil }
            return nil
        }
        let minute = now - now % 60_000
        if (found.lastUsed ?? .min) < minute {
            try await database.write { db in
                try db.run("UPDATE tokens SET last_used_at = \(minute) WHERE id = \(found.known.token)")
            }
        }
        known.withLockedValue { known in
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[digest] = found.known
        }
        return found.known
    }
}

/// A personal access token, without its text: that was shown once.
public struct PersonalToken: Sendable, Hashable {
    public let id: Int
    public let account: String
    public let name: String
    /// Milliseconds since 1970.
    public let createdAt: Int64
    /// To the minute; nil when it was never used.
    public let lastUsedAt: Int64?
}

extension MonicaService {
    /// Makes a token of an account, and the account when there is none of that name.
    ///
    /// - Parameters:
    ///   - account: What the operator calls it; the owner's name at first. 1 to 255 characters.
    ///   - name: Tells the account's tokens apart.
    /// - Returns: The token, to be shown once: 256 random bits.
    public func makeToken(account: String, email: String = "", name: String) async throws -> String {
        let text = RandomToken.make()
        let now = time.milliseconds()
        try await database.write { [makeID] db in
            let account = try Accounts.findOrMake(account, email: email, at: now, makeID: makeID, in: db)
            try db.run(
                """
                INSERT INTO tokens (account_id, name, digest, created_at)
                VALUES (\(account), \(name), \(Digest.sha256(text)), \(now))
                """)
        }
        return text
    }

    /// Every token, those of one account together.
    ///
    /// - Parameter account: Only those of this one.
    public func listTokens(account: String? = nil) async throws -> [PersonalToken] {
        try await database.read { db in
            let restriction: SQL = account.map { "WHERE a.name = \($0)" } ?? ""
            return try db.all(
                """
                SELECT t.id, a.name, t.name, t.created_at, t.last_used_at
                FROM tokens t JOIN accounts a ON a.id = t.account_id \(restriction) ORDER BY a.name, t.id
                """
            ) { row in
                PersonalToken(
                    id: try row.get(0), account: try row.get(1), name: try row.get(2), createdAt: try row.get(3),
                    lastUsedAt: try row.get(4))
            }
        }
    }

    /// Ends a token, within a second on every node. False when there is none of that number.
    public func revokeToken(_ id: Int) async throws -> Bool {
        try await database.write { db in try db.run("DELETE FROM tokens WHERE id = \(id)") > 0 }
    }
}
