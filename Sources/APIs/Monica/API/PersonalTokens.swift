import Contract

extension Monica {
    static let personalTokens = Section(
        "Personal tokens", [ListTokens.self, CreateToken.self, RevokeToken.self])

    /// `GET /me/tokens`: returns the tokens of the caller's account, the oldest first, those of apps included.
    public struct ListTokens: Endpoint {
        public static let route = Route.get("/me/tokens")
        public typealias Output = APIResponse<[PersonalToken]>

        public init() {}
    }

    /// `POST /me/tokens`: makes a token of the caller's account, which is shown once. So the answer is not kept for an
    /// `Idempotency-Key`. Throws 422 when the account has 100 tokens.
    public struct CreateToken: Endpoint {
        public static let route = Route.post("/me/tokens")
        public typealias Output = APIResponse<PersonalToken>
        public static let fieldRules = personalTokenRules
        /// The maximum number of tokens of an account.
        public static let maximumNumber = 100

        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        ///
        /// - Parameters:
        ///   - name: The name by which the owner recognizes the token: at most 255 characters.
        ///   - dialect: The form of the answers that its holder gets.
        public init(name: String, dialect: TokenDialect = .contract) {
            form = Form(["name": .string(name), "dialect": .string(dialect.rawValue)])
        }

        public init(from decoder: any Decoder) throws { form = try Form(from: decoder) }
        public func encode(to encoder: any Encoder) throws { try form.encode(to: encoder) }
    }

    /// `DELETE /me/tokens/{id}`: revokes a token of the caller's account, which may be the one of the request. It is refused
    /// within a second. A second time throws 404.
    public struct RevokeToken: Endpoint {
        public static let route = Route.delete("/me/tokens/{id}")
        public typealias Output = Deletion

        /// The token's id.
        public var id: Int

        public init(id: Int) { self.id = id }
    }

    /// A personal access token.
    public struct PersonalToken: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The token's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "token"
        /// The name by which the owner recognizes the token; of an app's token, that of the app.
        public var name: String
        /// The form of the answers that its holder gets.
        public var dialect: TokenDialect
        /// Whether the request was sent with it.
        public var isCurrent: Bool
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last use, to the minute; nil when it was never used.
        @OrNull public var lastUsedAt: Timestamp?
        /// The time after which it is refused; nil when it does not expire.
        @OrNull public var expiresAt: Timestamp?
        /// The token itself, in the answer to its creation alone.
        public var text: String?
        private init(derived: Never) { switch derived {} }
    }

    /// The form of the answers that the holder of a token gets.
    public struct TokenDialect: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The form of the published contract.
        public static let contract = Self(rawValue: "contract")
        /// The form of Monica 4, which its apps expect.
        public static let monica4 = Self(rawValue: "monica4")
        public static let known = [contract, monica4]
    }
}
