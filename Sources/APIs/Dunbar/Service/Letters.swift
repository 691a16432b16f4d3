import Backend
import Database
import DunbarAPI
import Identity
import Mail

/// The letters of the API, as they wait to be sent.
enum LetterJob: Codable, Sendable {
    /// To who has registered, with the token of the link.
    case verification(address: String, token: String)
    /// To whoever has an address that somebody typed: it is looked up when the letter is composed, so that nobody can tell
    /// from the answer whether there is an account.
    case reset(typed: String)
}

/// Makes letters of what waits.
struct LetterWriter: Sendable {
    let database: Database
    let urls: PublicURLs
    let time: TimeSource

    /// Nil for one that is of no use (any more): its account is gone, or there never was one.
    func compose(_ job: LetterJob) async throws -> MailMessage? {
        let now = time.milliseconds()
        switch job {
        case .verification(let address, let token):
            let isGood = try await database.read {
                try LetterTokens.verification.user(of: token, at: now, in: $0) != nil
            }
            return isGood ? .verification(of: address, link: urls.verification(token)) : nil
        case .reset(let typed):
            let account = try await database.read { try Users.address(typed, in: $0) }
            guard let account else { return nil }
            // Another one each time: what was sent before, and may have arrived, stays good.
            let token = RandomToken.make()
            let isThere = try await database.write { db in
                guard try Users.queue(account.id, in: db) else { return false }
                try LetterTokens.reset.insert(token, of: account.id, at: now, in: db)
                return true
            }
            return isThere ? .reset(of: account.email, token: token) : nil
        }
    }
}

extension MailMessage {
    // In plain ASCII, so that any mail program shows links and codes whole.

    fileprivate static func verification(of address: String, link: String) -> MailMessage {
        MailMessage(
            from: "Dunbar", to: address, subject: "Verify your email address",
            text: """
                Welcome to Dunbar!

                Please verify your email address by opening this link:

                \(link)

                The link is good for 24 hours. If you did not register, you can ignore this message.
                """)
    }

    fileprivate static func reset(of address: String, token: String) -> MailMessage {
        MailMessage(
            from: "Dunbar", to: address, subject: "Reset your password",
            text: """
                Somebody, probably you, asked to reset the password of your Dunbar account.

                Enter this code in the app, with your new password:

                \(token)

                The code is good for one hour, and once. You will be signed out everywhere. If it was not you, you can
                ignore this message: your password stays as it is.
                """)
    }
}

/// What letters hand out: random, and kept as a hash alone.
struct LetterTokens: Sendable {
    private let table: SQL
    /// In milliseconds.
    private let lifetime: Int64

    /// Verify an address.
    static let verification = LetterTokens(table: "email_tokens", lifetime: 24 * 3_600_000)
    /// Set a new password.
    static let reset = LetterTokens(table: "reset_tokens", lifetime: 3_600_000)

    func insert(_ token: String, of user: Dunbar.User.ID, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO \(table) (hash, user_id, expires_at)
            VALUES (\(Digest.sha256(token)), \(user), \(now + lifetime))
            """)
    }

    func user(of token: String, at now: Int64, in db: Session) throws -> Dunbar.User.ID? {
        try db.value("SELECT user_id FROM \(table) WHERE hash = \(Digest.sha256(token)) AND expires_at > \(now)")
    }

    func deleteAll(of user: Dunbar.User.ID, in db: Session) throws {
        try db.run("DELETE FROM \(table) WHERE user_id = \(user)")
    }

    func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM \(table) WHERE expires_at <= \(now)")
    }
}
