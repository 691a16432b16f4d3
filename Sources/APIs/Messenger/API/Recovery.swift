import Contract

/// Forgotten passwords and other e-mail addresses: additions to the contract.
extension Messenger {
    static let recovery = Section(
        "Recovery", [ForgotPassword.self, ResetPassword.self, ChangeEmail.self, VerifyEmail.self])

    /// `POST /auth/forgot-password`: requests an e-mail with a token for ``ResetPassword``.
    ///
    /// The answer and its timing are the same whether or not a user has that address, and whether or not an e-mail is sent:
    /// an address gets at most 5 in an hour. Throws 429 after 5 requests in an hour for one address from one client.
    public struct ForgotPassword: OpenEndpoint {
        public static let route = Route.post("/auth/forgot-password", .noContent)
        public typealias Output = Empty

        /// The e-mail address, trimmed and in any case.
        public var email: String
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /auth/reset-password`: sets a new password with the token of an e-mail, and ends every session of the account,
    /// with its sockets and devices.
    ///
    /// Throws 400 "Invalid or expired reset token": a token is valid for an hour and can be used once.
    public struct ResetPassword: OpenEndpoint {
        public static let route = Route.post("/auth/reset-password", .noContent)
        public typealias Output = Empty

        /// The token of the e-mail.
        public var token: String
        /// The new password: 8 to 200 characters, used unchanged.
        public var newPassword: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !token.isEmpty else { throw Self.refusal }
            try Register.validate(password: newPassword)
        }

        /// The error for a token that is unknown, used or expired.
        package static let refusal = Problem(.badRequest, "Invalid or expired reset token")
    }

    /// `POST /me/email`: requests an e-mail to another address, with a token for ``VerifyEmail``. The present address counts
    /// until then, and is notified. Only the last address that was asked for can be verified.
    ///
    /// Throws 400 "Invalid email"; 403 "Invalid password", and 429 after too many wrong ones, as ``Login`` does; 409 when
    /// another user has the address; 429 after 5 requests in an hour for one address from one client.
    public struct ChangeEmail: Endpoint {
        public static let route = Route.post("/me/email", .noContent)
        public typealias Output = Empty

        /// The new address, as in ``Register``.
        public var email: String
        /// The account's password.
        public var password: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard EmailAddress.isValid(email.trimmed) else { throw Problem(.badRequest, "Invalid email") }
            guard !password.isEmpty else { throw Problem(.badRequest, "password required") }
        }
    }

    /// `POST /auth/verify-email`: gives an account the address to which the token was sent. Codes that set a new password and
    /// were sent to the former address end.
    ///
    /// Throws 400 "Invalid or expired verification token": a token is valid for 24 hours and can be used once; 409 when
    /// another user has got the address in the meantime.
    public struct VerifyEmail: OpenEndpoint {
        public static let route = Route.post("/auth/verify-email", .noContent)
        public typealias Output = Empty

        /// The token of the e-mail.
        public var token: String
        private init(derived: Never) { switch derived {} }
    }
}
