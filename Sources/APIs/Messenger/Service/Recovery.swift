import Backend
import Contract
import ContractServer
import Database
import Identity
import MessengerAPI

extension MessengerService {
    func recovery(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.open(use: forgotPassword)
        routes.open(use: resetPassword)
        routes.on(answering: changeEmail)
        routes.open(use: verifyEmail)
    }

    func forgotPassword(_ request: Messenger.ForgotPassword, _ info: RequestInfo) async throws -> Empty {
        try await emails.sendReset(to: request.email.trimmed, from: info.address)
        return Empty()
    }

    func resetPassword(_ request: Messenger.ResetPassword, _ info: RequestInfo) async throws -> Empty {
        let isSet = try await emails.reset(
            to: request.newPassword, by: request.token, accounts, from: info.address
        ) { user, db in
            for session in try self.sessions.endAll(of: user, in: db) {
                self.announce(.sessionEnded(session), as: nil, in: db)
            }
        }
        guard isSet else { throw Messenger.ResetPassword.refusal }
        return Empty()
    }

    func changeEmail(
        _ request: Messenger.ChangeEmail, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        let token = RandomToken.make()
        try await accounts.confirm(request.password, of: caller, info) { [emails] now, db in
            try emails.sendChange(
                to: request.email.trimmed, of: caller, token: token, from: info.address, taken: Users.taken, at: now,
                in: db)
        }
        return Answer(.noContent, Empty())
    }

    func verifyEmail(_ request: Messenger.VerifyEmail, _ info: RequestInfo) async throws -> Empty {
        switch try await emails.confirmChange(request.token) {
        case .changed: return Empty()
        case .refused: throw Problem(.badRequest, "Invalid or expired verification token")
        case .taken: throw Users.taken
        }
    }

    /// Sends the e-mails that are due now. It is for tests.
    public func sendDueEmails() async throws { try await emails.queue.sendDue() }
}

extension Users: EmailAccountTable {
    static let verifiedColumn: SQL? = nil

    static func emailKey(_ address: String) -> String { key(address) }
}
