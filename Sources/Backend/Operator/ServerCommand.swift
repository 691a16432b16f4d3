import Foundation

/// A command that an operator gives to the whole server, such as "make a backup".
///
/// Like an ``OperatorCommand`` it is performed by the server that uses the data folder, or by the command's own process
/// when no server runs.
public protocol ServerCommand: Codable, Sendable {
    /// The name by which a process asks the server for the command, such as `backup`.
    static var name: String { get }
    /// The role that the command needs.
    static var role: OperatorRole { get }

    /// Performs the command.
    ///
    /// - Throws: Errors whose descriptions are for the operator.
    func run(in context: ServerContext) async throws
}

extension ServerCommand {
    /// Reads a command's fields.
    static func read(_ json: Data) throws -> any ServerCommand { try JSONDecoder().decode(Self.self, from: json) }
}

/// The data of a server, and the console that a command works with.
public struct ServerContext: Sendable {
    let source: BackupSource
    let console: any OperatorConsole
    /// Who has given the command, and which, for the audit.
    let audit: Audit
    /// The sign-ins to the operator's page of the server that performs the command; nil where there is none.
    var sessions: OperatorSessions?

    /// Writes a line to standard output.
    func print(_ line: String) async throws { try await console.print(line) }
}

/// Prints the settings that are in force in the server that runs.
public struct PrintSettings: ServerCommand {
    public static let name = "config"
    public static let role = OperatorRole.all

    public init() {}

    public func run(in context: ServerContext) async throws {
        try await context.print(context.source.settings.inForce())
    }
}

/// The commands for the whole server.
enum ServerCommands {
    static let all: [any ServerCommand.Type] = [
        MakeBackup.self, PrintAudit.self, PrintSettings.self, FindPeople.self, ListReports.self, SetRegistration.self,
        ShowRegistration.self, MakeInvitationCode.self, ListInvitationCodes.self, RevokeInvitationCodes.self,
        AddBars.self, RemoveBars.self, ListBars.self, MakeOperatorLink.self, SendTestEmail.self,
    ]

    static func named(_ name: String) -> (any ServerCommand.Type)? { all.first { $0.name == name } }
}
