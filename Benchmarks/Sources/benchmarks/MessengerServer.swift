import Foundation

/// A running Messenger server with one signed-in user and a group of theirs.
struct MessengerServer: Sendable {
    let process: ServerProcess
    let token: String
    let user: Int
    let chat: Int

    var port: Int { process.port }
    var path: String { "/chats/\(chat)/messages" }

    /// Fills a database. It receives the path of an SQLite database or the URL of a PostgreSQL one, whose tables exist,
    /// and the ids of the user and the chat.
    typealias Seed = (_ database: String, _ user: Int, _ chat: Int) throws -> Void

    /// Runs a closure with a server on an empty database.
    ///
    /// - Parameter database: The URL of a PostgreSQL database; by default it is SQLite.
    static func run<T>(
        _ concord: String, database: String? = nil, seed: Seed? = nil,
        _ body: (MessengerServer) async throws -> T
    ) async throws -> T {
        try await Leftovers.withFolder { folder in
            var process = try start(concord, folder: folder, database: database)
            defer { process.stop() }
            var server = try MessengerServer(process)
            if let seed {
                process.stop()
                try seed(database ?? folder + "/messenger.sqlite", server.user, server.chat)
                process = try start(concord, folder: folder, database: database)
                server = MessengerServer(process: process, token: server.token, user: server.user, chat: server.chat)
            }
            return try await body(server)
        }
    }

    static func start(_ concord: String, folder: String, database: String? = nil) throws -> ServerProcess {
        try ServerProcess(
            concord,
            ["serve", "messenger", "--data", folder, "--port", "messenger=0", "--log-level", "warning"]
                + (database.map { ["--database", $0] } ?? []))
    }

    private init(_ process: ServerProcess) throws {
        func post(_ path: String, _ body: String, token: String? = nil) throws -> [String: Any] {
            let answer = try Exchange.json("POST", path, port: process.port, token: token, body: body)
            return answer as? [String: Any] ?? [:]
        }
        let user = try post(
            "/auth/register", #"{"username":"anna","email":"anna@example.com","password":"correct horse"}"#)
        let tokens = try post("/auth/login", #"{"username":"anna","password":"correct horse"}"#)
        let token = tokens["access_token"] as? String ?? ""
        let chat = try post("/chats", #"{"type":"group","name":"Benchmark","member_ids":[]}"#, token: token)
        guard let user = user["id"] as? Int, let chat = chat["id"] as? Int else {
            throw Failed("the server answered in another shape than expected: \(user) \(chat)")
        }
        self.init(process: process, token: token, user: user, chat: chat)
    }

    private init(process: ServerProcess, token: String, user: Int, chat: Int) {
        (self.process, self.token, self.user, self.chat) = (process, token, user, chat)
    }

    /// A request for the newest messages of the chat.
    var newestFifty: String {
        Exchange.request("GET", path + "?limit=50", port: port, token: token, keepAlive: true)
    }

    /// A request that sends a message to the chat. Each time that it is sent needs a key of its own.
    var send: String {
        let body = #"{"content":"Shall we meet at seven, at the usual place by the river?","type":"text"}"#
        return Exchange.request("POST", path, port: port, token: token, body: body, keyed: true, keepAlive: true)
    }
}
