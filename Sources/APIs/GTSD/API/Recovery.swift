import Contract

/// Forgotten passwords and other e-mail addresses. Additions to the contract.
extension GTSD {
    static let recovery = Section(
        "Recovery", [ForgotPassword.self, ResetPassword.self, ChangeEmail.self, VerifyEmail.self])

    /// `POST /auth/forgot-password`: requests an e-mail with a token for ``ResetPassword``.
    ///
    /// The answer and its timing are the same whether or not a user has that address, and whether or not an e-mail is sent:
    /// an address gets at most 5 in an hour, a deactivated account none. Throws 429 after 5 requests in an hour for one
    /// address from one client.
    public struct ForgotPassword: OpenEndpoint {
        public static let route = Route.post("/auth/forgot-password")
        public typealias Output = APIResponse<NoData>

        /// The e-mail address, in any case.
        public var email: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "email", .string, absent: Validation.required, "Invalid email format",
                unless: SignUp.isAddress(SignUp.normal(email)))
        }
    }

    /// `POST /auth/reset-password`: sets a new password with the token of an e-mail, which also verifies the address, and
    /// ends every session of the account.
    ///
    /// Throws 400 "Invalid or expired reset token": a token is valid for an hour and can be used once.
    public struct ResetPassword: OpenEndpoint {
        public static let route = Route.post("/auth/reset-password")
        public typealias Output = APIResponse<NoData>
        public static let fieldRules = ["newPassword": Password.rule]

        /// The token of the e-mail.
        public var token: String
        /// The new password, under the rules of ``Password``: 8 to 200 characters.
        public var newPassword: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field("token", .string, absent: Validation.required, "Token is required", unless: !token.isEmpty)
            form.field("newPassword", .string, absent: Validation.required) { Password.mistakes(newPassword) }
        }

        /// The error for a token that is unknown, used or expired.
        package static let refusal = Problem(.badRequest, "Invalid or expired reset token")
    }

    /// `POST /auth/email`: requests an e-mail to another address, with a token for ``VerifyEmail``. The present address
    /// counts until then, and is notified. Only the last address that was asked for can be verified. With the
    /// present address it verifies that.
    ///
    /// Throws 403 "Invalid password", and 429 after too many wrong ones, as ``LogIn`` does; 409 when another user has the
    /// address; 429 after 5 requests in an hour for one address from one client.
    public struct ChangeEmail: Endpoint {
        public static let route = Route.post("/auth/email")
        public typealias Output = APIResponse<NoData>

        /// The new address, as in ``SignUp``.
        public var email: String
        /// The account's password.
        public var password: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "email", .string, absent: Validation.required, "Invalid email format",
                unless: SignUp.isAddress(SignUp.normal(email)))
            form.field(
                "password", .string, absent: Validation.required, "Password is required", unless: !password.isEmpty)
        }
    }

    /// `POST /auth/verify-email`: gives an account the address to which the token was sent, verified. Codes that set a new
    /// password and were sent to the former address end.
    ///
    /// Throws 400 "Invalid or expired verification token": a token is valid for 24 hours and can be used once; 409 when
    /// another user has got the address in the meantime.
    public struct VerifyEmail: OpenEndpoint {
        public static let route = Route.post("/auth/verify-email")
        public typealias Output = APIResponse<NoData>

        /// The token of the e-mail.
        public var token: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field("token", .string, absent: Validation.required, "Token is required", unless: !token.isEmpty)
        }
    }
}
