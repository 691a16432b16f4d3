import Contract
import Foundation

extension Messenger {
    static let auth = Section(
        "Accounts and sessions",
        [
            Register.self, Login.self, Refresh.self, Logout.self, GetMe.self, GetAbout<Messenger>.self,
        ])

    /// `POST /auth/register`: creates an account.
    ///
    /// Throws 400 for an invalid field and for terms that must be accepted, 403 where the operator has closed the registration,
    /// asks for an invitation, or has barred the address or the network, 409 when the username or the address is taken, and 429.
    /// The session begins with `MessengerClient.signIn`.
    public struct Register: OpenEndpoint {
        public static let route = Route.post("/auth/register", .created, idempotencyKey: true)
        public typealias Output = Registered

        /// The username: 3 to 32 characters after trimming, without `@`, control characters and other invisible
        /// characters. Unique regardless of case and width.
        public var username: String
        /// The e-mail address: at most 254 characters; unique regardless of case.
        public var email: String
        /// The password: 8 to 200 characters, used unchanged.
        public var password: String
        /// The display name: at most 64 characters after trimming, without control characters and other invisible
        /// characters except joiners. The username when absent.
        public var displayName: String? = nil
        /// The version of the terms that the person accepts (`GetAbout`), at most 100 characters. It is kept with the account.
        /// A server may require it. An addition to the contract.
        public var acceptedTerms: String? = nil
        /// The code of an invitation, in upper or lower case, for a server that lets only those register who have one. An addition
        /// to the contract.
        public var invitationCode: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            let name = Register.normal(username)
            guard 3...32 ~= name.length else { throw Problem(.badRequest, "Username must be 3–32 characters") }
            guard !name.unicodeScalars.contains("@"), !username.containsHiddenCharacters else {
                throw Problem(.badRequest, "Username contains invalid characters")
            }
            guard EmailAddress.isValid(email.trimmed) else { throw Problem(.badRequest, "Invalid email") }
            try Self.validate(password: password)
            guard (displayName?.trimmed.length ?? 0) <= 64 else {
                throw Problem(.badRequest, "Display name must be at most 64 characters")
            }
            guard displayName?.containsStrayFormatting != true else {
                throw Problem(.badRequest, "Display name contains invalid characters")
            }
            guard (acceptedTerms?.length ?? 0) <= About.longestVersion else {
                throw Problem(.badRequest, "accepted_terms must be at most 100 characters")
            }
        }

        static func validate(password: String) throws(Problem) {
            guard password.length >= 8 else { throw Problem(.badRequest, "Password must be at least 8 characters") }
            guard password.length <= 200 else { throw Problem(.badRequest, "Password must be at most 200 characters") }
        }

        /// Returns a username in the form in which it is stored: trimmed, in Unicode's composed form.
        public static func normal(_ username: String) -> String {
            username.trimmed.precomposedStringWithCanonicalMapping
        }
    }

    /// A new account. Registering does not sign in.
    public struct Registered: Codable, Hashable, Sendable {
        /// The new user's id.
        public var id: User.ID
        /// The username as it is stored: trimmed, in Unicode's composed form.
        public var username: String
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /auth/login`: starts a new session.
    ///
    /// An unknown name and a wrong password get the same answer: 401 "Invalid credentials". After ten failures in a
    /// minute it is 429 with `Retry-After`.
    ///
    /// An app calls `MessengerClient.signIn`, which begins the session. Sending this request returns the tokens, and leaves
    /// the client as it was.
    public struct Login: OpenEndpoint {
        public static let route = Route.post("/auth/login")
        public typealias Output = Tokens

        /// The username or the e-mail address.
        public var username: String
        /// The password.
        public var password: String
        /// The device's name, such as "Alice's iPhone", for the user's list of sessions (``ListSessions``). What shows nothing
        /// is removed from it, and only the first 100 characters are kept. An addition to the contract.
        public var deviceName: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !username.isBlank, !password.isEmpty else {
                throw Problem(.badRequest, "username and password required")
            }
        }
    }

    /// The tokens of a new session.
    public struct Tokens: Codable, Hashable, Sendable {
        /// The token that every request carries, valid for ``expiresIn`` seconds.
        public var accessToken: String
        /// The token that gets another access token, any number of times for 30 days.
        public var refreshToken: String
        /// The type of the access token: `Bearer`.
        public var tokenType: String = "Bearer"
        /// The lifetime of the access token in seconds: 3600.
        public var expiresIn: Int
        /// The user who has signed in.
        public var user: User.ID
        private init(derived: Never, without tokenType: Never) { switch derived {} }
    }

    /// `POST /auth/refresh`: returns another access token. The refresh token stays the same and is valid for another 30
    /// days.
    ///
    /// Throws 401 "Invalid or expired refresh token". Apps do not need this operation: the SDK renews tokens by itself.
    public struct Refresh: OpenEndpoint {
        public static let route = Route.post("/auth/refresh")
        public typealias Output = RefreshedToken

        /// The session's refresh token.
        public var refreshToken: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !refreshToken.isEmpty else { throw Problem(.badRequest, "refresh_token required") }
        }
    }

    /// The result of a renewal. The refresh token stays the same.
    public struct RefreshedToken: Codable, Hashable, Sendable {
        /// The new access token.
        public var accessToken: String
        /// The type of the access token: `Bearer`.
        public var tokenType: String = "Bearer"
        /// The lifetime of the access token in seconds.
        public var expiresIn: Int
        private init(derived: Never, without tokenType: Never) { switch derived {} }
    }

    /// `POST /auth/logout`: ends a session with its access tokens and sockets. An addition to the contract. It answers
    /// 204 for any token, known or not. Apps call `MessengerClient.signOut`, which also removes the stored session.
    public struct Logout: OpenEndpoint {
        public static let route = Route.post("/auth/logout", .noContent)
        public typealias Output = Empty

        /// The refresh token of the session to end.
        public var refreshToken: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !refreshToken.isEmpty else { throw Problem(.badRequest, "refresh_token required") }
        }
    }

    /// `GET /me`: returns the caller's own account.
    public struct GetMe: Endpoint {
        public static let route = Route.get("/me")
        public typealias Output = Account

        public init() {}
    }

    /// The caller's own account.
    public struct Account: Codable, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: User.ID
        /// The username: 3 to 32 characters, without `@`.
        public var username: String
        /// The e-mail address, which no other user sees.
        public var email: String
        /// The display name; the username when no other name was given.
        public var displayName: String
        /// The user's text about themselves; nil when there is none.
        @OrNull public var bio: String?
        /// The time at which the account was created.
        public var createdAt: Timestamp
        /// The picture, downloaded like any file; nil when there is none. An addition to the contract.
        @OrNull public var avatar: File.ID?
        private init(derived: Never) { switch derived {} }

        private enum WireNames: String { case avatar = "avatar_file_id" }
    }
}
