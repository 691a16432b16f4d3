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

    package init(
        number: Int, account: String, name: String, createdAt: PersonRecord.Moment, lastUsedAt: PersonRecord.Moment?
    ) {
        self.number = number
        self.account = account
        self.name = name
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }

    private enum CodingKeys: String, CodingKey {
        case number, account, name
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
