import Backend
import Contract
import ContractServer
import Database
import Foundation
import HTTPTypes
import Identity
import MonicaAPI

/// How an app of Monica 4 gets a token: the code flow of OAuth 2 (RFC 6749 §4.1) with PKCE (RFC 7636).
///
/// Accounts have no passwords. At the flow's page a person shows who they are with a token that they have, or with a one-time
/// code that the operator made for them.
enum SignIn {
    /// The time in milliseconds for which a one-time code is valid.
    static let codeLifetime: Int64 = 10 * 60_000
    /// The time in milliseconds for which a grant is valid: the code that a browser brings to an app.
    static let grantLifetime: Int64 = 5 * 60_000
    /// The time in milliseconds for which an app's access token is valid.
    static let tokenLifetime: Int64 = 30 * 24 * 3_600_000
    /// The time in milliseconds after which an app that has not renewed its token is signed out.
    static let renewalPeriod: Int64 = 365 * 24 * 3_600_000
    /// The time in milliseconds for which the renewal token before the present one still counts: an answer may have been lost.
    static let grace: Int64 = 60_000

    static let tables =
        SignInApp.tables + [
            """
            CREATE TABLE sign_in_codes (
                digest {BYTES} PRIMARY KEY, account_id BIGINT NOT NULL REFERENCES accounts (id),
                expires_at BIGINT NOT NULL)
            """,
            "CREATE INDEX sign_in_codes_of_account ON sign_in_codes (account_id)",
            """
            CREATE TABLE sign_in_grants (
                digest {BYTES} PRIMARY KEY, app_id BIGINT NOT NULL REFERENCES apps (id),
                account_id BIGINT NOT NULL REFERENCES accounts (id), challenge TEXT, expires_at BIGINT NOT NULL)
            """,
            "CREATE INDEX sign_in_grants_of_account ON sign_in_grants (account_id)",
            // An app's token has all of these, and no other has any.
            "ALTER TABLE tokens ADD COLUMN app_id BIGINT REFERENCES apps (id)",
            "ALTER TABLE tokens ADD COLUMN expires_at BIGINT",
            "ALTER TABLE tokens ADD COLUMN renewal {BYTES}",
            "ALTER TABLE tokens ADD COLUMN former_renewal {BYTES}",
            "ALTER TABLE tokens ADD COLUMN renewed_at BIGINT",
            "CREATE INDEX tokens_of_app ON tokens (app_id)",
            "CREATE UNIQUE INDEX tokens_renewal ON tokens (renewal)",
            "CREATE INDEX tokens_former_renewal ON tokens (former_renewal)",
        ]

    static let times = [
        StoredTime("sign_in_codes", "expires_at", window: codeLifetime),
        StoredTime("sign_in_grants", "expires_at", window: grantLifetime),
        StoredTime("tokens", "expires_at", window: tokenLifetime), StoredTime("tokens", "renewed_at"),
    ]

    /// Deletes what has expired.
    static func sweep(at now: Int64, in db: Session) throws {
        for table: SQL in ["sign_in_codes", "sign_in_grants"] {
            try db.run("DELETE FROM \(table) WHERE expires_at <= \(now)")
        }
        try db.run("DELETE FROM tokens WHERE renewed_at <= \(now - renewalPeriod)")
    }

    /// Returns the account that a one-time code, which is used by it, or a token belongs to; nil when it is neither.
    static func account(of secret: String, at now: Int64, in db: Session) throws -> AccountID? {
        let code = TypedCode.digest(of: secret)
        let account: AccountID? = try db.value(
            "SELECT account_id FROM sign_in_codes WHERE digest = \(code) AND expires_at > \(now)")
        // Of two requests with one code the second finds it used.
        if let account, try db.run("DELETE FROM sign_in_codes WHERE digest = \(code)") > 0 { return account }
        return try db.value(
            """
            SELECT account_id FROM tokens WHERE digest = \(Digest.sha256(secret))
                AND (expires_at IS NULL OR expires_at > \(now))
            """)
    }

    /// Deletes what would sign in to an account.
    static func forget(_ account: AccountID, in db: Session) throws {
        for table: SQL in ["sign_in_codes", "sign_in_grants"] {
            try db.run("DELETE FROM \(table) WHERE account_id = \(account)")
        }
    }
}

extension MonicaService {
    /// Makes a code with which the owner of an account signs in to an app once, within 10 minutes.
    ///
    /// - Returns: The code, which is shown once; nil when there is no such account.
    public func makeSignInCode(for account: String, audit: Audit) async throws -> String? {
        let (code, now) = (TypedCode.make(), time.milliseconds())
        return try await database.write { db in
            guard let id = try Accounts.find(account, in: db) else { return nil }
            try SignIn.forget(id, in: db)
            try db.run(
                """
                INSERT INTO sign_in_codes (digest, account_id, expires_at)
                VALUES (\(TypedCode.digest(of: code)), \(id), \(now + SignIn.codeLifetime))
                """)
            try audit.record(account, in: db)
            return code
        }
    }

