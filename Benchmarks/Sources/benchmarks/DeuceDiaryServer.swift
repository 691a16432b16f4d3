import Foundation

/// A running Deuce Diary server with one user and a group of theirs.
struct DeuceDiaryServer: Sendable {
    let process: ServerProcess
    let token: String
    let user: String
    let group: String

    var port: Int { process.port }

    /// Runs a closure with a server on an empty database.
    ///
    /// - Parameter seed: Fills the database. It receives the path of the SQLite database, whose tables exist, and the
    ///   ids of the user and the group.
    static func run<T>(
        _ concord: String, seed: ((_ path: String, _ user: String, _ group: String) throws -> Void)? = nil,
        _ body: (DeuceDiaryServer) async throws -> T
    ) async throws -> T {
        try await Leftovers.withFolder { folder in
            let user = "user_anna"
            var process = try start(concord, folder: folder)
            defer { process.stop() }
            let printed = try Spawn.run(concord, ["deuce-diary", "token", "create", "--user", user, "--data", folder])
                .output
            let token = printed.trimmingCharacters(in: .newlines)
            let made = try Exchange.json(
                "POST", "/api/groups", port: process.port, token: token, body: #"{"name":"Benchmark"}"#)
            guard let group = (made as? [String: Any])?["id"] as? String else {
                throw Failed("the server answered in another shape than expected: \(made)")
            }
            if let seed {
                process.stop()
                try seed(folder + "/deuce-diary.sqlite", user, group)
                process = try start(concord, folder: folder)
            }
            return try await body(DeuceDiaryServer(process: process, token: token, user: user, group: group))
        }
    }

    private static func start(_ concord: String, folder: String) throws -> ServerProcess {
        try ServerProcess(
            concord,
            ["serve", "deuce-diary", "--data", folder, "--port", "deuce-diary=0", "--log-level", "error"])
    }
}
