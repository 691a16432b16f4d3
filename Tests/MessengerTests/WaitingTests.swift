import ContractCheck
import ContractClient
import Database
import Foundation
import MessengerCheck
import MessengerClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Conflicting transactions wait for each other. PostgreSQL needs locks for this, while SQLite has one writer.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct WaitingTests {
    @Test("A block waits for a running send, and later sends respect it")
    func blocks() async throws {
        try await withMessenger(on: Stack(.postgreSQL, .inProcess)) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob).rawValue
            let status = try await answer(during: host.database) { db in
                try db.run("UPDATE chats SET updated_at = updated_at WHERE id = \(chat)")
            } to: {
                try await alice.raw(.post, "/users/\(bob.id)/block").status
            }
            #expect(status == 204)
            // In the other order, the send waits for the block.
            try await alice.send(Messenger.UnblockUser(bob.id))
            let (blocker, blocked) = (alice.id.rawValue, bob.id.rawValue)
            let refused = try await answer(during: host.database) { db in
                try db.run(
                    "INSERT INTO blocks (blocker_id, blocked_id, created_at) VALUES (\(blocker), \(blocked), 1)")
                try db.run("UPDATE chats SET updated_at = updated_at WHERE id = \(chat)")
            } to: {
                try await bob.raw(.post, "/chats/\(chat)/messages", body: #"{"content":"x"}"#).status
            }
            #expect(refused == 403)
        }
    }

    @Test("Deleting an account waits for a running invitation, and ends the new membership")
    func deletions() async throws {
        try await withMessenger(on: Stack(.postgreSQL, .inProcess)) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await bob.group()
            let (group, user) = (chat.rawValue, alice.id.rawValue)
            let status = try await answer(during: host.database) { db in
                try db.run(
                    "INSERT INTO members (chat_id, user_id, role, joined_at) VALUES (\(group), \(user), 'member', 1)")
            } to: {
                try await alice.raw(.delete, "/me", body: #"{"password":"\#(alice.password)"}"#).status
            }
            #expect(status == 204)
            #expect(try await bob.send(Messenger.GetChat(id: chat)).members.map(\.id) == [bob.id])
        }
    }

    @Test("Adding a user who is being deleted is refused because the user does not exist")
    func invitations() async throws {
        try await withMessenger(on: Stack(.postgreSQL, .inProcess)) { host in
            let bob = try await host.world().person()
            let chat = try await bob.group()
            let calls = [
                ("/chats/\(chat)/members", "user_ids"), ("/chats", "member_ids"), ("/users/{id}/block", "x"),
            ]
            for (path, field) in calls {
                let alice = try await host.world().person()
                let user = alice.id.rawValue
                let refused = try await answer(during: host.database) { db in
                    try db.run(
                        "UPDATE users SET deleted_at = 1, username_key = \("@\(user)") WHERE id = \(user)")
                } to: {
                    let path = path.replacingOccurrences(of: "{id}", with: "\(user)")
                    return try await bob.raw(.post, path, body: #"{"\#(field)":[\#(user)]}"#)
                }
                let text = field == "x" ? "User not found" : "Unknown member_ids: \(user)"
                #expect(refused.text == #"{"error":"\#(text)"}"#)
            }
            #expect(try await bob.send(Messenger.GetChat(id: chat)).members.count == 1)
            #expect(try await bob.send(Messenger.ListChats()).count == 1)
        }
    }

    /// Returns the answer to a request that runs during a transaction. The transaction ends when the request waits for
    /// it; the test fails if it does not wait.
    private func answer<Answer: Sendable>(
        during database: Database, _ transaction: @escaping @Sendable (Session) throws -> Void,
        to request: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let isAnswered = NIOLockedValueBox(false)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        async let hasWaited: Bool = database.write { db in
            try transaction(db)
            begin.yield()
            while !isAnswered.withLockedValue({ $0 }) {
                let isWaitedFor = try db.exists(
                    "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
                if isWaitedFor { return true }
            }
            return false
        }
        for await _ in begun { break }
        let answer = try await request()
        isAnswered.withLockedValue { $0 = true }
        let waited = try await hasWaited
        #expect(waited, "it did not wait")
        return answer
    }
}