    func signIn(_ routes: inout Routes<Monica, Caller>) {
        routes.form(.get, "/oauth/authorize") { try await self.authorize($0, isSent: false) }
        routes.form(.post, "/oauth/authorize") { try await self.authorize($0, isSent: true) }
        routes.form(.post, "/oauth/token") { request in
            do {
                return try await self.issueToken(request)
            } catch let refusal as OAuthError {
                return try refusal.answer
            }
        }
    }

    // MARK: The page

    /// Shows the page at which a person signs in to an app, or takes what they have entered there.
    private func authorize(_ request: FormRequest, isSent: Bool) async throws -> Answer<Empty> {
        guard let clientID = request["client_id"], let app = try await app(clientID) else {
            return SignInPage.failure("This server does not know the app. Its operator registers apps.")
        }
        guard request["redirect_uri"] ?? app.redirect == app.redirect else {
            return SignInPage.failure(
                "The app asks to be answered at another address than the one it was registered with.")
        }
        let state = request["state"]
        guard state.map({ $0.utf8.count <= SignInPage.longestState }) ?? true else {
            return SignInPage.failure("The app's request is too long.")
        }
        func back(_ items: [(String, String)]) -> Answer<Empty> {
            let items = items + (state.map { [("state", $0)] } ?? [])
            let query = items.map { "\($0.0)=\(RequestCoding.percentEncoded($0.1))" }.joined(separator: "&")
            let url = app.redirect + (app.redirect.contains("?") ? "&" : "?") + query
            return Answer(.seeOther, encoded: [], headers: [.location: url, .cacheControl: "no-store"])
        }
        guard request["response_type"] == "code" else { return back([("error", "unsupported_response_type")]) }
        let challenge = request["code_challenge"]
        let isChallenge = challenge.map { $0.utf8.count == 43 && request["code_challenge_method"] == "S256" }
        guard isChallenge ?? (app.secret != nil) else { return back([("error", "invalid_request")]) }

        guard isSent else { return SignInPage.page(for: app, request, mistake: nil) }
        if request["cancel"] != nil { return back([("error", "access_denied")]) }
        let grant = RandomToken.make()
        let secret = request["secret"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard try await grantAccess(by: secret, to: app, challenge, grant) else {
            if try await tokens.isOverLimit(ofWrong: request.info) {
                return SignInPage.failure("There were too many attempts. Try again in a minute.", .tooManyRequests)
            }
            return SignInPage.page(
                for: app, request, mistake: "This is neither a token nor a code that is valid. A code is valid once.")
        }
        return back([("code", grant)])
    }

    private func app(_ clientID: String) async throws -> SignInApp? {
        try await database.read { try SignInApp.find(clientID, in: $0) }
    }

    /// Stores a grant for the account that a secret belongs to. It returns false when the secret is none.
    private func grantAccess(
        by secret: String, to app: SignInApp, _ challenge: String?, _ grant: String
    ) async throws -> Bool {
        let now = time.milliseconds()
        return try await database.write { db in
            guard let account = try SignIn.account(of: secret, at: now, in: db) else { return false }
            try Accounts.requireUsable(account, at: now, in: db)
            try db.run(
                """
                INSERT INTO sign_in_grants (digest, app_id, account_id, challenge, expires_at)
                VALUES (\(Digest.sha256(grant)), \(app.id), \(account), \(challenge), \(now + SignIn.grantLifetime))
                """)
            return true
        }
    }

    // MARK: Tokens of apps

    private func issueToken(_ request: FormRequest) async throws -> Answer<Empty> {
        let (clientID, secret) = Self.credentials(request)
        guard let clientID, let app = try await app(clientID), app.secret == secret.map({ Digest.sha256($0) }) else {
            if try await tokens.isOverLimit(ofWrong: request.info) {
                throw OAuthError(.tooManyRequests, "invalid_client", "There were too many attempts.")
            }
            throw OAuthError(.unauthorized, "invalid_client", "The client id or the secret is wrong.")
        }
        let (access, renewal, now) = (RandomToken.make(), RandomToken.make(), time.milliseconds())
        let pair = (access: Digest.sha256(access), renewal: Digest.sha256(renewal))
        switch request["grant_type"] {
        case "authorization_code":
            guard request["redirect_uri"] ?? app.redirect == app.redirect else {
                throw OAuthError.invalidGrant("The redirect URI is another than that of the request.")
            }
            guard let code = request["code"] else { throw OAuthError.missing("code") }
            try await redeem(code, verifier: request["code_verifier"], for: app, pair, at: now)
        case "refresh_token":
            guard let old = request["refresh_token"] else { throw OAuthError.missing("refresh_token") }
            try await renew(old, for: app, pair, at: now)
        case nil: throw OAuthError.missing("grant_type")
        default:
            throw OAuthError(
                .badRequest, "unsupported_grant_type", "grant_type is authorization_code or refresh_token.")
        }
        let issued = IssuedAccess(accessToken: access, expiresIn: SignIn.tokenLifetime / 1000, refreshToken: renewal)
        return try OAuthError.answer(.ok, issued)
    }

    /// Returns the client id and the secret of a request: from `Authorization: Basic`, or from its fields (RFC 6749 §2.3.1).
    private static func credentials(_ request: FormRequest) -> (id: String?, secret: String?) {
        let parts = request.info.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1]))
        else {
            return (request["client_id"], request["client_secret"])
        }
        let pair = FormURLEncoded.items(
            String(decoding: data, as: UTF8.self).replacing(":", with: "=", maxReplacements: 1))
        return (pair.first?.name, pair.first?.value)
    }

    /// Exchanges a grant for a token.
    private func redeem(
        _ code: String, verifier: String?, for app: SignInApp, _ pair: (access: [UInt8], renewal: [UInt8]),
        at now: Int64
    ) async throws {
        let digest = Digest.sha256(code)
        let isRedeemed = try await database.write { db in
            let grant = try db.one(
                """
                SELECT account_id, challenge FROM sign_in_grants
                WHERE digest = \(digest) AND app_id = \(app.id) AND expires_at > \(now)
                """
            ) { (account: try $0.get(0, as: AccountID.self), challenge: try $0.get(1, as: String?.self)) }
            // A grant is used once, also where its verifier is wrong.
            guard let grant, try db.run("DELETE FROM sign_in_grants WHERE digest = \(digest)") > 0 else { return false }
            let shown = verifier.map { Base64URL.encode(Digest.sha256($0)) }
            guard grant.challenge == nil || grant.challenge == shown else { return false }
            try Accounts.requireUsable(grant.account, at: now, in: db)
            try db.run(
                """
                INSERT INTO tokens (
                    account_id, name, digest, created_at, dialect, app_id, expires_at, renewal, renewed_at)
                VALUES (\(grant.account), \(app.name), \(pair.access), \(now), \(Monica.TokenDialect.monica4.column), \(app.id),
                    \(now + SignIn.tokenLifetime), \(pair.renewal), \(now))
                """)
            return true
        }
        guard isRedeemed else { throw OAuthError.invalidGrant("The code is wrong, was used, or has expired.") }
    }

    /// Exchanges a renewal token for a new pair. One that comes again after its successor was long made has been stolen, so the
    /// app is signed out.
    private func renew(
        _ old: String, for app: SignInApp, _ pair: (access: [UInt8], renewal: [UInt8]), at now: Int64
    ) async throws {
        let digest = Digest.sha256(old)
        let isRenewed = try await database.write { db in
            let found = try db.lock(
                "id, account_id, renewal, renewed_at", from: "tokens",
                where: "app_id = \(app.id) AND (renewal = \(digest) OR former_renewal = \(digest))"
            ) { row in
                (
                    id: try row.get(0, as: Int.self), account: try row.get(1, as: AccountID.self),
                    isPresent: try row.get(2, as: [UInt8].self) == digest, renewedAt: try row.get(3, as: Int64.self)
                )
            }
            guard let found else { return false }
            guard found.renewedAt > now - SignIn.renewalPeriod,
                found.isPresent || abs(now - found.renewedAt) < SignIn.grace
            else {
                try db.run("DELETE FROM tokens WHERE id = \(found.id)")
                return false
            }
            try Accounts.requireUsable(found.account, at: now, in: db)
            try db.run(
                """
                UPDATE tokens SET digest = \(pair.access), renewal = \(pair.renewal), former_renewal = \(digest),
                    expires_at = \(now + SignIn.tokenLifetime), renewed_at = \(now)
                WHERE id = \(found.id)
                """)
            return true
        }
        guard isRenewed else { throw OAuthError.invalidGrant("The refresh token is wrong, was used, or has expired.") }
    }
}

