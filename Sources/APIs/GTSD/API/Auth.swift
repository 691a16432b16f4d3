import Contract
import Foundation

extension GTSD {
    static let auth = Section(
        "Accounts and sessions",
        [
            SignUp.self, LogIn.self, Refresh.self, LogOut.self, GetMe.self, UpdateMe.self, ChangePassword.self,
            DeleteMe.self, GetAbout<GTSD>.self, RequestArchive.self, GetArchive.self,
        ])

    /// The caller's own account.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        /// The id of a user: a decimal number, as text.
        public typealias ID = TextIdentifier<User>

        /// The user's id.
        public var id: ID
        /// The e-mail address, trimmed and in lower case.
        public var email: String
        /// The time at which the account was created.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp
        /// The name as it was given; nil when it was not. This and the following fields are additions to the contract.
        @OrNull public var name: String? = nil
        /// Whether the address has been verified.
        public var emailVerified: Bool = false
        /// Whether the user has completed the onboarding.
        public var hasCompletedOnboarding: Bool = false
        /// The time zone that determines the user's days, weeks and streaks: an IANA name.
        public var timezone: String = "UTC"
        private init(derived: Never) { switch derived {} }

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

    /// `POST /auth/signup`: creates an account and signs in to it.
    ///
    /// Throws 400 for invalid fields and for terms that must be accepted, 403 where the operator has closed the registration, asks
    /// for an invitation, or has barred the address or the network, 409 "User with this email already exists", and 429.
    ///
    /// An app calls `GTSDClient.signUp`, which begins the session. Sending this request returns the tokens, and leaves the
    /// client as it was.
    public struct SignUp: OpenEndpoint {
        public static let route = Route.post("/auth/signup", .created, idempotencyKey: true)
        public typealias Output = APIResponse<SignedIn>
        public static let fieldRules = ["password": Password.rule, "timezone": Zone.rule]

