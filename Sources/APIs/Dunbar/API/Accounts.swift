import Contract

/// Reset of a forgotten password, a new password, and deletion of accounts. Additions to the contract.
extension Dunbar {
    static let accounts = Section(
        "Accounts",
        [
            ForgotPassword.self, ResetPassword.self, ChangePassword.self, ChangeEmail.self, DeleteAccount.self,
            RequestArchive.self, GetArchive.self,
        ])

    /// `POST /forgot-password`: requests an e-mail with a token for ``ResetPassword``.
    ///
    /// The answer and its timing are the same whether or not a user has that address, and whether or not an e-mail is
    /// sent: an address gets at most 5 in an hour. Throws 429 after 5 requests in an hour for one address from one
    /// client.
    public struct ForgotPassword: OpenEndpoint {
        public static let route = Route.post("/forgot-password")
        public typealias Output = Confirmation

        /// The e-mail address, trimmed and in any case.
        public var email: String
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /reset-password`: sets a new password with the token of an e-mail, which also verifies the address, and
    /// ends every session of the account.
    ///
    /// Throws 400 "Invalid or expired reset token": a token is valid for an hour and can be used once.
    public struct ResetPassword: OpenEndpoint {
        public static let route = Route.post("/reset-password")
        public static let fieldsComeLast = true
        public typealias Output = Confirmation

        /// The token of the e-mail.
        public var token: String
        /// The new password: 8 to 200 characters, used unchanged.
        public var newPassword: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !token.isEmpty else { throw Self.refusal }
            try Dunbar.requireNoNUL(newPassword)
            try Dunbar.validate(password: newPassword)
        }

        /// The error for a token that is unknown, used or expired.
        package static let refusal = Problem(.badRequest, "Invalid or expired reset token")
    }

    /// `POST /account/password`: changes the caller's password. All other sessions of the account end, and so do the codes
    /// of e-mails that set a new password; the caller's own session goes on.
    ///
    /// Throws 400 "Invalid password" for a wrong present one; 400 for a new one that ``Register`` would refuse; 429 as
    /// ``Login`` does. The new password may be the present one.
    public struct ChangePassword: Endpoint {
        public static let route = Route.post("/account/password", idempotencyKey: true)
        public typealias Output = Confirmation

        /// The present password.
        public var currentPassword: String
        /// The new password: 8 to 200 characters, used unchanged.
        public var newPassword: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !currentPassword.isEmpty else { throw Problem(.badRequest, "Password is required") }
            try Dunbar.validate(password: newPassword)
        }
    }

    /// `POST /account/email`: requests an e-mail to another address, with a link that verifies it (``VerifyEmail``). The
    /// present address counts until then, and is notified. Only the last address that was asked for can be
    /// verified.
    ///
    /// Throws 400 "Invalid password" for a wrong one; 400 "Email already exists" when another user has the address; 429 as
    /// ``Login`` does, and after 5 requests in an hour for one address from one client.
    public struct ChangeEmail: Endpoint {
        public static let route = Route.post("/account/email")
        public typealias Output = Confirmation

        /// The new address, as in ``Register``.
        public var email: String
        /// The account's password.
        public var password: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard EmailAddress.isValid(email.trimmed) else { throw Problem(.badRequest, "Invalid email address") }
            guard !password.isEmpty else { throw Problem(.badRequest, "Password is required") }
        }
    }

    /// `POST /account/delete`: deletes the caller's account with all its posts, comments, follows, requests, blocks,
    /// reports, files and sessions.
    ///
    /// Throws 400 "Invalid password"; 400 "Cannot delete admin account through this endpoint"; 429 as ``Login`` does.
    public struct DeleteAccount: Endpoint {
        public static let route = Route.post("/account/delete")
        public typealias Output = Confirmation

        /// The caller's password.
        public var password: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !password.isEmpty else { throw Problem(.badRequest, "Password is required") }
        }
    }

    static func validate(password: String) throws(Problem) {
        guard password.length >= 8 else { throw Problem(.badRequest, "Password must be at least 8 characters") }
        guard password.length <= 200 else { throw Problem(.badRequest, "Password must be at most 200 characters") }
    }
}
