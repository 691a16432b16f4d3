import Foundation
import GRDB

extension Benchmark {
    static let feed = Benchmark(
        name: "feed",
        abstract: "the feed of 150 accounts with 15,000, 150,000 and 1,500,000 posts (GET), 64 connections"
    ) { setting in
        var rows: [Row] = []
        for count in [15_000, 150_000, 1_500_000] {
            rows += try await withFeed(of: count, setting) { server, cookie in
                // One request asks for a page, the other for everything that the contract's apps ask for.
                try await feed(of: server, cookie, "?limit=50", "feed, 50 of \(count)", setting)
                    + feed(of: server, cookie, "", "feed, 500 of \(count)", setting)
            }
        }
        return rows
    }

    /// Runs a closure with a Dunbar server and the cookie of a user whose feed has a number of posts.
    static func withFeed<T>(
        of count: Int, _ setting: Setting, _ body: (ServerProcess, _ cookie: String) async throws -> T
    ) async throws -> T {
        try await Leftovers.withFolder { folder in
            var process = try start(setting.concord, folder)
            defer { process.stop() }
            let cookie = try register(at: process.port)
            process.stop()
            try fill(folder + "/dunbar.sqlite", posts: count)
            process = try start(setting.concord, folder)
            return try await body(process, cookie)
        }
    }

    private static func start(_ concord: String, _ folder: String) throws -> ServerProcess {
        try ServerProcess(
            concord, ["serve", "dunbar", "--data", folder, "--port", "dunbar=0", "--log-level", "error"])
    }

    /// Returns the cookie of a new user, who is the first.
    private static func register(at port: Int) throws -> String {
        let body = #"{"username":"anna","email":"anna@example.com","password":"correct horse","displayName":"Anna"}"#
        let request = Exchange.request("POST", "/api/register", port: port, body: body)
        let socket = try Socket(to: port)
        defer { socket.close() }
        try socket.send(request)
        var answer = Data()
        while case let bytes = socket.receive(), !bytes.isEmpty { answer += bytes }
        let text = String(decoding: answer, as: UTF8.self)
        guard let start = text.range(of: "dunbar.session=")?.lowerBound else { throw Failed("no cookie: \(text)") }
        return String(text[start...].prefix { $0 != ";" })
    }

    private static func feed(
        of server: ServerProcess, _ cookie: String, _ query: String, _ name: String, _ setting: Setting
    ) async throws -> [Row] {
        let get = Exchange.request(
            "GET", "/api/feed\(query)", port: server.port, cookie: cookie, keepAlive: true)
        return try await Comparison(server: server, setting: setting).underLoad(name, get)
    }

    /// Adds 150 accounts that the first user follows, whose posts alternate.
    private static func fill(_ path: String, posts: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 151)
                    INSERT INTO users (
                        id, username, username_key, email, email_key, password, display_name, display_key, created_at)
                    SELECT i, 'user' || i, 'user' || i, i || '@example.com', i || '@example.com', '', 'John Doe',
                        'john doe', 1700000000000 FROM n
                    """)
            try db.execute(
                sql: """
                    INSERT INTO follows (follower_id, target_id, is_accepted, created_at)
                    SELECT 1, id, 1, 1700000000000 FROM users WHERE id > 1
                    """)
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO posts (user_id, content, media, created_at)
                    SELECT 2 + (i * 7) % 150, 'Met the others at the usual place by the river (' || i || ')', '',
                        1700000000000 + i * 1000 FROM n
                    """, arguments: [posts])
        }
        try queue.close()
    }
}
