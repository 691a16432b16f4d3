import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import MonicaAPI

/// The account of a request, and the token that it was authenticated by.
public struct Caller: Sendable {
    public let account: AccountID
    let token: Int
    let dialect: Monica.TokenDialect
}

/// The personal access tokens, which operators, owners and apps make. Only their digests are stored.
struct Tokens: Sendable {
    private let database: Database
    private let time: TimeSource
    private let limits: MonicaService.Limits
    private let windows: RateLimits
    /// The callers of tokens that were verified, by the tokens' digests.
    private let known: TTLCache<[UInt8], Caller>

    init(database: Database, time: TimeSource, limits: MonicaService.Limits) {
        self.database = database
        self.time = time
        self.limits = limits
        windows = RateLimits(database, time: time)
        known = TTLCache("tokens", time: time)
    }

    /// Returns the caller behind `Authorization: Bearer …`.
    ///
    /// - Throws: A `Problem` with 401, or with 429 after too many wrong tokens.
    @Sendable func caller(_ info: RequestInfo) async throws -> Caller {
        guard let token = info.headers.bearerToken, !token.isEmpty else { throw Monica.Problems.unauthenticated }
        let digest = Digest.sha256(token)
        guard let caller = try await known.value(for: digest, else: { try await look(up: digest) }) else {
            let standing = try await countWrong(info)
            if standing.isExceeded {
                throw standing.refusal(Monica.errorMessages.tooManyRequests, at: time.milliseconds())
            }
            throw Monica.Problems.unauthenticated
        }
        return caller
    }

    /// Counts a wrong token, code or secret from an address.
    private func countWrong(_ info: RequestInfo) async throws -> RateLimits.Standing {
        try await windows.count("wrong \(info.address.network)", limit: limits.wrongTokens)
    }

    /// Counts a wrong code or secret, and returns whether there were too many from its address.
    func isOverLimit(ofWrong info: RequestInfo) async throws -> Bool { try await countWrong(info).isExceeded }

    /// Counts a request in its class, before any part of it is read.
    ///
    /// - Returns: The `X-RateLimit-*` headers, and the one by which the SDK tells this server from one that does not know
    ///   idempotency keys.
    /// - Throws: A `Problem` with 429 when the token has sent too many requests.
    @Sendable func count(_ route: Route, of caller: Caller) async throws -> HTTPFields {
        let isOfContacts = route.path.hasPrefix("/contacts") || route.path.hasPrefix("/export")
        var headers = try await windows.admit(
            "\(isOfContacts ? "contacts" : "others") \(caller.token)",
            limit: isOfContacts ? limits.contactRequests : limits.otherRequests, Monica.errorMessages.tooManyRequests)
        headers[.idempotencyKeyLifetime] = "86400"
        return headers
    }

    /// Makes the next request with a request's token look it up again: it was revoked.
    func forget(_ info: RequestInfo) {
        if let token = info.headers.bearerToken { forget(Digest.sha256(token)) }
    }

    /// Makes the next request with a token look it up again.
    @Sendable func forget(_ digest: [UInt8]) { known.remove(digest) }

    /// Looks a token up, and records that it was used.
    private func look(up digest: [UInt8]) async throws -> Caller? {
        let now = time.milliseconds()
        let found = try await database.read { db in
            let found = try db.one(
                """
                SELECT id, account_id, last_used_at, dialect FROM tokens
                WHERE digest = \(digest) AND (expires_at IS NULL OR expires_at > \(now))
                """
            ) { row in
                (
                    caller: Caller(
                        account: try row.get(1), token: try row.get(0), dialect: .init(column: try row.get(3))),
                    lastUsed: try row.get(2, as: Int64?.self)
                )
            }
            if let found { try Accounts.requireUsable(found.caller.account, at: now, in: db) }
            return found
        }
        guard let found else { return nil }
        let minute = now - now % 60_000
        // The last use may have been recorded while the clock was ahead.
        if !(minute...minute + StoredTimes.tolerance ~= found.lastUsed ?? .min) {
            try await database.write { db in
                try db.run("UPDATE tokens SET last_used_at = \(minute) WHERE id = \(found.caller.token)")
            }
        }
        return found.caller
    }
}

/// A personal access token without its secret text, which was only shown once.
public struct PersonalToken: Sendable, Hashable {
    public let id: Int
    public let account: String
    public let name: String
    /// The time of creation, in milliseconds since 1970.
    public let createdAt: Int64
    /// The time of the last use, to the minute; nil when it was never used.
    public let lastUsedAt: Int64?
    /// The form of the answers to requests with it.
    public let dialect: Monica.TokenDialect
}

extension Monica.TokenDialect {
    /// Reads a column, which is null for the form of the contract.
    init(column: String?) { self = column.map(Self.init(rawValue:)) ?? .contract }
    var column: String? { self == .contract ? nil : rawValue }
}

extension MonicaService {
    /// Creates a token of an account, and the account when there is none of that name.
    ///
    /// - Parameters:
    ///   - account: The operator's name for the account; at first also its owner's name. It has 1 to 255 characters.
    ///   - name: The name by which the owner recognizes the token.
    ///   - dialect: The form of the answers that its holder gets.
    /// - Returns: The token, with 256 random bits, which is shown once.
    public func makeToken(
        account: String, email: String = "", name: String, dialect: Monica.TokenDialect = .contract, audit: Audit
    ) async throws -> String {
        let text = RandomToken.make()
        let now = time.milliseconds()
        try await database.write { [makeID] db in
            let id = try Accounts.findOrMake(account, email: email, at: now, makeID: makeID, in: db)
            try db.run(
                """
                INSERT INTO tokens (account_id, name, digest, created_at, dialect)
                VALUES (\(id), \(name), \(Digest.sha256(text)), \(now), \(dialect.column))
                """)
            try audit.record("\(name) of \(account)", in: db)
        }
        return text
    }

    /// Returns the tokens, grouped by account.
    ///
    /// - Parameter account: The name of an account; nil for all accounts.
    public func listTokens(account: String? = nil) async throws -> [PersonalToken] {
        try await database.read { db in
            let restriction: SQL = account.map { "WHERE a.name = \($0)" } ?? ""
            return try db.all(
                """
                SELECT t.id, a.name, t.name, t.created_at, t.last_used_at, t.dialect
                FROM tokens t JOIN accounts a ON a.id = t.account_id \(restriction) ORDER BY a.name, t.id
                """
            ) { row in
                PersonalToken(
                    id: try row.get(0), account: try row.get(1), name: try row.get(2), createdAt: try row.get(3),
                    lastUsedAt: try row.get(4), dialect: .init(column: try row.get(5)))
            }
        }
    }

    /// Revokes a token, within a second on every node. It returns false when there is no token with that number.
    public func revokeToken(_ id: Int, audit: Audit) async throws -> Bool {
        try await database.write { db in
            let token = try db.one(
                "SELECT t.name, a.name FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE t.id = \(id)"
            ) { "\(id): \(try $0.get(0, as: String.self)) of \(try $0.get(1, as: String.self))" }
            guard let token, try db.run("DELETE FROM tokens WHERE id = \(id)") > 0 else { return false }
            try audit.record(token, in: db)
            return true
        }
    }
}
