import Foundation

/// Prints an address that signs an operator in to the operator's page, once and within 15 minutes.
public struct MakeOperatorLink: ServerCommand {
    public static let name = "operator link"
    public static let role = OperatorRole.all

    private var granted: OperatorRole
    private var operatorName: String?
    private var address: String?

    /// - Parameters:
    ///   - granted: The role of the operator who uses the link.
    ///   - operatorName: The operator's name in the audit; nil for that of the person who gives the command.
    ///   - address: The address at which the operator reaches the page; nil for the one at which it listens.
    public init(_ granted: OperatorRole, for operatorName: String?, at address: String?) {
        self.granted = granted
        self.operatorName = operatorName
        self.address = address
    }

    public func run(in context: ServerContext) async throws {
        guard let sessions = context.sessions, let url = sessions.url else {
            throw OperatorError("The server has no operator's page: it was started with --port operator=off")
        }
        let name = operatorName.map { "operator \($0)" } ?? context.audit.actor
        try await context.source.record(context.audit, "\(name), \(granted.rawValue)")
        let base = Self.reachable(address ?? url)
        // Browsers do not send what stands behind the #, so no log and no other server has the token.
        try await context.print("\(base)/#sign-in=\(sessions.makeLink(for: name, granted))")
    }

    /// Returns an address that a browser on this machine reaches, without a slash at its end.
    private static func reachable(_ url: String) -> String {
        let local = url.replacing("://0.0.0.0:", with: "://127.0.0.1:").replacing("://:::", with: "://[::1]:")
        return local.hasSuffix("/") ? String(local.dropLast()) : local
    }
}
