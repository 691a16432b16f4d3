import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes
import Identity

extension DunbarService {
    func authentication(_ routes: inout Routes<Dunbar, Caller>) {
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
        let (key, token) = (Users.key(request.username), sessions.makeToken())
        let origin = SessionOrigin(device: request.deviceName, info)
        let user = try await accounts.signIn(
            as: key, where: "username_key = \(key)", password: request.password, info
        ) { [sessions, urls] id, now, db in
            guard let user = try Users.account(id, urls, in: db) else { throw Users.wrongSignIn }
            try sessions.begin(token, for: id, replacing: info.headers, at: now, in: db)
            try sessions.note(origin, of: token, at: now, in: db)
            return user
        }
        return Answer(.ok, WithRelationship(user.withoutVerification), headers: sessions.settingCookie(token))
    }

    func register(
        _ request: Dunbar.Register, _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        let (token, verification) = (sessions.makeToken(), RandomToken.make())
        let origin = SessionOrigin(device: request.deviceName, info)
        let applicant = Applicant(
            email: request.email, acceptedTerms: request.acceptedTerms, invitationCode: request.invitationCode)
        let flagged = settings.flaggedWords.finding(in: request)
        let answer = try await accounts.signUp(password: request.password, info, applicant: applicant, signsIn: true) {
            [sessions, emails, urls] password, now, db in
            var user = try Users.insert(request, password: password, at: now, urls, in: db)
            try Reports.Queue.flag(flagged, person: user.id, at: now, in: db)
            try sessions.begin(token, for: user.id, replacing: info.headers, at: now, in: db)
            try sessions.note(origin, of: token, at: now, in: db)
            try emails.sendVerification(
                to: request.email.trimmed, of: user.id, token: verification, at: now, in: db)
            user.message = "Please check your email to verify your account"
            return (user.id, Answer(.created, WithRelationship(user), headers: sessions.settingCookie(token)))
        }
        return answer.isReplay ? try await signIn(again: answer, by: request.password, origin, info) : answer
    }

    /// Returns the answer to a repeated registration, with a new session, because the token of the first one is not
    /// stored.
    private func signIn(
        again replay: Answer<WithRelationship<Dunbar.Account>>, by password: String, _ origin: SessionOrigin,
        _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        let (user, token) = (try replay.decoded().user.id, sessions.makeToken())
        try await accounts.signIn(to: user, password: password, info) { [sessions] now, db in
            try sessions.begin(token, for: user, replacing: info.headers, at: now, in: db)
            try sessions.note(origin, of: token, at: now, in: db)
        }
        var answer = replay
        answer.headers.append(contentsOf: sessions.settingCookie(token))
        return answer
    }

    func logout(_ request: Dunbar.Logout, _ info: RequestInfo) async throws -> Answer<Dunbar.Confirmation> {
        try await database.write { [sessions] db in try sessions.end(info.headers, in: db) }
        return Answer(.ok, .init(message: "Logged out successfully"), headers: sessions.clearingCookie)
    }

    func getCurrentUser(
        _ request: Dunbar.GetCurrentUser, from caller: Caller
    ) async throws -> WithRelationship<Dunbar.Account> {
        let user = try await database.read { [urls] in try Users.account(caller.user, urls, in: $0) }
        guard let user else { throw Self.unauthorized }
        return WithRelationship(user)
    }

    func verifyEmail(
        _ request: Dunbar.VerifyEmail, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        var isVerified = try await emails.verify(request.token)
        if !isVerified {
            switch try await emails.confirmChange(request.token) {
            case .changed: isVerified = true
            case .refused: break
            case .taken where info.wantsPage: break
            case .taken: throw Users.takenEmail
            }
        }
        if info.wantsPage {
            return WebPage.verification(isVerified: isVerified).answer(isVerified ? .ok : .badRequest)
        }
        guard isVerified else { throw Problem(.badRequest, "Invalid or expired verification token") }
        return Answer(.ok, .init(message: "Email verified"), headers: WebPage.headers)
    }

    func resendVerification(
        _ request: Dunbar.ResendVerification, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let (now, token) = (time.milliseconds(), RandomToken.make())
        try await database.write { [emails, urls] db in
            try Users.lockCaller(caller.user, in: db)
            guard let user = try Users.account(caller.user, urls, in: db) else { throw Users.gone }
            guard user.emailVerified != true else { throw Problem(.badRequest, "Email already verified") }
            try emails.sendVerificationAgain(
                to: user.email, of: user.id, token: token, from: info.address, at: now, in: db)
        }
        return Answer(.ok, .init(message: "Verification email sent"))
    }
}

extension Dunbar.Account {
    /// The account as it is shown by every operation except "get current user".
    var withoutVerification: Self {
        var copy = self
        copy.emailVerified = nil
        return copy
    }
}

extension WebPage {
    /// Returns the page that a browser shows when it opens the link of an e-mail.
    fileprivate static func verification(isVerified: Bool) -> WebPage {
        let (title, text) =
            isVerified
            ? ("Email verified", "Thank you. Your email address is verified; you can go back to the app.")
            : (
                "This link is no longer good",
                "It has expired, or it is not complete. The app can send you another one."
            )
        return WebPage(
            title,
            content: """
                <h1>\(title)</h1>
                <p>\(text)</p>
                """)
    }
}
