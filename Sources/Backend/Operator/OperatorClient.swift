import Database
import Foundation
import NIOCore
import NIOPosix

/// Performs operators' commands: through the server that uses a data folder, or in this process when no server runs.
public struct OperatorClient: Sendable {
    private let folder: String
    private let database: String?

    /// - Parameters:
    ///   - folder: The server's data folder.
    ///   - database: The location of the database, as the operator has given it: `sqlite` or a PostgreSQL URL. When it
    ///     is nil, it is the server's own database, or SQLite when no server runs.
    public init(folder: String, database: String?) {
        self.folder = folder
        self.database = database
    }

    private enum Outcome: Sendable {
        case done
        /// No server runs, so the command was not performed.
        case noServer
        /// The server uses another database, so the command was not performed.
        case otherDatabase
    }

    /// Performs a command.
    ///
    /// - Parameters:
    ///   - publicURL: The URL by which clients reach the API, for commands that this process performs itself.
    ///   - console: The operator's terminal.
    /// - Throws: ``OperatorError`` and other errors whose descriptions are for the operator.
    public func perform(
        _ command: some OperatorCommand, on api: any HostedAPI, publicURL: String, console: some OperatorConsole
    ) async throws {
        PrivateFiles.keepPrivate()
        guard let location = DatabaseLocation(database ?? "sqlite") else {
            throw OperatorError("a database is 'sqlite' or 'postgres://…', not '\(database ?? "")'")
        }
        let files = ServerFiles(folder: folder, database: location)
        let url = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        func here() async throws {
            try await files.open(for: type(of: command), of: api) {
                try await command.run(in: .init(database: $0, publicURL: url, console: console))
            }
        }
        switch try await ask(for: command, console) {
        case .done: return
        case .otherDatabase where location == .sqlite:
            throw OperatorError(
                "The server that uses \(folder) keeps its data in PostgreSQL: give its URL with --database, or leave the option out."
            )
        case .otherDatabase, .noServer: break
        }
        guard location == .sqlite else { return try await here() }
        try files.requireDatabase(for: type(of: command), of: api)
        // Two processes must never use the files at the same time. A server that starts holds the folder a little
        // before its socket exists, and another command holds the folder until it has finished.
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            do {
                let owned = try DataFolder(folder)
                defer { withExtendedLifetime(owned) {} }
                return try await here()
            } catch let error as DataFolder.Unusable where error.isInUse {
                guard ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(100))
            if case .done = try await ask(for: command, console) { return }
        }
    }

    /// Asks the server that uses the data folder to perform a command.
    ///
    /// - Throws: ``OperatorError`` with the server's message.
    private func ask(for command: some OperatorCommand, _ console: some OperatorConsole) async throws -> Outcome {
        guard let socket = try UnixSocket.connect(in: folder) else { return .noServer }
        let request = OperatorRequest(
            operation: type(of: command).name, arguments: try JSONEncoder().encode(command), database: database)
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(socket) { channel in
                NIOAsyncChannel<OperatorFrame, OperatorFrame>.operatorFrames(on: channel)
            }
        do {
            return try await connection.executeThenClose { frames, outbound in
                try await outbound.write(.request(request))
                for try await frame in frames {
                    switch frame {
                    case .output(let bytes): try await console.write(bytes)
                    case .progress(let done, let total): try await console.show(done, of: total)
                    case .more:
                        if let piece = try await console.read() {
                            try await outbound.write(.input(piece))
                        } else {
                            try await outbound.write(.endOfInput)
                        }
                    case .done: return .done
                    case .otherDatabase: return .otherDatabase
                    case .refused(let message): throw OperatorError(message)
                    case .request, .input, .endOfInput: throw UnreadableFrame()
                    }
                }
                throw OperatorError("The server stopped before it had answered")
            }
        } catch  where error is IOError || error is ChannelError {
            throw OperatorError("The server stopped before it had answered")
        }
    }
}
