import Foundation
import Testbed

/// A drill's own PostgreSQL server, with its durable default settings.
actor DrillPostgreSQL {
    nonisolated let url: String
    private let folder: String
    private let port: Int
    private var server: (input: FileHandle, ending: ProcessEnding)?

    private init(folder: String, port: Int) {
        self.folder = folder
        self.port = port
        url = "postgres://postgres@127.0.0.1:\(port)/postgres"
    }

    static func serving(_ body: (DrillPostgreSQL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = DrillPostgreSQL(folder: folder + "/postgresql", port: try await reservePort())
            let result: Result<Void, any Error>
            do {
                try await server.start()
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }
    }

    /// Starts the server, and returns once it accepts connections; after a crash, that is after its recovery.
    func start() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: StockTools.package + "/Tools/postgresql-server")
        process.arguments = [folder, "\(port)"]
        let (input, output) = (Pipe(), Output())
        // If a process that is started meanwhile inherited it, the server would not end.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = input
        process.standardOutput = output.end
        process.standardError = output.end
        let ending = try ProcessEnding(running: process)
        output.begin()
        server = (input.fileHandleForWriting, ending)
        for await text in output.texts where text.contains("postgres://") { return }
        throw Refused(description: output.text)
    }

    /// Stops the server with `pg_ctl -m immediate stop`, which has the effect of a power failure.
    func stop() async {
        try? server?.input.close()
        _ = await server?.ending.status
        server = nil
    }

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }
}
