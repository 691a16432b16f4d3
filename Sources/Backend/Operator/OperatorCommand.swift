import Database
import Foundation

/// A command that an operator gives to one API, such as "make this user an admin".
///
/// A running server performs it when it is asked through the socket in its data folder. When no server runs, the
/// command's own process performs it with the same code. The command's fields are sent as JSON. An API lists its
/// commands in ``HostedAPI/operatorCommands``.
public protocol OperatorCommand: Codable, Sendable {
    /// The name by which a process asks the server for the command, such as `admin dunbar`.
    static var name: String { get }
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

    public init(database: Database, publicURL: String, console: any OperatorConsole) {
        self.database = database
        self.publicURL = publicURL
        self.console = console
    }

    /// Writes a line to standard output.
    public func print(_ line: String) async throws { try await console.write(Array((line + "\n").utf8)) }

    /// Applies a change to each user of a list, one after the other, and prints a line for each.
    ///
    /// - Parameters:
    ///   - words: Returns the rest of the line, which begins with the user's name.
    ///   - change: Makes the change. It returns false when there is no user of that name.
    /// - Throws: ``OperatorError`` at the end, naming the users that do not exist.
    public func change<Change: Sendable>(
        _ changes: [(name: String, change: Change)], printing words: (Change) -> String,
        _ change: (Change, String) async throws -> Bool
    ) async throws {
        var unknown: [String] = []
        for (name, value) in changes {
            if try await change(value, name) {
                try await print("\(name) \(words(value))")
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