        /// The e-mail address: at most 254 characters; unique regardless of case.
        public var email: String
        /// The password: 8 to 200 characters, with a lower-case and an upper-case letter, a digit and one of
        /// ``Password/special``.
        public var password: String
        /// The user's name: 1 to 255 characters, without control characters and other invisible characters.
        public var name: String? = nil
        /// The time zone, an IANA name such as `Europe/Berlin`; `UTC` when absent.
        public var timezone: String? = nil
        /// The device's name, such as "Anna's iPhone", for the user's list of sessions (``ListSessions``). What shows nothing is
        /// removed from it, and only the first 100 characters are kept. An addition to the contract.
        public var deviceName: String? = nil
        /// The version of the terms that the person accepts (`GetAbout`), at most 100 characters. It is kept with the account.
        /// A server may require it. An addition to the contract.
        public var acceptedTerms: String? = nil
        /// The code of an invitation, in upper or lower case, for a server that lets only those register who have one. An addition
        /// to the contract.
        public var invitationCode: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "email", .string, absent: Validation.required, "Invalid email format",
                unless: SignUp.isAddress(SignUp.normal(email)))
            form.field("password", .string, absent: Validation.required) { Password.mistakes(password) }
            form.field("name", .string) { name.map(SignUp.mistakes(inName:)) ?? [] }
            form.field("timezone", .string, "Invalid timezone", unless: timezone.map(Zone.isName) ?? true)
            form.field("deviceName", .string) { [] }
            form.field(
                "acceptedTerms", .string, "Must be at most 100 characters",
                unless: (acceptedTerms?.length ?? 0) <= About.longestVersion)
            form.field("invitationCode", .string) { [] }
        }

        /// Returns an address in the form in which it is stored.
        public static func normal(_ email: String) -> String { email.trimmed.lowercased() }

        static func isAddress(_ text: String) -> Bool { EmailAddress.isValid(text, needsDot: true) }

        fileprivate static func mistakes(inName name: String) -> [String] {
            guard 1...255 ~= name.trimmed.length else { return ["Name must be 1 to 255 characters"] }
            return name.containsStrayFormatting ? ["Name contains invalid characters"] : []
        }
    }

    /// The rule for passwords, for showing what is missing while a user types.
    public enum Password {
        /// The special characters, of which a password must contain at least one.
        public static let special = #"!@#$%^&*()_+-=[]{};':"\|,.<>/?"#

        static let rule = FieldRule(
            pattern:
                #"^(?=[\s\S]*[a-z])(?=[\s\S]*[A-Z])(?=[\s\S]*[0-9])(?=[\s\S]*[!@#$%^&*()_+\-=\[\]{};':"\\|,.<>/?])"#)

        /// Returns the mistakes of a password in the server's words; an empty list for a valid one.
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
        static let rule = FieldRule(
            "The IANA name of a place's time zone, or UTC.", lengths: 1...64, pattern: "^[A-Za-z][A-Za-z0-9_+/-]*$")

        /// Returns whether this device knows a zone of that name, and the zone is one of a place, or UTC. Offsets
        /// (`UTC+1`, `Etc/GMT+5`) and abbreviations (`PST`) are refused: they do not say when summer time begins, and
        /// abbreviations are ambiguous.
        public static func isKnown(_ name: String) -> Bool { isName(name) && TimeZone(identifier: name) != nil }

        /// Returns whether a text has the form of a name that is accepted. Which of these there are differs between devices,
        /// and between a device and the server, which has the last word.
        static func isName(_ name: String) -> Bool {
            let isWritten = name.unicodeScalars.allSatisfy {
                switch $0 {
                case "A"..."Z", "a"..."z", "0"..."9", "_", "+", "-", "/": true
                default: false
                }
            }
            guard 1...64 ~= name.utf8.count, isWritten else { return false }
            guard let slash = name.firstIndex(of: "/") else { return short.contains(name) }
            return switch name[..<slash] {
            case "Etc": utc.contains(String(name[name.index(after: slash)...]))
            case "SystemV", "posix", "right": false
            default: true
            }
        }

        /// This device's time zone; `UTC` when the device has an offset instead of a zone, and for Foundation's `GMT`.
        public static var current: String {
            let name = TimeZone.current.identifier
            return name != "GMT" && isKnown(name) ? name : "UTC"
        }

        /// The names of UTC in the IANA database.
        private static let utc: Set<String> = ["UTC", "GMT", "UCT", "Greenwich", "Universal", "Zulu"]
        /// The database's other names without a slash, except offsets and abbreviations.
        private static let short = utc.union([
            "Cuba", "Egypt", "Eire", "GB", "GB-Eire", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan",
            "Kwajalein", "Libya", "NZ", "NZ-CHAT", "Navajo", "PRC", "Poland", "Portugal", "ROC", "ROK", "Singapore",
            "Turkey", "W-SU",
        ])
    }

    /// The answer to a sign-up and a sign-in.
    public struct SignedIn: Codable, Hashable, Sendable {
        /// The signed-in user.
        public var user: User
        /// The token that every request carries, valid for 15 minutes.
        public var accessToken: String
        /// The token that gets another pair of tokens, once, within 7 days.
        public var refreshToken: String
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /auth/login`: begins a new session.
    ///
    /// Throws 401 "Invalid email or password" for either mistake, 429 with `Retry-After` after ten failures in a
    /// minute, and 403 "Account is deactivated".
    ///
    /// An app calls `GTSDClient.signIn`, which begins the session. Sending this request returns the tokens, and leaves the
    /// client as it was.
    public struct LogIn: OpenEndpoint {
        public static let route = Route.post("/auth/login")
        public typealias Output = APIResponse<SignedIn>

        /// The e-mail address.
        public var email: String
        /// The password.
        public var password: String
        /// The device's name, such as "Anna's iPhone", for the user's list of sessions (``ListSessions``). What shows nothing is
        /// removed from it, and only the first 100 characters are kept. An addition to the contract.
        public var deviceName: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "email", .string, absent: Validation.required, "Invalid email format",
                unless: SignUp.isAddress(SignUp.normal(email)))
            form.field(
                "password", .string, absent: Validation.required, "Password is required", unless: !password.isEmpty)
            form.field("deviceName", .string) { [] }
        }
    }

    /// `POST /auth/refresh`: returns another pair of tokens. The old refresh token is used up.
    ///
    /// Throws 401 "Invalid or expired refresh token" for any invalid token. A token that was already used ends its
    /// session, unless that was less than 10 seconds ago and the new token has not been used: the answer may have been
    /// lost. Apps do not need this operation: the SDK renews tokens by itself.
    public struct Refresh: OpenEndpoint {
        public static let route = Route.post("/auth/refresh")
        public typealias Output = APIResponse<RefreshedTokens>

        /// The session's refresh token.
        public var refreshToken: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "refreshToken", .string, absent: LogOut.missing, LogOut.missing, unless: !refreshToken.isEmpty)
        }
    }

    /// The result of a renewal.
    public struct RefreshedTokens: Codable, Hashable, Sendable {
        /// The new access token.
        public var accessToken: String
        /// The new refresh token.
        public var refreshToken: String
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /auth/logout`: ends a session. Its access tokens end within a second.
    ///
    /// It takes the refresh token, or the access token as bearer, and answers 200 whether or not the token is known.
    /// Apps call `GTSDClient.signOut`, which also removes the stored session.
    public struct LogOut: OpenEndpoint {
        public static let route = Route.post("/auth/logout")
        public typealias Output = APIResponse<NoData>
        static let missing = "Refresh token is required"

        /// The refresh token of the session to end.
        public var refreshToken: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) { form.field("refreshToken", .string) { [] } }

        /// The error for a request with neither of the two tokens.
        package static var missingToken: Problem { Validation.refusal(of: "refreshToken", missing) }
    }

    /// `GET /auth/me`: returns the caller's own account.
    public struct GetMe: Endpoint {
        public static let route = Route.get("/auth/me")
        public typealias Output = APIResponse<User>

        public init() {}
    }

    /// `PATCH /auth/me`: changes the caller's name and time zone. Answers the account as ``GetMe`` does. An addition to the
    /// contract.
    ///
    /// From then on the new zone determines the user's days. A day that was credited stays so, and counts once. A day that
    /// the user's calendar leaves out, because it is already over in the new zone, does not break a streak: once in 7 days.
    public struct UpdateMe: Endpoint {
        public static let route = Route.patch("/auth/me", mayRepeat: true)
        public typealias Output = APIResponse<User>
        public static let fieldRules = ["timezone": Zone.rule]

        /// The new name, as in ``SignUp``; nil leaves it unchanged.
        public var name: String? = nil
        /// The new time zone, an IANA name such as `Europe/Berlin`; nil leaves it unchanged.
        public var timezone: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field("name", .string) { name.map(SignUp.mistakes(inName:)) ?? [] }
            form.field("timezone", .string, "Invalid timezone", unless: timezone.map(Zone.isName) ?? true)
        }
    }

    /// `POST /auth/password`: changes the caller's password. All other sessions of the account end; the caller's own goes
    /// on. An addition to the contract.
    ///
    /// Throws 400 for a new password that ``SignUp`` would refuse, 403 "Invalid password" for a wrong present one, and 429
    /// after too many of them, as ``LogIn`` does. The new password may be the present one.
    public struct ChangePassword: Endpoint {
        public static let route = Route.post("/auth/password", idempotencyKey: true)
        public typealias Output = APIResponse<NoData>
        public static let fieldRules = ["newPassword": Password.rule]

        /// The present password.
        public var currentPassword: String
        /// The new password, under the rules of ``Password``: 8 to 200 characters.
        public var newPassword: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "currentPassword", .string, absent: Validation.required, "Password is required",
                unless: !currentPassword.isEmpty)
            form.field("newPassword", .string, absent: Validation.required) { Password.mistakes(newPassword) }
        }
    }

    /// `DELETE /auth/me`: deletes the caller's account with everything that belongs to it. An addition to the contract.
    ///
    /// Throws 403 "Invalid password", and 429 after too many wrong passwords, as ``LogIn`` does.
    public struct DeleteMe: Endpoint {
        public static let route = Route.delete("/auth/me", in: .json)
        public typealias Output = APIResponse<NoData>

        /// The account's password.
        public var password: String
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.field(
                "password", .string, absent: Validation.required, "Password is required", unless: !password.isEmpty)
        }
    }
}
