import Contract

extension Dunbar {
    static let authentication = Section(
        "Authentication",
        [
            Login.self, Register.self, Logout.self, GetCurrentUser.self, VerifyEmail.self, ResendVerification.self,
        ])

    /// `POST /login`: begins a session, and ends the session that the request came with.
    ///
    /// Throws 401 "Invalid username or password", and 429 after 10 failures in a minute from one address.
    ///
    /// An app calls `DunbarClient.signIn`, which begins the session and returns the account.
    public struct Login: OpenEndpoint {
        public static let route = Route.post("/login")
        public typealias Output = WithRelationship<Account>

        /// The username in any case, trimmed. E-mail addresses are not accepted.
        public var username: String
        /// The password.
        public var password: String
        /// The device's name, such as "John's iPhone", for the user's list of sessions (``ListSessions``). What shows nothing is
        /// removed from it, and only the first 100 characters are kept. An addition to the contract.
        public var deviceName: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !username.isBlank, !password.isEmpty else {
                throw Problem(.badRequest, "Username and password are required")
            }
        }
    }

    /// `POST /register`: creates an account and signs in. An e-mail with a link to verify the address follows.
    ///
    /// Throws 400 "Username already exists", 400 "Email already exists", 400 for terms that must be accepted, 403 where the
    /// operator has closed the registration, asks for an invitation, or has barred the address or the network, and 429 after 20
    /// in a minute from one address.
    public struct Register: OpenEndpoint {
        public static let route = Route.post("/register", .created, in: .jsonOrMultipart(nil), idempotencyKey: true)
        public typealias Output = WithRelationship<Account>
        public static let fieldRules = [
            "password": FieldRule(lengths: 8...200),
            "confirmPassword": FieldRule("The password once more.", lengths: 8...200),
        ]

        /// The username: 1 to 50 characters, without white space and invisible characters, unique regardless of case
        /// and width. It is stored as typed.
        public var username: String
        /// The e-mail address, trimmed: at most 254 characters, unique.
        public var email: String
        /// The password: 8 to 200 characters, used unchanged.
        public var password: String
        /// The display name: 1 to 100 characters after trimming.
        public var displayName: String
        /// The second password field of a form; when it is sent, it must equal the password.
        public var confirmPassword: String? = nil
        /// The device's name, such as "John's iPhone", for the user's list of sessions (``ListSessions``). What shows nothing is
        /// removed from it, and only the first 100 characters are kept. An addition to the contract.
        public var deviceName: String? = nil
        /// The version of the terms that the person accepts (`GetAbout`), at most 100 characters. It is kept with the account.
        /// A server may require it. An addition to the contract.
        public var acceptedTerms: String? = nil
        /// The code of an invitation, in upper or lower case, for a server that lets only those register who have one. An addition
        /// to the contract.
        public var invitationCode: String? = nil
        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            username = try container.decode(String.self, forKey: .username)
            email = try container.decode(String.self, forKey: .email)
            password = try container.decode(String.self, forKey: .password)
            displayName = try container.decodeIfPresent(String.self, forKey: .displayName) ?? decoder.otherName() ?? ""
            confirmPassword = try container.decodeIfPresent(String.self, forKey: .confirmPassword)
            deviceName = try container.decodeIfPresent(String.self, forKey: .deviceName)
            acceptedTerms = try container.decodeIfPresent(String.self, forKey: .acceptedTerms)
            invitationCode = try container.decodeIfPresent(String.self, forKey: .invitationCode)
        }

        public func validate() throws(Problem) {
            guard !username.isBlank else { throw Problem(.badRequest, "Username is required") }
            guard username.length <= 50 else { throw Problem(.badRequest, "Username must be at most 50 characters") }
            guard !username.unicodeScalars.contains(where: \.properties.isWhitespace),
                !username.containsHiddenCharacters
            else {
                throw Problem(.badRequest, "Username must not contain spaces")
            }
            guard EmailAddress.isValid(email.trimmed) else { throw Problem(.badRequest, "Invalid email address") }
            try Dunbar.validate(password: password)
            guard confirmPassword == nil || confirmPassword == password else {
                throw Problem(.badRequest, "Passwords don't match")
            }
            try Dunbar.validate(displayName: displayName)
            guard (acceptedTerms?.length ?? 0) <= About.longestVersion else {
                throw Problem(.badRequest, "acceptedTerms must be at most 100 characters")
            }
        }
    }

    /// `POST /logout`: ends the session. It succeeds without one.
    public struct Logout: OpenEndpoint {
        public static let route = Route.post("/logout", mayRepeat: true)
        public typealias Output = Confirmation

        public init() {}
    }

    /// `GET /user`: returns the signed-in user, with `emailVerified`. Throws 401 "Unauthorized" when no user is signed
    /// in.
    public struct GetCurrentUser: Endpoint {
        public static let route = Route.get("/user")
        public typealias Output = WithRelationship<Account>

        public init() {}
    }

    /// `GET /verify-email/{token}`: verifies an e-mail address; it is the link in an e-mail. The link is valid for 24
    /// hours and may be used repeatedly; otherwise it answers 400 "Invalid or expired verification token". That of
    /// ``ChangeEmail`` may be used once, gives the account its new address, and answers 400 "Email already exists" when
    /// another user has got it in the meantime. An addition to the contract.
    public struct VerifyEmail: OpenEndpoint {
        public static let route = Route.get("/verify-email/{token}")
        public typealias Output = Confirmation

        /// The token of the e-mail.
        public var token: String
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /verify-email/resend`: sends the e-mail that verifies the caller's address again. The links of earlier
    /// ones stay valid for their time.
    ///
    /// Throws 400 "Email already verified", and 429 after 5 e-mails to one address in an hour. An addition to the
    /// contract.
    public struct ResendVerification: Endpoint {
        public static let route = Route.post("/verify-email/resend")
        public typealias Output = Confirmation

        public init() {}
    }

    static func validate(displayName: String) throws(Problem) {
        let name = displayName.trimmed
        guard !name.isEmpty else { throw Problem(.badRequest, "Name is required") }
        guard name.length <= 100 else { throw Problem(.badRequest, "Name must be at most 100 characters") }
        guard !displayName.containsStrayFormatting else {
            throw Problem(.badRequest, "Name contains invalid characters")
        }
    }
}

/// Alternative names of fields: `displayName` is also accepted as `name`.
private enum OtherKeys: String, CodingKey { case name }

extension Decoder {
    func otherName() throws -> String? {
        try container(keyedBy: OtherKeys.self).decodeIfPresent(String.self, forKey: .name)
    }

    func hasOtherName() throws -> Bool { try container(keyedBy: OtherKeys.self).contains(.name) }
}
