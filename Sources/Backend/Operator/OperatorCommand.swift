import Database
import Foundation
import Identity

/// The permission that a command needs. The command line is for the owner of the machine, who has every permission.
public enum OperatorRole: String, Codable, Sendable, CaseIterable {
    /// To look after people: find, help, suspend and restore them, read reports, and decide who may register.
    case moderate
    /// To do everything.
    case all
}

/// A command that an operator gives to one API, such as "make this user an admin".
///
/// A running server performs it when it is asked through the socket in its data folder. When no server runs, the
/// command's own process performs it with the same code. The command's fields are sent as JSON. An API lists its
/// commands in ``HostedAPI/operatorCommands``.
public protocol OperatorCommand: Codable, Sendable {
    /// The name by which a process asks the server for the command, such as `dunbar promote`: the API, then what is done.
    static var name: String { get }
    /// The role that the command needs.
    static var role: OperatorRole { get }
    /// Whether the command creates the API's database when there is none.
    static var makesDatabase: Bool { get }

    /// Performs the command.
    ///
    /// - Throws: ``OperatorError``, whose description is for the operator.
    func run(in context: OperatorContext) async throws
}

extension OperatorCommand {
    public static var makesDatabase: Bool { false }

    /// Reads a command's fields.
    static func read(_ json: Data) throws -> any OperatorCommand { try JSONDecoder().decode(Self.self, from: json) }
}

/// The database and the console that a command works with.
public struct OperatorContext: Sendable {
    /// The database of the command's API.
    public let database: Database
    /// The URL by which clients reach the API.
    public let publicURL: String
    public let console: any OperatorConsole
    /// The API's service, where the server serves it.
    public let service: (any HostedService)?
    /// The keys in the data folder and in the environment.
    let secrets: SecretKeys
    /// The keys that services of this process use.
    let keysInUse: KeysInUse
    /// Who has given the command, and which, for the audit.
    public let audit: Audit

    let api: any HostedAPI

    init(
        _ api: any HostedAPI, database: Database, publicURL: String, console: any OperatorConsole,
        service: (any HostedService)? = nil, secrets: SecretKeys, keysInUse: KeysInUse = KeysInUse(), audit: Audit
    ) {
        self.api = api
        self.database = database
        self.publicURL = publicURL
        self.console = console
        self.service = service
        self.secrets = secrets
        self.keysInUse = keysInUse
        self.audit = audit
    }

    /// Returns a key of the API, as the server uses it.
    public func secret(_ key: HostedKey) throws -> Secret { try keysInUse.secret(key, from: secrets) }

    /// Writes a line to standard output.
    public func print(_ line: String) async throws { try await console.print(line) }

    /// Prints how many sessions have ended.
    public func printEnd(ofSessions count: Int) async throws {
        try await print(count == 1 ? "1 session has ended" : "\(count) sessions have ended")
    }

    /// Applies a change to each user of a list, one after the other, and prints a line for each.
    ///
    /// - Parameters:
    ///   - words: The rest of the line, which begins with the user's name.
    ///   - change: Makes the change. It returns false when there is no user of that name.
    /// - Throws: ``OperatorError`` at the end, naming the users that do not exist.
    public func change(
        _ users: [String], printing words: String, _ change: (String) async throws -> Bool
    ) async throws {
        var unknown: [String] = []
        for name in users {
            if try await change(name) {
                try await print("\(name) \(words)")
            } else {
                unknown.append(name)
            }
        }
        guard unknown.isEmpty else { throw OperatorError("There is no user \(unknown.joined(separator: ", "))") }
    }
}

/// The terminal on which the operator gave a command, in this process or at the other end of the socket.
public protocol OperatorConsole: Sendable {
    /// Writes to standard output.
    func write(_ bytes: [UInt8]) async throws
    /// Shows how much of the work is done.
    func show(_ done: Int, of total: Int) async throws
    /// Returns the next piece of the command's input; nil at its end.
    func read() async throws -> [UInt8]?
}

/// The reason why a command was not performed. The operator's process prints it and ends with exit code 1.
public struct OperatorError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
