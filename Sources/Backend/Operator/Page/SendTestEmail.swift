/// Sends an e-mail by which the operator sees that the mail server works.
public struct SendTestEmail: ServerCommand {
    public static let name = "mail test"
    public static let role = OperatorRole.all

    private var address: String

    public init(to address: String) { self.address = address }

    public func run(in context: ServerContext) async throws {
        try await context.print(try await context.source.settings.sendTestEmail(address))
    }
}
