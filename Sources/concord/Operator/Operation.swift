import Database
import DeuceDiaryAPI
import DeuceDiaryService
import DunbarAPI
import DunbarService
import Foundation
import GTSDAPI
import GTSDService
import MessengerAPI
import MessengerService
import MonicaAPI
import MonicaService

/// A task that an operator gives to one API by a command.
///
/// The running server does it; where no server runs, the command does it itself, with the same code.
protocol Operation: Codable, Sendable {
    /// The name by which a command asks the server for it.
    static var name: String { get }
    static var api: OperatedAPI { get }
    /// Whether the API's database is made when there is none.
    static var makesDatabase: Bool { get }

    /// - Throws: ``OperationRefused``, in words for the operator.
    func run(in context: OperationContext) async throws
}

extension Operation {
    static var makesDatabase: Bool { false }
}

/// Every operation that a server does when it is asked for it.
enum Operations {
    static let all: [any Operation.Type] = [
        DeuceDiaryLocation.DeleteLocation.Work.self, DunbarAdmin.Work.self, GTSDAdmin.Work.self,
        MessengerAdmin.Work.self, MonicaToken.Create.Work.self, MonicaToken.List.Work.self,
        MonicaToken.Revoke.Work.self, MonicaImport.Work.self, MonicaExport.Work.self,
    ]

    /// Reads an operation that a command has sent.
    ///
    /// - Returns: Nil when there is none of that name.
    static func read(_ name: String, _ json: Data) throws -> (any Operation)? {
        func read<O: Operation>(_ type: O.Type) throws -> any Operation { try JSONDecoder().decode(type, from: json) }
        return try all.first { $0.name == name }.map { try read($0) }
    }
}

/// An API that has operations.
struct OperatedAPI: Sendable {
    let name: String
    /// The name in sentences.
    let title: String
    let schema: Schema

    static let messenger = Self(name: Messenger.name, title: "Messenger", schema: MessengerService.schema)
    static let deuceDiary = Self(name: DeuceDiary.name, title: "Deuce Diary", schema: DeuceDiaryService.schema)
    static let gtsd = Self(name: GTSD.name, title: "GTSD", schema: GTSDService.schema)
    static let dunbar = Self(name: Dunbar.name, title: "Dunbar", schema: DunbarService.schema)
    static let monica = Self(name: Monica.name, title: "Monica", schema: MonicaService.schema)
}

/// What an operation works on, and how it talks to the operator.
struct OperationContext: Sendable {
    let database: Database
    /// What the API's absolute URLs begin with.
    let publicURL: String
    let console: any OperationConsole

    /// Writes a line to standard output.
    func print(_ line: String) async throws { try await console.write(Array((line + "\n").utf8)) }
}

/// The operator's end of an operation: the terminal of the command, near or behind a socket.
protocol OperationConsole: Sendable {
    /// Writes to standard output.
    func write(_ bytes: [UInt8]) async throws
    /// Shows how much of the work is done.
    func show(_ done: Int, of total: Int) async throws
    /// The next piece of the operation's input; nil at its end.
    func read() async throws -> [UInt8]?
}

/// Why an operation was not done, in words. The command ends with exit code 1.
struct OperationRefused: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
