import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import Foundation
import HTTPTypes
import Identity

extension DunbarService {
    func authentication(_ routes: inout Routes<Dunbar, Viewer>) {
        routes.open(answering: login)
        routes.open(answering: register)
        routes.open(answering: logout)
        routes.on(use: getCurrentUser)
        routes.open(answering: verifyEmail)
        routes.on(answering: resendVerification)
    }

    func login(
        _ request: Dunbar.Login, _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        let now = time.milliseconds()
        let refused = Problem(.unauthorized, "Invalid username or password")
        let token = sessions.makeToken()
        let user = try await gate.judge(
            request.password, from: info.address, at: now, refusal: refused,
            find: { db in
                let account = try Users.credentials(request.username, in: db)
                let name =
                    account.map { Users.attemptsName($0.id) } ?? Users.attemptsName(Users.key(request.username))
                return .init(account, countedAs: name, password: account?.password)
            },
            proceed: { account, admission in
                try await database.write { [sessions, urls] db in
                    // Whoever deletes the account or sets a new password ends this session too, or it does not begin.
                    guard try Users.queue(account.id, in: db),
                        try Users.password(of: account.id, in: db) == account.password,
                        let user = try Users.account(account.id, urls, in: db)
                    else { throw refused }
                    try sessions.begin(token, for: account.id, instead: info.headers, at: now, in: db)
                    try admission.settle(at: now, in: db)
                    return user
                }
            })
        return Answer(.ok, WithRelationship(user.withoutVerification), headers: sessions.handingOut(token))
    }

    func register(
        _ request: Dunbar.Register, _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        typealias Output = WithRelationship<Dunbar.Account>
        let now = time.milliseconds()
        if let replay = try await database.replay(info.once, phrases: Dunbar.phrases, at: now, as: Output.self) {
            return try await signIn(again: replay, by: request.password, info, at: now)
        }
        try await database.write { [attempts] db in try attempts.register(from: info.address, at: now, in: db) }
        let password = try await gate.hash(request.password, from: info.address)
        let (session, verification) = (sessions.makeToken(), RandomToken.make())
        let answer = try await database.write(info.once, phrases: Dunbar.phrases, at: now) {
            [attempts, sessions, outbox, urls] db in
            var user = try Users.insert(request, password: password, at: now, urls, in: db)
            try sessions.begin(session, for: user.id, instead: info.headers, at: now, in: db)
            try attempts.welcome(info.address, to: Users.attemptsName(user.id), at: now, in: db)
            try OnceOnly.note(info.once, about: [Self.callerName(user.id)], at: now, in: db)
            try LetterTokens.verification.insert(verification, of: user.id, at: now, in: db)
            try outbox.post(
                .verification(address: request.email.trimmed, token: verification), at: now, in: db)
            user.message = "Please check your email to verify your account"
            return Answer(.created, WithRelationship(user), headers: sessions.handingOut(session))
        }
        // A repeat that came meanwhile was faster, or this one was written before its connection was lost.
        return answer.isReplay
            ? try await signIn(again: answer, by: request.password, info, at: now) : answer
    }

    /// The answer to a repeated registration, with a session of its own: nothing keeps the first one's token.
    private func signIn(
        again replay: Answer<WithRelationship<Dunbar.Account>>, by password: String, _ info: RequestInfo, at now: Int64
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        guard case .encoded(let body) = replay.content else { return replay }
        let user = try JSONDecoder().decode(WithRelationship<Dunbar.Account>.self, from: Data(body)).user.id
        let token = sessions.makeToken()
        // It signs in, so its password must still be the account's.
        try await gate.judge(
            password, from: info.address, at: now, refusal: Self.unauthorized,
            find: { db in
                let known = try Users.password(of: user, in: db)
                return .init(known, countedAs: Users.attemptsName(user), password: known)
            },
            proceed: { known, admission in
                try await database.write { [sessions] db in
                    guard try Users.queue(user, in: db), try Users.password(of: user, in: db) == known else {
                        throw Self.unauthorized
                    }
                    try sessions.begin(token, for: user, instead: info.headers, at: now, in: db)
                    try admission.settle(at: now, in: db)
                }
            })
        var answer = replay
        answer.headers.append(contentsOf: sessions.handingOut(token))
        return answer
    }

