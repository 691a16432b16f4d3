/// A token of a person as an operator sees it, without what is secret.
package struct IssuedToken: Codable, Equatable, Sendable {
    /// The number that names it when it is revoked.
    package let number: Int
    package let account: String
    /// The name that distinguishes the account's tokens.
    package let name: String
    package let createdAt: PersonRecord.Moment
    /// The time of the last request with it; nil for a token that was never used.
    package let lastUsedAt: PersonRecord.Moment?
    /// The form of the answers that its holder gets, where it is not that of the contract.
    package let dialect: String?

    package init(
        number: Int, account: String, name: String, createdAt: PersonRecord.Moment, lastUsedAt: PersonRecord.Moment?,
        dialect: String? = nil
    ) {
        self.number = number
        self.account = account
        self.name = name
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.dialect = dialect
    }

    private enum CodingKeys: String, CodingKey {
        case number, account, name, dialect
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }
}

/// The commands on the tokens that an operator makes for the people of an API, as `concord monica token` has them.
public protocol TokenCommands: Sendable {
    /// Returns the command that makes a token of an account, and prints it.
    func creating(_ name: String, of account: String) -> any OperatorCommand
    /// Returns the command that prints the tokens of an account as lines of JSON: the number, the account, the name and the times
    /// of each, as `concord monica token list --json` does.
    func listing(of account: String) -> any OperatorCommand
    /// Returns the command that revokes a token.
    func revoking(_ number: Int) -> any OperatorCommand
}
