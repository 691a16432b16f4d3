@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension CreatedResources {
    /// Removes what the API can remove, and ends the sessions.
    ///
    /// A message is deleted; a group is deleted when its last member leaves, and a file with the last message that
    /// refers to it. Pictures are removed, and then unused files and the accounts, with which direct chats go.
    ///
    /// Accounts and direct chats stay after a failure, because the commands that repeat it sign in to them.
    func cleanUp(_ raw: RawClient, hasFailed: Bool) async -> Checklist.Remaining {
        let server = Cleaner(client: raw)
        await leaveGroups(through: server)
        await deleteMessages(through: server)
        await deleteChatsOfTheDeleted(through: server)
        await removePictures(through: server)
        let keptFiles = await deleteFiles(through: server)
        if !hasFailed { await deleteAccounts(through: server) }
        await server.all(Array(sessions.keys)) { refreshToken in
            let body: JSONValue = ["refresh_token": .string(refreshToken)]
            _ = await server.status(.post, "/auth/logout", body: body)
        }
        // On a server that cannot end sessions, they expire.
        let left = [
            "users": accounts.count, "chats": directChats.count + groups.count, "messages": messages.count,
            "files": keptFiles, "sessions": sessions.count,
        ]
        return .init(left.filter { $1 > 0 })
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
                // A 404 with another text comes from a server without this operation.
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
        // Deletions are recorded as they happen.
        await server.all(Array(messages.keys)) { id in
            guard let message = messages[id], let token = known[message.sender] else { return }
            _ = await server.status(.delete, "/chats/\(message.chat)/messages/\(id)", token: token)
        }
    }

    /// Deletes the chats of deleted users: their messages are deleted only with the chat, and a direct chat only with
    /// the other user.
    private func deleteChatsOfTheDeleted(through server: Cleaner) async {
        let chats = Set(messages.values.filter { accounts[$0.sender] == nil }.map(\.chat))
        for user in Set(chats.flatMap { directChats[$0] ?? [] }) {
            guard let password = accounts[user]?["password"], let token = await token(of: user, through: server) else {
                continue
            }
            // Deletions are recorded as they happen.
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

    /// Deletes unused files.
    ///
    /// - Returns: The number of files that remain.
    private func deleteFiles(through server: Cleaner) async -> Int {
        var kept = 0
        for (file, user) in files {
            guard let token = await token(of: user, through: server) else { continue }
            if await server.status(.delete, "/files/\(file)", token: token) == 204 { continue }
            // The file was deleted with its last message, or is still in use.
            if await server.status(.get, "/files/\(file)/download", token: token) != 404 { kept += 1 }
        }
        return kept
    }

    private func deleteAccounts(through server: Cleaner) async {
        await server.all(Array(accounts.keys)) { user in await self.delete(user, through: server) }
        directChats = directChats.filter { !$1.isDisjoint(with: accounts.keys) }
    }

    private func delete(_ user: Int64, through server: Cleaner) async {
        guard let password = accounts[user]?["password"] else { return }
        for _ in 0..<2 {
            guard let token = await token(of: user, through: server) else { return }
            // Deletions are recorded as they happen.
            guard await server.status(.delete, "/me", token: token, body: ["password": password]) == 401 else { return }
            // The scenario has ended that session.
            sessions = sessions.filter { $1.user != user }
        }
    }

    /// Returns the token of a live session, or of a new one.
    private func token(of user: Int64, through server: Cleaner) async -> String? {
        if let session = sessions.values.first(where: { $0.user == user }) { return session.accessToken }
        guard let account = accounts[user] else { return nil }
        _ = await server.status(.post, "/auth/login", body: account)
        return sessions.values.first { $0.user == user }?.accessToken
    }
}

/// Sends requests whose failure does not matter: what cannot be removed is counted.
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

    /// Calls a function for each value, a few at a time.
    func all<Value: Sendable>(_ values: [Value], _ body: @escaping @Sendable (Value) async -> Void) async {
        _ = try? await together(values.count, width: 8) { await body(try values[$0]) }
    }

    /// Returns the ids for which a condition holds.
    func those(_ ids: [Int64], where holds: @escaping @Sendable (Int64) async -> Bool) async -> Set<Int64> {
        let held = (try? await together(ids.count, width: 8) { await holds(try ids[$0]) }) ?? []
        return Set(zip(ids, held).filter(\.1).map(\.0))
    }
}