    func logout(_ request: Dunbar.Logout, _ info: RequestInfo) async throws -> Answer<Dunbar.Confirmation> {
        try await database.write { [sessions] db in try sessions.end(info.headers, in: db) }
        return Answer(.ok, .init(message: "Logged out successfully"), headers: sessions.takingBack)
    }

    func getCurrentUser(
        _ request: Dunbar.GetCurrentUser, from viewer: Viewer
    ) async throws -> WithRelationship<Dunbar.Account> {
        let user = try await database.read { [urls] in try Users.account(viewer.user, urls, in: $0) }
        guard let user else { throw Self.unauthorized }
        return WithRelationship(user)
    }

    func verifyEmail(
        _ request: Dunbar.VerifyEmail, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        let refused = Problem(.badRequest, "Invalid or expired verification token")
        let isVerified = try await database.write { db in
            guard let user = try LetterTokens.verification.user(of: request.token, at: now, in: db) else {
                return false
            }
            try db.run("UPDATE users SET is_verified = 1 WHERE id = \(user)")
            return true
        }
        if info.wantsPage { return VerificationPage(isVerified: isVerified).answer }
        guard isVerified else { throw refused }
        return Answer(.ok, .init(message: "Email verified"), headers: VerificationPage.headers)
    }

    func resendVerification(
        _ request: Dunbar.ResendVerification, from viewer: Viewer, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let (now, token) = (time.milliseconds(), RandomToken.make())
        try await database.write { [attempts, outbox, urls] db in
            guard try Users.queue(viewer.user, in: db), let user = try Users.account(viewer.user, urls, in: db) else {
                throw Self.unauthorized
            }
            guard user.emailVerified != true else { throw Problem(.badRequest, "Email already verified") }
            // The mailbox may be somebody else's, who is not to be flooded either.
            guard try attempts.remind(Users.key(user.email), from: info.address, at: now, in: db) else { return }
            try LetterTokens.verification.insert(token, of: user.id, at: now, in: db)
            try outbox.post(.verification(address: user.email, token: token), at: now, in: db)
        }
        return Answer(.ok, .init(message: "Verification email sent"))
    }
}

extension Answer {
    fileprivate var isReplay: Bool { headers[.idempotentReplayed] != nil }
}

extension Dunbar.Account {
    /// As every operation but one shows it.
    var withoutVerification: Self {
        var copy = self
        copy.emailVerified = nil
        return copy
    }
}

/// What a browser shows that opens the link of a letter.
private struct VerificationPage {
    let isVerified: Bool

    /// The same path has two answers, and its token is nobody else's affair.
    static let headers: HTTPFields = [.vary: "Accept", .cacheControl: "no-store", .referrerPolicy: "no-referrer"]

    var answer: Answer<Dunbar.Confirmation> {
        let (title, text) =
            isVerified
            ? ("Email verified", "Thank you. Your email address is verified; you can go back to the app.")
            : (
                "This link is no longer good",
                "It has expired, or it is not complete. The app can send you another one."
            )
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem }
            @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }</style>
            </head>
            <body>
            <h1>\(title)</h1>
            <p>\(text)</p>
            </body>
            </html>

            """
        var headers = Self.headers
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'"
        headers[.xContentTypeOptions] = "nosniff"
        return Answer(isVerified ? .ok : .badRequest, encoded: Array(html.utf8), headers: headers)
    }
}

extension RequestInfo {
    /// Whether a browser asks, to show what is answered. Apps and scripts do not name HTML.
    fileprivate var wantsPage: Bool { headers[.accept]?.lowercased().contains("text/html") == true }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
}
