import Foundation
import Testbed

/// `concord serve messenger` on a port of its own. A drill kills it and starts it again with the same data.
actor DrillNode {
    nonisolated let url: URL
    private let port: Int
    private let folder: String
    private let environment: [String: String]
    private var process: ConcordProcess?

    /// - Parameters:
    ///   - folder: Its data folder.
    ///   - database: A PostgreSQL database that it shares with other nodes; nil for an SQLite database of its own.
    ///   - more: More of its settings, by their variables.
    init(folder: String, database: String?, more: [String: String] = [:]) async throws {
        port = try await reservePort()
        url = URL(string: "http://127.0.0.1:\(port)")!
        self.folder = folder
        // The nodes of one server share their keys.
        let key = Data(repeating: 42, count: 32).base64EncodedString()
        environment = [
            "CONCORD_DATABASE": database ?? "sqlite", "CONCORD_LOG_LEVEL": "error",
            "CONCORD_MESSENGER_TOKEN_KEY": key,
        ].merging(more) { $1 }
    }

    /// Starts the node, and returns once it is ready.
    func start() async throws {
        process = try await ConcordProcess.serving(data: folder, port: port, environment: environment)
    }

    /// Sends `kill -9`, and waits until the process has ended.
    func kill() async {
        process?.signal(SIGKILL)
        _ = await process?.status()
    }

    /// Stops the node gracefully.
    ///
    /// - Returns: Its exit code.
    func stop() async -> Int32? {
        process?.signal(SIGTERM)
        return await process?.status()
    }

    /// Makes a node's folder of files a link to a shared one, as on a network file system.
    static func shareFiles(of data: String, at place: String) throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: place, withIntermediateDirectories: true)
        try manager.createDirectory(atPath: data, withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: data + "/files", withDestinationPath: place)
    }

    /// Runs a drill on this number of nodes, and checks that each stops gracefully.
    ///
    /// - Parameter more: More settings of each node, by their variables.
    static func serving(
        _ count: Int, in folder: String, database: String?, more: [String: String] = [:],
        _ body: ([DrillNode]) async throws -> Void
    ) async throws {
        try await serving(
            count, in: folder, databases: Array(repeating: database, count: count),
            more: Array(repeating: more, count: count), body)
    }

    /// Does the same with a URL of the database and settings for each node.
    static func serving(
        _ count: Int, in folder: String, databases: [String?], more: [[String: String]] = [],
        _ body: ([DrillNode]) async throws -> Void
    ) async throws {
        var nodes: [DrillNode] = []
        for index in 0..<count {
            try shareFiles(of: "\(folder)/node\(index)", at: "\(folder)/files")
            let node = try await DrillNode(
                folder: "\(folder)/node\(index)", database: databases[index],
                more: more.isEmpty ? [:] : more[index])
            try await node.start()
            nodes.append(node)
        }
        try await body(nodes)
        for node in nodes {
            let status = await node.stop()
            guard status == 0 else { throw ConcordProcess.Ended(status: status ?? -1, errors: "not in peace") }
        }
    }
}
