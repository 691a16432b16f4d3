/// The commands on the tokens that an operator makes for the people of an API, as `concord monica token` has them.
public protocol TokenCommands: Sendable {
    /// Returns the command that makes a token of an account, and prints it.
    func creating(_ name: String, of account: String) -> any OperatorCommand
    /// Returns the command that prints the tokens of an account as lines of JSON, with the number of each.
    func listing(of account: String) -> any OperatorCommand
    /// Returns the command that revokes a token.
    func revoking(_ number: Int) -> any OperatorCommand
}
