import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import Identity

extension GTSDService {
    func recovery(_ routes: inout Routes<GTSD, Caller>) {
        routes.open(use: forgotPassword)
        routes.open(use: resetPassword)
        routes.on(answering: changeEmail)
        routes.open(use: verifyEmail)
    }

    func forgotPassword(_ request: GTSD.ForgotPassword, _ info: RequestInfo) async throws -> APIResponse<NoData> {
        try await emails.sendReset(to: request.email.trimmed, from: info.address)
        return APIResponse(
            message: "If an account exists with this email, you will receive password reset instructions.")
    }

    func resetPassword(_ request: GTSD.ResetPassword, _ info: RequestInfo) async throws -> APIResponse<NoData> {
        let isSet = try await emails.reset(
            to: request.newPassword, by: request.token, accounts, from: info.address
        ) { [sessions] user, db in try sessions.endAll(of: user, in: db) }
        guard isSet else { throw GTSD.ResetPassword.refusal }
        return APIResponse(message: "Password reset successfully")
    }

    func changeEmail(
        _ request: GTSD.ChangeEmail, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<NoData>> {
        let token = RandomToken.make()
        try await accounts.confirm(request.password, of: caller.user, info) { [emails] now, db in
            try emails.sendChange(
                to: GTSD.SignUp.normal(request.email), of: caller.user, token: token, from: info.address,
                taken: Users.taken, at: now, in: db)
        }
        return Answer(.ok, APIResponse(message: "Verification email sent"))
    }

    func verifyEmail(_ request: GTSD.VerifyEmail, _ info: RequestInfo) async throws -> APIResponse<NoData> {
        let result = try await emails.confirmChange(request.token) { user, now, db in
            try db.run("UPDATE users SET updated_at = \(now) WHERE id = \(user)")
        }
        switch result {
        case .changed: return APIResponse(message: "Email verified successfully")
        case .refused: throw Problem(.badRequest, "Invalid or expired verification token")
        case .taken: throw Users.taken
        }
    }

    /// Sends e-mails until the task is cancelled. Each node runs it in one task; e-mails wait while no node does.
    public func listen(_ started: @escaping @Sendable () -> Void) async {
        started()
        await emails.queue.run()
    }

    /// Sends the e-mails that are due now. It is for tests.
    public func sendDueEmails() async throws { try await emails.queue.sendDue() }
}

extension Users: EmailAccountTable {
    static let emailKeyColumn: SQL? = nil
    static let verifiedColumn: SQL? = "email_verified"

    static func emailKey(_ address: String) -> String { GTSD.SignUp.normal(address) }
}
