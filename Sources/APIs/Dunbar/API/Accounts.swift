import Contract

/// What becomes of an account whose password is forgotten, or whose owner leaves. Additions to the contract.
extension Dunbar {
    static let accounts: [any Contract.Endpoint.Type] = [ForgotPassword.self, ResetPassword.self, DeleteAccount.self]

    /// `POST /forgot-password`: asks for a letter with a token for ``ResetPassword``.
    ///
    /// The answer is the same, and comes as fast, whether or not anybody has that address, and whether or not a letter is
    /// sent: a mailbox gets 5 in an hour at most. 429 after 5 in an hour for one mailbox, asked for from one address.
    public struct ForgotPassword: OpenEndpoint {
        public static let route = Route.post("/forgot-password")
        public typealias Output = Confirmation

        /// Trimmed, in any case.
        public var email: String

        public init(email: String) { self.email = email }
    }

    /// `POST /reset-password`: sets a new password by a letter's token, which verifies the address, and ends every session of
    /// the account.
    ///
    /// 400 "Invalid or expired reset token": it is good for an hour, and once.
    public struct ResetPassword: OpenEndpoint {
        public static let route = Route.post("/reset-password")
        public static let fieldsComeLast = true
        public typealias Output = Confirmation

        public var token: String
        /// 8 to 200 characters, as they are.
        public var newPassword: String

        public init(token: String, newPassword: String) {
            self.token = token
            self.newPassword = newPassword
        }

        public func validate() throws(Problem) {
            guard !token.isEmpty else { throw Self.refusal }
            try Dunbar.requireNoNUL(newPassword)
            try Dunbar.validate(password: newPassword)
        }

        /// Of a token that is unknown, was used, or is too old.
        package static let refusal = Problem(.badRequest, "Invalid or expired reset token")
    }

    /// `POST /account/delete`: the caller's account, with all that is theirs: posts, comments, follows, requests, blocks,
    /// reports, files and sessions.
    ///
    /// 400 "Invalid password"; 400 "Cannot delete admin account through this endpoint"; 429 as ``Login``.
    public struct DeleteAccount: Endpoint {
        public static let route = Route.post("/account/delete")
        public typealias Output = Confirmation

        /// The caller's.
        public var password: String

        public init(password: String) { self.password = password }

        public func validate() throws(Problem) {
            guard !password.isEmpty else { throw Problem(.badRequest, "Password is required") }
        }
    }

    static func validate(password: String) throws(Problem) {
        guard password.length >= 8 else { throw Problem(.badRequest, "Password must be at least 8 characters") }
        guard password.length <= 200 else { throw Problem(.badRequest, "Password must be at most 200 characters") }
    }
}
