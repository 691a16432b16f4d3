import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension Ledger {
    /// Removes what the API can remove, and ends the sessions.
    ///
    /// A message is deleted, a group goes when its last member leaves, and a file with the last message that holds it.
    /// Pictures are taken off, and what nothing uses then is deleted.
    /// Accounts stay, and so do direct chats: the commands that repeat a failure sign in to them.
    ///
    /// - Returns: what stays, counted.
    func settle(at baseURL: URL) async -> [String: Int] {
        let server = Cleaner(client: RawClient(baseURL: baseURL, transport: self))
        await leaveGroups(through: server)
        await deleteMessages(through: server)
        await deleteChatsOfTheDeleted(through: server)
        await removePictures(through: server)
        let keptFiles = await deleteFiles(through: server)
        await server.all(Array(sessions.keys)) { refreshToken in
            let body: JSONValue = ["refresh_token": .string(refreshToken)]
            _ = await server.status(.post, "/auth/logout", body: body)
        }
        // On a server that cannot end them they expire.
        let left = [
            "users": accounts.count, "chats": directChats.count + groups.count, "messages": messages.count,
            "files": keptFiles, "sessions": sessions.count,
        ]
        return left.filter { $1 > 0 }
    }

    private func leaveGroups(through server: Cleaner) async {
        guard !groups.isEmpty else { return }
        var tokens: [String] = []
        for user in accounts.keys { if let token = await token(of: user, through: server) { tokens.append(token) } }
        let members = tokens
        let gone = await server.those(Array(groups)) { group in
            var isGone = true
            for token in members {
                let answer = await server.answer(.post, "/chats/\(group)/leave", token: token)
                // 404 in other words is that of a server that knows no leaving.
                let isOutside = (try? answer?.json()) == ["error": "Chat not found or access denied"]
                isGone = isGone && (answer?.status == 204 || isOutside)
            }
            return isGone
        }
        groups.subtract(gone)
        messages = messages.filter { !gone.contains($1.chat) }
    }

    private func deleteMessages(through server: Cleaner) async {
        var tokens: [Int64: String] = [:]
        for user in Set(messages.values.map(\.sender)) { tokens[user] = await token(of: user, through: server) }
        let (known, messages) = (tokens, messages)
        // What is deleted is noted on the way.
        await server.all(Array(messages.keys)) { id in
            guard let message = messages[id], let token = known[message.sender] else { return }
            _ = await server.status(.delete, "/chats/\(message.chat)/messages/\(id)", token: token)
        }
    }

    /// What somebody has sent who is deleted goes with the chat only, and a direct chat with the other one.
    private func deleteChatsOfTheDeleted(through server: Cleaner) async {
        let chats = Set(messages.values.filter { accounts[$0.sender] == nil }.map(\.chat))
        for user in Set(chats.flatMap { directChats[$0] ?? [] }) {
            guard let password = accounts[user]?["password"], let token = await token(of: user, through: server) else {
                continue
            }
            // What is deleted is noted on the way.
            _ = await server.status(.delete, "/me", token: token, body: ["password": password])
        }
        let gone = directChats.filter { $1.isDisjoint(with: accounts.keys) }
        directChats = directChats.filter { gone[$0.key] == nil }
        messages = messages.filter { gone[$1.chat] == nil }
    }

    private func removePictures(through server: Cleaner) async {
        for user in pictured {
            guard let token = await token(of: user, through: server) else { continue }
            _ = await server.status(.put, "/me", token: token, body: ["avatar_file_id": nil])
        }
    }

    /// Deletes what nothing uses any more.
    ///
    /// - Returns: How many are still there.
    private func deleteFiles(through server: Cleaner) async -> Int {
        var kept = 0
        for (file, user) in files {
            guard let token = await token(of: user, through: server) else { continue }
            if await server.status(.delete, "/files/\(file)", token: token) == 204 { continue }
            // It went with the last message that held it, or is held.
            if await server.status(.get, "/files/\(file)/download", token: token) != 404 { kept += 1 }
        }
        return kept
    }

    /// Of a session that is alive, begun if there is none.
    private func token(of user: Int64, through server: Cleaner) async -> String? {
        if let session = sessions.values.first(where: { $0.user == user }) { return session.accessToken }
        guard let account = accounts[user] else { return nil }
        _ = await server.status(.post, "/auth/login", body: account)
        return sessions.values.first { $0.user == user }?.accessToken
    }
}

/// Requests whose failure is no news: what cannot be removed is counted.
private struct Cleaner: Sendable {
    let client: RawClient

    func answer(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil, body: JSONValue? = nil
    ) async -> RawAnswer? {
        try? await client.send(method, path, token: token, body: body?.description)
    }

    func status(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil, body: JSONValue? = nil
    ) async -> Int? {
        await answer(method, path, token: token, body: body)?.status
    }

    /// Does something with each, a few at a time.
    func all<Value: Sendable>(_ values: [Value], _ body: @escaping @Sendable (Value) async -> Void) async {
        _ = try? await together(values.count, width: 8) { await body(values[$0]) }
    }

    /// Those for which something holds.
    func those(_ ids: [Int64], where holds: @escaping @Sendable (Int64) async -> Bool) async -> Set<Int64> {
        let held = (try? await together(ids.count, width: 8) { await holds(ids[$0]) }) ?? []
        return Set(zip(ids, held).filter(\.1).map(\.0))
    }
}
