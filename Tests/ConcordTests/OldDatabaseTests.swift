import ContractClient
import Database
import Foundation
import HTTPTypes
import Testbed
import Testing

/// Databases of earlier versions (`Databases/`) are brought up to date at the start, and answer.
@Suite(.timeLimit(.minutes(30))) struct OldDatabaseTests {
    private static let apis = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
    /// The tokens of Monica's account "alice", whose digests are in the databases.
    private static let monicaTokens: [Stack.Engine: String] = [
        .sqlite: "J2_3CoEkqQAWtGIY0crAtXo0mU2Hm0a8cnpnMaqB8L0",
        .postgreSQL: "dxQUYTgYxbaW1W47Gs0gyd6GmrxKdrDhJ3SUFM4F63Y",
    ]

    private static func dump(_ api: String, _ engine: Stack.Engine) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Databases")
        return try String(
            contentsOf: folder.appendingPathComponent("\(api).\(engine.rawValue.lowercased()).sql"), encoding: .utf8)
    }

    /// A server that receives requests as text.
    private struct Server {
        let ports: [String: Int]

        func ask(
            _ api: String, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil,
            _ headers: HTTPFields = [:], sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> (text: String, headers: HTTPFields) {
            var request = TransportRequest(
                method: method, url: try #require(URL(string: "http://127.0.0.1:\(ports[api] ?? 0)\(path)")))
            request.headers = headers
            if let body {
                request.headers[.contentType] = "application/json"
                request.body = .bytes(Array(body.utf8))
            }
            let answer = try await URLSessionTransport.patient.send(request, progress: nil)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(
                answer.status.kind == .successful, "\(method) \(path): \(answer.status) \(text)",
                sourceLocation: sourceLocation)
            return (text, answer.headers)
        }

        /// Signs in, and returns the token, which has this name in the answer.
        func token(_ api: String, _ path: String, _ body: String, named name: String) async throws -> HTTPFields {
            let text = try await ask(api, .post, path, body).text
            let match = try #require(try Regex("\"\(name)\":\"([^\"]+)\"").firstMatch(in: text))
            return [.authorization: "Bearer \(match[1].substring ?? "")"]
        }
    }

    private func withServer(
        _ place: TestDatabase, _ engine: Stack.Engine, _ body: (Server, _ diary: HTTPFields) async throws -> Void
    ) async throws {
        var (ports, arguments): ([String: Int], [String]) = ([:], ["serve", "--data", place.folder])
        for api in Self.apis {
            let port = try await reservePort()
            ports[api] = port
            arguments += ["--port", "\(api)=\(port)"]
        }
        let environment = ["CONCORD_DATABASE": place.url ?? "sqlite"]
        let process = try ConcordProcess(arguments, environment: environment)
        try await process.waitUntilReady()
        let token = try ConcordProcess(
            ["deuce-diary", "token", "create", "--user", "user_alice", "--data", place.folder], environment: environment
        )
        let bearer = await token.wholeOutput().trimmingCharacters(in: .whitespacesAndNewlines)
        try await body(Server(ports: ports), [.authorization: "Bearer \(bearer)"])
        process.signal(SIGTERM)
        #expect(await process.status() == 0)
    }

    @Test(arguments: Stack.Engine.available)
    func databasesOfEarlierVersionsAnswer(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place async throws in
            for api in Self.apis {
                let dump = try Self.dump(api, engine)
                if let url = place.url {
                    try Database.administer(url: url, dump)
                } else {
                    try Database.administer(path: "\(place.folder)/\(api).sqlite", dump)
                }
            }
            // The second start finds the digests and ids of the first.
            for _ in 0..<2 {
                try await withServer(place, engine) { server, diary in
                    let alice = try await server.token(
                        "messenger", "/auth/login", #"{"username":"alice","password":"secret123"}"#,
                        named: "access_token")
                    let chats = try await server.ask("messenger", .get, "/chats", nil, alice).text
                    #expect(chats.contains(#""name":"Team""#))
                    let messages = try await server.ask("messenger", .get, "/chats/1/messages", nil, alice).text
                    #expect(messages.contains("Hello, Bob!") && messages.contains(#""file_id":1"#))
                    _ = try await server.ask("messenger", .post, "/chats/1/messages", #"{"content":"new"}"#, alice)

                    let groups = try await server.ask("deuce-diary", .get, "/api/groups", nil, diary).text
                    #expect(groups.contains("Friends"))
                    let entries = try await server.ask("deuce-diary", .get, "/api/deuces", nil, diary).text
                    #expect(entries.contains("Deep ones"))
                    _ = try await server.ask("deuce-diary", .post, "/api/groups", #"{"name":"New"}"#, diary)

                    let monica: HTTPFields = [.authorization: "Bearer \(try #require(Self.monicaTokens[engine]))"]
                    let contacts = try await server.ask("monica", .get, "/api/contacts?query=hopper", nil, monica).text
                    #expect(contacts.contains("Grace") && contacts.contains("navy"))
                    let notes = try await server.ask("monica", .get, "/api/notes", nil, monica).text
                    #expect(notes.contains("Found the first bug"))
                    _ = try await server.ask(
                        "monica", .post, "/api/notes", #"{"body":"new","contact_id":1,"is_favorited":false}"#, monica)

                    let anna = try await server.token(
                        "gtsd", "/auth/login", #"{"email":"alice@example.com","password":"Secret123!"}"#,
                        named: "accessToken")
                    let photos = try await server.ask("gtsd", .get, "/v1/progress/photos", nil, anna).text
                    #expect(photos.contains("-a.png"))
                    _ = try await server.ask("gtsd", .get, "/v1/streaks/me", nil, anna)
                    _ = try await server.ask("gtsd", .get, "/v1/tasks/today", nil, anna)

                    let signIn = try await server.ask(
                        "dunbar", .post, "/api/login", #"{"username":"alice","password":"secret123"}"#)
                    let cookie = try #require(signIn.headers[.setCookie]?.split(separator: ";").first)
                    let feed = try await server.ask(
                        "dunbar", .get, "/api/users/1/posts", nil, [.cookie: String(cookie)]
                    ).text
                    #expect(feed.contains("First post"))
                    _ = try await server.ask(
                        "dunbar", .post, "/api/posts/1/comments", #"{"content":"new"}"#, [.cookie: String(cookie)])
                }
            }
        }
    }
}