/// The answer with an app's tokens (RFC 6749 §5.1).
private struct IssuedAccess: Encodable, Sendable {
    let tokenType = "Bearer"
    /// The time in seconds for which the access token is valid.
    let expiresIn: Int64
    let accessToken: String
    let refreshToken: String

    init(accessToken: String, expiresIn: Int64, refreshToken: String) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
    }

    private enum CodingKeys: String, CodingKey {
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }
}

/// A refusal of `POST /oauth/token` (RFC 6749 §5.2).
private struct OAuthError: Error {
    let status: HTTPResponse.Status
    let code: String
    let description: String

    init(_ status: HTTPResponse.Status, _ code: String, _ description: String) {
        self.status = status
        self.code = code
        self.description = description
    }

    static func missing(_ field: String) -> OAuthError { .init(.badRequest, "invalid_request", "\(field) is missing.") }
    static func invalidGrant(_ description: String) -> OAuthError { .init(.badRequest, "invalid_grant", description) }

    var answer: Answer<Empty> {
        get throws { try Self.answer(status, ["error": code, "error_description": description]) }
    }

    static func answer(_ status: HTTPResponse.Status, _ body: some Encodable) throws -> Answer<Empty> {
        Answer(
            status, encoded: Array(try JSONBody.encode(body).readableBytesView), headers: [.cacheControl: "no-store"])
    }
}
