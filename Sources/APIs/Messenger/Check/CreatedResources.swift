@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

/// Records what a scenario creates on the server, so that ``cleanUp(_:hasFailed:)`` can remove it.
actor CreatedResources: MadeResources {
    struct Session: Sendable {
        let user: Int64
        let accessToken: String
    }

    struct Message: Sendable {
        let chat: Int64
        let sender: Int64
    }

    /// The credentials of accounts by their ids.
    var accounts: [Int64: JSONValue] = [:]
    /// The sessions by their refresh tokens.
    var sessions: [String: Session] = [:]
    var groups: Set<Int64> = []
    /// The members of direct chats by the chats' ids.
    var directChats: [Int64: Set<Int64>] = [:]
    var messages: [Int64: Message] = [:]
    /// The owners of files by the files' ids.
    var files: [Int64: Int64] = [:]
    /// The users who have had a picture.
    var pictured: Set<Int64> = []
    /// The users by their access tokens, also of ended sessions.
    private var users: [String: Int64] = [:]

    /// A session would remain whose tokens are unknown.
    nonisolated func mustEnd(_ request: TransportRequest) -> Bool { request.url.path.hasSuffix("/auth/login") }

    func note(_ response: RawAnswer) {
        let (request, sent) = (response.request, response.sent)
        // Replayed answers and lists create nothing.
        guard [.post, .put, .delete].contains(request.method), 200..<300 ~= response.status,
            response.headers[.idempotentReplayed] == nil
        else { return }
        let steps = request.url.path.split(separator: "/").map(String.init)
        let answer = try? response.json()
        let user = request.headers[.authorization].flatMap { users[String($0.dropFirst("Bearer ".count))] }
        switch (request.method, response.status, steps.last ?? "") {
        case (.post, 201, "register"):
            guard let id = answer?["id"]?.integer else { return }
            accounts[id] = ["username": sent?["username"] ?? .null, "password": sent?["password"] ?? .null]
        case (.post, 200, "login"):
            guard let refresh = answer?["refresh_token"]?.string, let access = answer?["access_token"]?.string,
                let user = answer?["user_id"]?.integer
            else { return }
            sessions[refresh] = Session(user: user, accessToken: access)
            users[access] = user
        case (.post, 204, "logout"):
            if let token = sent?["refresh_token"]?.string { sessions[token] = nil }
        case (.post, 204, "password"):
            guard let user, let account = accounts[user] else { return }
            accounts[user] = ["username": account["username"] ?? .null, "password": sent?["new_password"] ?? .null]
            let kept = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
            sessions = sessions.filter { $1.user != user || $1.accessToken == kept }
        case (.post, 201, "chats"):
            guard let id = answer?["id"]?.integer else { return }
            if sent?["type"] == "group" {
                groups.insert(id)
            } else {
                directChats[id] = Set((sent?["member_ids"]?.elements ?? []).compactMap(\.integer) + [user ?? 0])
            }
        case (.post, 201, "messages"):
            guard let id = answer?["id"]?.integer, let chat = answer?["chat_id"]?.integer, let user else { return }
            messages[id] = Message(chat: chat, sender: user)
        case (.post, 201, "files"):
            if let id = answer?["id"]?.integer, let user { files[id] = user }
        case (.put, 200, "me"):
            if let user, answer?["avatar_file_id"]?.integer != nil { pictured.insert(user) }
        case (.delete, 204, "me"):
            guard let user else { return }
            accounts[user] = nil
            sessions = sessions.filter { $1.user != user }
        case (.delete, 204, let last) where steps.dropLast().last == "messages":
            if let id = Int64(last) { messages[id] = nil }
        case (.delete, 204, let last) where steps.dropLast().last == "files":
            if let id = Int64(last) { files[id] = nil }
        case (.delete, 204, let last) where steps.contains("sessions"):
            // Which session it was is not known: others may live, and the account signs in again.
            let own = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
            sessions = sessions.filter { $1.user != user || (last == "sessions" && $1.accessToken == own) }
        default: break
        }
    }
}
