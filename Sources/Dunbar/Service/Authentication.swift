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
        routes.open(use: verifyEmail)
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

    func verifyEmail(_ request: Dunbar.VerifyEmail, _ info: RequestInfo) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        try await database.write { db in
            guard let user = try LetterTokens.verification.user(of: request.token, at: now, in: db) else {
                throw Problem(.badRequest, "Invalid or expired verification token")
            }
            try db.run("UPDATE users SET is_verified = 1 WHERE id = \(user)")
        }
        return .init(message: "Email verified")
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
