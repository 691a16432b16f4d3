import Contract
import Foundation

extension Messenger {
    static let auth: [any Contract.Endpoint.Type] = [
        Register.self, Login.self, Refresh.self, Logout.self, GetMe.self,
    ]

    /// `POST /auth/register`: makes an account.
    ///
    /// Refused with 400 for a field, 409 when the name or the address is taken, 429.
    public struct Register: OpenEndpoint {
        public static let route = Route.post("/auth/register", .created, idempotencyKey: true)
        public typealias Output = Registered

        /// 3 to 32 characters after trimming, without `@`, control characters and others that nobody sees; unique without
        /// regard to case and width.
        public var username: String
        /// At most 254 characters, an address that a letter could be sent to; unique without regard to case.
        public var email: String
        /// 8 to 200 characters, taken as it is.
        public var password: String
        /// At most 64 characters after trimming, none of them a control character or another that nobody sees, but for
        /// joiners; the username when absent.
        public var displayName: String?

        public init(username: String, email: String, password: String, displayName: String? = nil) {
            self.username = username
            self.email = email
            self.password = password
            self.displayName = displayName
        }

        public func validate() throws(Problem) {
            let name = Register.normal(username)
            guard 3...32 ~= name.length else { throw Problem(.badRequest, "Username must be 3–32 characters") }
            guard !name.unicodeScalars.contains("@"), !username.containsHiddenCharacters else {
                throw Problem(.badRequest, "Username contains invalid characters")
            }
            guard EmailAddress.isValid(email.trimmed) else { throw Problem(.badRequest, "Invalid email") }
            guard password.length >= 8 else { throw Problem(.badRequest, "Password must be at least 8 characters") }
            guard password.length <= 200 else { throw Problem(.badRequest, "Password must be at most 200 characters") }
            guard (displayName?.trimmed.length ?? 0) <= 64 else {
                throw Problem(.badRequest, "Display name must be at most 64 characters")
            }
            guard displayName?.containsStrayFormatting != true else {
                throw Problem(.badRequest, "Display name contains invalid characters")
            }
        }

        /// A username as it is kept: trimmed, in Unicode's composed form.
        public static func normal(_ username: String) -> String {
            username.trimmed.precomposedStringWithCanonicalMapping
        }

        enum CodingKeys: String, CodingKey {
            case username, email, password
            case displayName = "display_name"
        }
    }

    /// A new account. It is not signed in yet.
    public struct Registered: Codable, Hashable, Sendable {
        public var id: User.ID
        /// As it is kept: trimmed, in Unicode's composed form.
        public var username: String

        public init(id: User.ID, username: String) {
            self.id = id
            self.username = username
        }
    }

    /// `POST /auth/login`: starts a session of its own.
    ///
    /// An unknown name and a wrong password answer alike: 401 "Invalid credentials". After ten of them in a minute 429,
    /// with `Retry-After`. Apps call `MessengerClient.signIn`, which keeps the session.
    public struct Login: OpenEndpoint {
        public static let route = Route.post("/auth/login")
        public typealias Output = Tokens

        /// The username, or the e-mail address.
        public var username: String
        public var password: String

        public init(username: String, password: String) {
            self.username = username
            self.password = password
        }

        public func validate() throws(Problem) {
            guard !username.isBlank, !password.isEmpty else {
                throw Problem(.badRequest, "username and password required")
            }
        }
    }

    /// What a sign-in gives.
    public struct Tokens: Codable, Hashable, Sendable {
        /// Goes with every request, good for ``expiresIn`` seconds.
        public var accessToken: String
        /// Gets another access token, for 30 days, any number of times.
        public var refreshToken: String
        /// `Bearer`
        public var tokenType: String
        /// Seconds until the access token expires: 3600.
        public var expiresIn: Int
        /// Who has signed in.
        public var user: User.ID

        public init(accessToken: String, refreshToken: String, expiresIn: Int, user: User.ID) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.tokenType = "Bearer"
            self.expiresIn = expiresIn
            self.user = user
        }

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case refreshToken = "refresh_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
            case user = "user_id"
        }
    }

    /// `POST /auth/refresh`: another access token. The refresh token stays as it is, and good for 30 days.
    ///
    /// 401 "Invalid or expired refresh token". Apps have no need of it: the SDK does it by itself.
    public struct Refresh: OpenEndpoint {
        public static let route = Route.post("/auth/refresh")
        public typealias Output = RefreshedToken

        public var refreshToken: String

        public init(refreshToken: String) { self.refreshToken = refreshToken }

        public func validate() throws(Problem) {
            guard !refreshToken.isEmpty else { throw Problem(.badRequest, "refresh_token required") }
        }

        enum CodingKeys: String, CodingKey { case refreshToken = "refresh_token" }
    }

    /// What a renewal gives. The refresh token is the old one.
    public struct RefreshedToken: Codable, Hashable, Sendable {
        public var accessToken: String
        /// `Bearer`
        public var tokenType: String
        /// Seconds until the access token expires.
        public var expiresIn: Int

        public init(accessToken: String, expiresIn: Int) {
            self.accessToken = accessToken
            self.tokenType = "Bearer"
            self.expiresIn = expiresIn
        }

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
        }
    }

    /// `POST /auth/logout`: ends a session, with its access tokens and sockets. An addition to the contract; 204 for any
    /// token, known or not. Apps call `MessengerClient.signOut`, which forgets the session too.
    public struct Logout: OpenEndpoint {
        public static let route = Route.post("/auth/logout", .noContent)
        public typealias Output = Empty

        public var refreshToken: String

        public init(refreshToken: String) { self.refreshToken = refreshToken }

        public func validate() throws(Problem) {
            guard !refreshToken.isEmpty else { throw Problem(.badRequest, "refresh_token required") }
        }

        enum CodingKeys: String, CodingKey { case refreshToken = "refresh_token" }
    }

    /// `GET /me`: the caller's own account.
    public struct GetMe: Endpoint {
        public static let route = Route.get("/me")
        public typealias Output = Account

        public init() {}
    }

    /// One's own account.
    public struct Account: Codable, Hashable, Sendable, Identifiable {
        public var id: User.ID
        /// 3 to 32 characters, without `@`.
        public var username: String
        public var email: String
        /// The username, where no other name was given.
        public var displayName: String
        /// Nil when there is none.
        @OrNull public var bio: String?
        public var createdAt: Timestamp
        /// The picture, to be fetched like any file; nil when there is none. An addition to the contract.
        @OrNull public var avatar: File.ID?

        public init(
            id: User.ID, username: String, email: String, displayName: String, bio: String?, createdAt: Timestamp,
            avatar: File.ID?
        ) {
            self.id = id
            self.username = username
            self.email = email
            self.displayName = displayName
            self.bio = bio
            self.createdAt = createdAt
            self.avatar = avatar
        }

        enum CodingKeys: String, CodingKey {
            case id, username, email
            case displayName = "display_name"
            case bio
            case createdAt = "created_at"
            case avatar = "avatar_file_id"
        }
    }
}
