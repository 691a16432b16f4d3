import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    /// For `concord check dunbar`. What takes the server's operator is not in it.
    public static let checklist = Checklist(
        api: "dunbar", scenarios: all, probe: "/user",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/register") },
        enter: { server in
            let ledger = Ledger(server.transport)
            var own = server
            own.transport = ledger
            return (DunbarWorld(own), { await ledger.settle(at: server.baseURL) })
        })
}

/// Counts what a scenario makes and leaves, and signs its sessions out.
private actor Ledger: Transport {
    private let transport: any Transport
    /// By id, with their authors.
    private var posts: [Int64: Int64] = [:]
    private var users: Set<Int64> = []
    /// Of those, who have gone. What answers later is of no matter.
    private var gone: Set<Int64> = []
    /// Of the sessions that have begun, with whose they are.
    private var cookies: [String: Int64] = [:]

    init(_ transport: any Transport) { self.transport = transport }

    /// What is left, by its name in plural.
    func settle(at baseURL: URL) async -> [String: Int] {
        for cookie in cookies.keys {
            let request = TransportRequest(
                method: .post, url: baseURL.appendingPathComponent("logout"), headers: [.cookie: cookie])
            _ = try? await transport.send(request, progress: nil)
        }
        let left = posts.values.filter { !gone.contains($0) }.count
        return ["users": users.subtracting(gone).count, "posts": left].filter { $0.value > 0 }
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
