import Database
import Foundation
import NIOCore
import NIOPosix

/// Does operators' commands: by the server that uses a data folder, or in this process where no server runs.
public struct OperatorClient: Sendable {
    private let folder: String
    private let database: String?

    /// - Parameters:
    ///   - folder: The server's data folder.
    ///   - database: Where the operator says that the database is: `sqlite` or a PostgreSQL URL. Nil when nothing is said: the
    ///     server's own then, and SQLite where no server runs.
    public init(folder: String, database: String?) {
        self.folder = folder
        self.database = database
    }

    private enum Outcome: Sendable {
        case done
        /// There is no server: the command was not done.
        case noServer
        /// The server's data is elsewhere: the command was not done.
        case otherDatabase
    }

    /// Does a command.
    ///
    /// - Parameters:
    ///   - publicURL: The URL by which clients reach the API, for commands that this process does itself.
    ///   - console: The operator's terminal.
    /// - Throws: ``OperatorError`` and other errors whose descriptions are words for the operator.
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
                "The server that uses \(folder) has its data in PostgreSQL: say where with --database, or leave it out."
            )
        case .otherDatabase, .noServer: break
        }
        guard location == .sqlite else { return try await here() }
        try files.requireDatabase(for: type(of: command), of: api)
        // Two processes never use the files at once. A server that starts has the folder a little before its socket; another
        // command has it until it is done.
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

    /// Asks the server that uses the data folder.
    ///
    /// - Throws: ``OperatorError``, in the server's words.
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
                    case .refused(let words): throw OperatorError(words)
                    case .request, .input, .endOfInput: throw UnreadableFrame()
                    }
                }
                throw OperatorError("The server ended before it had answered")
            }
        } catch  where error is IOError || error is ChannelError {
            throw OperatorError("The server ended before it had answered")
        }
    }
}
