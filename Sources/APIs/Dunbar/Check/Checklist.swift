@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    /// The scenarios of `concord check dunbar`. Those that need the server's operator are left out.
    public static let checklist = Checklist(
        api: "dunbar", scenarios: all, probe: "/user",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/register") },
        enter: { server in
            let created = CreatedResources(server.transport)
            var own = server
            own.transport = created
            return (DunbarWorld(own), { .init(await created.cleanUp(at: server.baseURL)) })
        })
}

/// Records what a scenario creates, deletes the accounts with everything that belongs to them, and counts what remains.
private actor CreatedResources: Transport {
    private let transport: any Transport
    /// The authors of posts by the posts' ids.
    private var posts: [Int64: Int64] = [:]
    private var users: Set<Int64> = []
    /// Ids of deleted users.
    private var gone: Set<Int64> = []
    /// The users by the cookies of their sessions.
    private var cookies: [String: Int64] = [:]
    /// The last credentials of users.
    private var credentials: [Int64: (name: String, password: String)] = [:]

    init(_ transport: any Transport) { self.transport = transport }

    /// Removes everything, and returns the numbers of remaining resources by their name in plural.
    func cleanUp(at baseURL: URL) async -> [String: Int] {
        var rest = Array(users.subtracting(gone))[...]
        while !rest.isEmpty {
            // Each deletion takes the server the time of a password hash.
            await withTaskGroup(of: Void.self) { group in
                for user in rest.prefix(8) { group.addTask { await self.delete(user, at: baseURL) } }
            }
            rest = rest.dropFirst(8)
        }
        for (cookie, user) in cookies where !gone.contains(user) {
            let request = TransportRequest(
                method: .post, url: baseURL.appendingPathComponent("logout"), headers: [.cookie: cookie])
            _ = try? await transport.send(request, progress: nil)
        }
        let left = posts.values.filter { !gone.contains($0) }.count
        return ["users": users.subtracting(gone).count, "posts": left].filter { $0.value > 0 }
    }

    /// Deletes an account, in one of its sessions or in a new one.
    private func delete(_ user: Int64, at baseURL: URL) async {
        guard let (name, password) = credentials[user] else { return }
        func post(_ path: String, _ body: JSONValue, cookie: String? = nil) async -> TransportResponse? {
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.cookie] = cookie
            let request = TransportRequest(
                method: .post, url: baseURL.appendingPathComponent(path), headers: headers,
                body: .bytes(Array(body.description.utf8)))
            return try? await send(request, progress: nil)
        }
        for cookie in cookies.filter({ $0.value == user }).keys.prefix(1) {
            _ = await post("account/delete", ["password": .string(password)], cookie: cookie)
        }
        guard !gone.contains(user) else { return }
        let answer = await post("login", ["username": .string(name), "password": .string(password)])
        guard let cookie = answer?.headers[.setCookie]?.prefix(while: { $0 != ";" }) else { return }
        _ = await post("account/delete", ["password": .string(password)], cookie: String(cookie))
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await transport.send(request, progress: progress)
        guard response.status.kind == .successful else { return response }
        let body = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body))
        let path = request.url.pathComponents.suffix(2)
        switch (request.method, path.first ?? "", path.last ?? "") {
        case (.post, _, "register"), (.post, _, "login"):
            guard let user = body?["user"]?["id"]?.integer else { break }
            users.insert(user)
            if case .bytes(let bytes) = request.body, let name = body?["user"]?["username"]?.string {
                let sent = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
                credentials[user] = (name, sent?["password"]?.string ?? DunbarWorld.password)
            }
            if let cookie = response.headers[.setCookie]?.prefix(while: { $0 != ";" }), !cookie.hasSuffix("=") {
                cookies[String(cookie)] = user
            }
        case (.post, _, "posts"):
            if let id = body?["id"]?.integer, let author = body?["userId"]?.integer { posts[id] = author }
        case (.delete, "posts", let id): if let id = Int64(id) { posts[id] = nil }
        case (.post, "account", "delete"):
            if let user = request.headers[.cookie].flatMap({ cookies[$0] }) { gone.insert(user) }
        default: break
        }
        return response
    }
}
