import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import MessengerAPI

extension MessengerService {
    func auth(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.open(answering: register)
        routes.open(use: login)
        routes.open(use: refresh)
        routes.open(use: logout)
        routes.on(use: getMe)
    }

    func register(
        _ request: Messenger.Register, _ info: RequestInfo
    ) async throws -> Answer<Messenger.Registered> {
        let applicant = Applicant(
            email: request.email, acceptedTerms: request.acceptedTerms, invitationCode: request.invitationCode)
        let flagged = settings.flaggedWords.finding(in: request)
        return try await accounts.signUp(password: request.password, info, applicant: applicant, signsIn: false) {
            password, now, db in
            let user = try Users.insert(request, password: password, at: now, in: db)
            try Reports.Queue.flag(flagged, person: user.id, at: now, in: db)
            return (user.id, Answer(.created, user))
        }
    }

    func login(_ request: Messenger.Login, _ info: RequestInfo) async throws -> Messenger.Tokens {
        let (session, rules) = (RandomToken.make(bytes: 16), sessions.rules)
        let (key, origin) = (Users.key(request.username), SessionOrigin(device: request.deviceName, info))
        let (user, refreshToken) = try await accounts.signIn(
            as: key, where: Users.signsIn(as: key), password: request.password, info,
            prepare: { try await sessions.sign("refresh", for: $0, session: session, lifetime: rules.refresh) },
            begin: { [sessions] user, refreshToken, now, db in
                try Sessions.insert(session, of: user, refreshToken: refreshToken, at: now, in: db)
                try sessions.note(origin, of: session, at: now, in: db)
                return (user, refreshToken)
            })
        return Messenger.Tokens(
            accessToken: try await sessions.accessToken(for: user, session: session), refreshToken: refreshToken,
            expiresIn: Int(rules.access), user: user)
    }

    func refresh(_ request: Messenger.Refresh, _ info: RequestInfo) async throws -> Messenger.RefreshedToken {
        let invalid = Problem(.unauthorized, "Invalid or expired refresh token")
        guard let (kind, caller) = await sessions.claims(of: request.refreshToken), kind == "refresh" else {
            throw invalid
        }
        let now = time.milliseconds()
        let isOpen = try await database.read { db in
            guard try Sessions.isOpen(caller.session, refreshToken: request.refreshToken, at: now, in: db) else {
                return false
            }
            try Users.requireUsable(caller.user, at: now, in: db)
            return true
        }
        guard isOpen else { throw invalid }
        // The renewal succeeds where this cannot be noted now.
        try? await database.write { [sessions] db in
            try sessions.noteUse(of: caller.session, from: info.address, at: now, in: db)
        }
        let token = try await sessions.accessToken(for: caller.user, session: caller.session)
        return .init(accessToken: token, expiresIn: Int(sessions.rules.access))
    }

    func logout(_ request: Messenger.Logout, _ info: RequestInfo) async throws -> Empty {
        try await database.write { db in
            guard let session = try Sessions.one(of: request.refreshToken, in: db) else { return }
            try self.sessions.end(session, in: db)
            self.announce(.sessionEnded(session), as: nil, in: db)
        }
        return Empty()
    }

    func getMe(_ request: Messenger.GetMe, from user: Messenger.User.ID) async throws -> Messenger.Account {
        let account = try await database.read { try $0.finish(Users.account(user)) }
        guard let account else { throw Sessions.invalidToken }
        return account
    }
}
