@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    /// The scenarios of `concord check dunbar`. Those that need the server's operator are left out.
    package static let checklist = Checklist(
        api: "dunbar", scenarios: all, probe: "/user",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/register") },
        noting: { CreatedResources() }, enter: { DunbarWorld($0) })
}

/// Records what a scenario creates, deletes the accounts with everything that belongs to them, and counts what remains.
private actor CreatedResources: MadeResources {
    /// The authors of posts by the posts' ids.
    private var posts: [Int64: Int64] = [:]
    private var users: Set<Int64> = []
    /// Ids of deleted users.
    private var gone: Set<Int64> = []
    /// The users by the cookies of their sessions.
    private var cookies: [String: Int64] = [:]
    /// The last credentials of users.
    private var credentials: [Int64: (name: String, password: String)] = [:]

    func cleanUp(_ raw: RawClient, hasFailed: Bool) async -> Checklist.Remaining {
        var rest = Array(users.subtracting(gone))[...]
        while !rest.isEmpty {
            // Each deletion takes the server the time of a password hash.
            await withTaskGroup(of: Void.self) { group in
                for user in rest.prefix(8) { group.addTask { await self.delete(user, raw) } }
            }
            rest = rest.dropFirst(8)
        }
        for (cookie, user) in cookies where !gone.contains(user) {
            _ = try? await raw(.post, "/logout", headers: [.cookie: cookie])
        }
        let left = posts.values.filter { !gone.contains($0) }.count
        return .init(["users": users.subtracting(gone).count, "posts": left].filter { $0.value > 0 })
    }

    /// Deletes an account, in one of its sessions or in a new one.
    private func delete(_ user: Int64, _ raw: RawClient) async {
        guard let (name, password) = credentials[user] else { return }
        func deleteAccount(in cookie: String) async {
            _ = try? await raw(
                .post, "/account/delete", ["password": .string(password)], headers: [.cookie: cookie])
        }
        for cookie in cookies.filter({ $0.value == user }).keys.prefix(1) { await deleteAccount(in: cookie) }
        guard !gone.contains(user) else { return }
        let answer = try? await raw(.post, "/login", ["username": .string(name), "password": .string(password)])
        if let cookie = answer?.cookie { await deleteAccount(in: cookie) }
    }

    func note(_ answer: RawAnswer) {
        guard 200..<300 ~= answer.status else { return }
        let (request, body) = (answer.request, try? answer.json())
        let path = request.url.pathComponents.suffix(2)
        switch (request.method, path.first ?? "", path.last ?? "") {
        case (.post, _, "register"), (.post, _, "login"):
            guard let user = body?["user"]?["id"]?.integer else { break }
            users.insert(user)
            if let name = body?["user"]?["username"]?.string {
                credentials[user] = (name, answer.sent?["password"]?.string ?? DunbarWorld.password)
            }
            if let cookie = answer.cookie { cookies[cookie] = user }
        case (.post, "account", "password"):
            guard let user = request.headers[.cookie].flatMap({ cookies[String($0.prefix { $0 != ";" })] }),
                let password = answer.sent?["newPassword"]?.string
            else { break }
            credentials[user]?.password = password
        case (.post, _, "posts"):
            if let id = body?["id"]?.integer, let author = body?["userId"]?.integer { posts[id] = author }
        case (.delete, "posts", let id): if let id = Int64(id) { posts[id] = nil }
        case (.post, "account", "delete"):
            if let user = request.headers[.cookie].flatMap({ cookies[$0] }) { gone.insert(user) }
        default: break
        }
    }
}
