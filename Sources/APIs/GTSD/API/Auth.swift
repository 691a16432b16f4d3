import Contract
import Foundation

extension GTSD {
    static let auth: [any Contract.Endpoint.Type] = [
        SignUp.self, LogIn.self, Refresh.self, LogOut.self, GetMe.self, DeleteMe.self,
    ]

    /// One's own account.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        /// A decimal number, as text.
        public typealias ID = TextIdentifier<User>

        public var id: ID
        /// Trimmed, in lower case.
        public var email: String
        public var createdAt: Timestamp
        public var updatedAt: Timestamp
        /// As it was given; nil when it was not. This and what follows are additions to the contract.
        @OrNull public var name: String?
        public var emailVerified: Bool
        public var hasCompletedOnboarding: Bool
        /// By this zone days, weeks and streaks are told: an IANA name.
        public var timezone: String

        public init(
            id: ID, email: String, createdAt: Timestamp, updatedAt: Timestamp, name: String? = nil,
            emailVerified: Bool = false, hasCompletedOnboarding: Bool = false, timezone: String = "UTC"
        ) {
            self.id = id
            self.email = email
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.name = name
            self.emailVerified = emailVerified
            self.hasCompletedOnboarding = hasCompletedOnboarding
            self.timezone = timezone
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                id: try container.decode(ID.self, forKey: .id),
                email: try container.decode(String.self, forKey: .email),
                createdAt: try container.decode(Timestamp.self, forKey: .createdAt),
                updatedAt: try container.decode(Timestamp.self, forKey: .updatedAt),
                name: try container.decodeIfPresent(String.self, forKey: .name),
                emailVerified: try container.decodeIfPresent(Bool.self, forKey: .emailVerified) ?? false,
                hasCompletedOnboarding: try container.decodeIfPresent(Bool.self, forKey: .hasCompletedOnboarding)
                    ?? false,
                timezone: try container.decodeIfPresent(String.self, forKey: .timezone) ?? "UTC")
        }
    }

    /// `POST /auth/signup`: makes an account and signs in to it.
    ///
    /// Refused with 400 for its fields, 409 "User with this email already exists", 429. Apps call `GTSDClient.signUp`,
    /// which keeps the session.
    public struct SignUp: OpenEndpoint {
        public static let route = Route.post("/auth/signup", .created, idempotencyKey: true)
        public typealias Output = APIResponse<SignedIn>

        /// At most 254 characters; unique without regard to case.
        public var email: String
        /// 8 to 200 characters, with a letter of either case, a digit and one of ``Password/special``.
        public var password: String
        /// 1 to 255 characters, without control characters and others that nobody sees.
        public var name: String?
        /// An IANA name such as `Europe/Berlin`; `UTC` when absent.
        public var timezone: String?

        public init(email: String, password: String, name: String? = nil, timezone: String? = nil) {
            self.email = email
            self.password = password
            self.name = name
            self.timezone = timezone
        }

        public func judge(_ form: inout Validation) {
            form.field(
                "email", .string, absent: Validation.required, "Invalid email format",
                unless: SignUp.isAddress(SignUp.normal(email)))
            form.field("password", .string, absent: Validation.required) { Password.mistakes(password) }
            form.field("name", .string) { name.map(SignUp.mistakes(inName:)) ?? [] }
            form.field("timezone", .string, "Invalid timezone", unless: timezone.map(Zone.isKnown) ?? true)
        }

        /// An address as it is kept.
        public static func normal(_ email: String) -> String { email.trimmed.lowercased() }

        static func isAddress(_ text: String) -> Bool { EmailAddress.isValid(text, needsDot: true) }

        private static func mistakes(inName name: String) -> [String] {
            guard 1...255 ~= name.trimmed.length else { return ["Name must be 1 to 255 characters"] }
            return name.containsStrayFormatting ? ["Name contains invalid characters"] : []
        }
    }

    /// The rule for passwords, for showing what is missing while somebody types.
    public enum Password {
        /// One of these must be in it.
        public static let special = #"!@#$%^&*()_+-=[]{};':"\|,.<>/?"#

        /// What is wrong, in the server's words; empty for a good one.
        public static func mistakes(_ password: String) -> [String] {
            let scalars = password.unicodeScalars
            let rules: [(text: String, holds: Bool)] = [
                ("be at least 8 characters", scalars.count >= 8),
                ("contain at least one uppercase letter", scalars.contains { "A"..."Z" ~= $0 }),
                ("contain at least one lowercase letter", scalars.contains { "a"..."z" ~= $0 }),
                ("contain at least one number", scalars.contains { "0"..."9" ~= $0 }),
                ("contain at least one special character", scalars.contains { special.unicodeScalars.contains($0) }),
                ("be at most 200 characters", scalars.count <= 200),
            ]
            return rules.filter { !$0.holds }.map { "Password must \($0.text)" }
        }
    }

    /// Time zones by their IANA names.
    public enum Zone {
        /// Whether this device knows a zone of that name, and it is one of a place, or UTC: neither an offset (`UTC+1`,
        /// `Etc/GMT+5`) nor an abbreviation (`PST`), which say nothing of summer, and mean one thing here and another there.
        public static func isKnown(_ name: String) -> Bool {
            guard name.utf8.count <= 64, TimeZone(identifier: name) != nil else { return false }
            guard let slash = name.firstIndex(of: "/") else { return short.contains(name) }
            return switch name[..<slash] {
            case "Etc": utc.contains(String(name[name.index(after: slash)...]))
            case "SystemV", "posix", "right": false
            default: true
            }
        }

        /// This device's; `UTC` where it has an offset instead of a zone, and for Foundation's `GMT`.
        public static var current: String {
            let name = TimeZone.current.identifier
            return name != "GMT" && isKnown(name) ? name : "UTC"
        }

        /// What the IANA database calls UTC.
        private static let utc: Set<String> = ["UTC", "GMT", "UCT", "Greenwich", "Universal", "Zulu"]
        /// Its names without a slash, but for offsets and abbreviations.
        private static let short = utc.union([
            "Cuba", "Egypt", "Eire", "GB", "GB-Eire", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan",
            "Kwajalein", "Libya", "NZ", "NZ-CHAT", "Navajo", "PRC", "Poland", "Portugal", "ROC", "ROK", "Singapore",
            "Turkey", "W-SU",
        ])
    }

    /// What a sign-up and a sign-in give.
    public struct SignedIn: Codable, Hashable, Sendable {
        public var user: User
        /// Goes with every request, good for 15 minutes.
        public var accessToken: String
        /// Gets another pair, once, within 7 days.
        public var refreshToken: String

        public init(user: User, accessToken: String, refreshToken: String) {
            self.user = user
            self.accessToken = accessToken
            self.refreshToken = refreshToken
        }
    }

    /// `POST /auth/login`: begins a session of its own.
    ///
    /// 401 "Invalid email or password" for either; after ten of them in a minute 429, with `Retry-After`. 403 "Account is
    /// deactivated". Apps call `GTSDClient.signIn`, which keeps the session.
    public struct LogIn: OpenEndpoint {
        public static let route = Route.post("/auth/login")
        public typealias Output = APIResponse<SignedIn>

        public var email: String
        public var password: String

        public init(email: String, password: String) {
            self.email = email
            self.password = password
        }

        public func judge(_ form: inout Validation) {
            form.field(
                "email", .string, absent: Validation.required, "Invalid email format",
                unless: SignUp.isAddress(SignUp.normal(email)))
            form.field(
                "password", .string, absent: Validation.required, "Password is required", unless: !password.isEmpty)
        }
    }

    /// `POST /auth/refresh`: another pair of tokens. The old refresh token is used up.
    ///
    /// 401 "Invalid or expired refresh token", whatever is wrong with it. One that was used already ends its session, unless
    /// that was within 10 seconds and nothing came of it: an answer may have been lost. Apps have no need of it: the SDK
    /// does it by itself.
    public struct Refresh: OpenEndpoint {
        public static let route = Route.post("/auth/refresh")
        public typealias Output = APIResponse<RefreshedTokens>

        public var refreshToken: String

        public init(refreshToken: String) { self.refreshToken = refreshToken }

        public func judge(_ form: inout Validation) {
            form.field(
                "refreshToken", .string, absent: LogOut.missing, LogOut.missing, unless: !refreshToken.isEmpty)
        }
    }

    /// What a renewal gives.
    public struct RefreshedTokens: Codable, Hashable, Sendable {
        public var accessToken: String
        public var refreshToken: String

        public init(accessToken: String, refreshToken: String) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
        }
    }

    /// `POST /auth/logout`: ends a session. Its access tokens end within a second.
    ///
    /// It takes the refresh token, or the access token as bearer; known or not, it is 200. Apps call `GTSDClient.signOut`,
    /// which forgets the session too.
    public struct LogOut: OpenEndpoint {
        public static let route = Route.post("/auth/logout")
        public typealias Output = APIResponse<NoData>
        static let missing = "Refresh token is required"

        public var refreshToken: String?

        public init(refreshToken: String? = nil) { self.refreshToken = refreshToken }

        public func judge(_ form: inout Validation) { form.field("refreshToken", .string) { [] } }

        /// What a server answers to a request with neither of the two tokens.
        package static var missingToken: Problem { Validation.refusal(of: "refreshToken", missing) }
    }

    /// `GET /auth/me`: one's own account.
    public struct GetMe: Endpoint {
        public static let route = Route.get("/auth/me")
        public typealias Output = APIResponse<User>

        public init() {}
    }

    /// `DELETE /auth/me`: removes one's own account with all that belongs to it. An addition to the contract.
    ///
    /// 403 "Invalid password"; 429 after too many of them, as at a ``LogIn``.
    public struct DeleteMe: Endpoint {
        public static let route = Route.delete("/auth/me", in: .json)
        public typealias Output = APIResponse<NoData>

        public var password: String

        public init(password: String) { self.password = password }

        public func judge(_ form: inout Validation) {
            form.field(
                "password", .string, absent: Validation.required, "Password is required", unless: !password.isEmpty)
        }
    }
}
