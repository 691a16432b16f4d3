import ContractCheck
import ContractServer
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import HTTPTypes
import Logging
import NIOPosix
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// A deleted account leaves only what is needed to refuse its tokens.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryDeletionTests {
    @Test("A token of a deleted account stays refused after a restart", arguments: Stack.Engine.available)
    func restart(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            try await john.client.deleteAccount()
            host.clock.advance(by: .seconds(1))
            try await host.service.sweep()
            // The second round is with a new account of the same user.
            for _ in 0..<2 {
                let restarted = host.restarted()
                try await restarted.raw.send(.get, "/api/auth/user", token: john.token).refused(401, "Unauthorized")
                let again = try await restarted.stranger(Bearer(subject: john.id.rawValue))
                try await again.get("/api/auth/user").succeeded()
                try await restarted.raw.send(.get, "/api/auth/user", token: john.token).refused(401, "Unauthorized")
            }
        }
    }

    @Test(
        "Nothing that is kept names a deleted user, but that their tokens are refused",
        arguments: Stack.Engine.available)
    func traces(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let entry = try await jane.log(in: group)[0]
            _ = try await john.client.uploadProfilePicture(.sample)
            try await john.post("/api/locations", ["name": "Here"], headers: host.world().freshKey()).succeeded()
            try await john.post(
                "/api/deuces", ["groupIds": [group.json], "location": "x", "thoughts": ""],
                headers: host.world().freshKey()
            ).succeeded()
            try await jane.post("/api/groups", ["name": "N"], headers: host.world().freshKey()).succeeded()
            try await john.send(DeuceDiary.AddReaction(entry: entry.id, emoji: "💩"))
            try await john.send(DeuceDiary.CreateInvite(group: group))
            let janes = try await jane.group()
            try await john.send(
                DeuceDiary.JoinGroup(invite: try await jane.send(DeuceDiary.CreateInvite(group: janes)).id))
            try await john.client.deleteAccount()
            let id = john.id.rawValue
            let counts = try await host.database.read { db in
                [
                    "users": try db.value("SELECT COUNT(*) FROM users WHERE id = \(id)", as: Int.self),
                    "groups": try db.value("SELECT COUNT(*) FROM groups WHERE created_by = \(id)", as: Int.self),
                    "members": try db.value("SELECT COUNT(*) FROM members WHERE user_id = \(id)", as: Int.self),
                    "invites": try db.value("SELECT COUNT(*) FROM invites WHERE created_by = \(id)", as: Int.self),
                    "uses of invites": try db.value(
                        "SELECT COUNT(*) FROM invite_uses WHERE user_id = \(id)", as: Int.self),
                    "entries": try db.value("SELECT COUNT(*) FROM entries WHERE user_id = \(id)", as: Int.self),
                    "days": try db.value("SELECT COUNT(*) FROM days WHERE user_id = \(id)", as: Int.self),
                    "reactions": try db.value("SELECT COUNT(*) FROM reactions WHERE user_id = \(id)", as: Int.self),
                    "locations": try db.value("SELECT COUNT(*) FROM locations WHERE created_by = \(id)", as: Int.self),
                    "answers": try db.value(
                        "SELECT COUNT(*) FROM once_only WHERE scope LIKE \("%\(id)%")", as: Int.self),
                ]
            }
            for (table, count) in counts { #expect(count == 0, "\(table)") }
            #expect(try await host.objects.allKeys() == [])
            // Other users' data is kept.
            let kept = try await host.database.read { db in
                try db.value(
                    "SELECT COUNT(*) FROM once_only WHERE scope LIKE \("user \(jane.id) POST /%")", as: Int.self)
            }
            #expect(kept == 4)
        }
    }
}

extension DeuceDiaryHost {
    /// Returns a server as after a restart, with only the database and the files.
    fileprivate func restarted() -> DeuceDiaryWorld {
        let service = DeuceDiaryService(
            database: database, objects: objects, tokens: { [issuer] in issuer.read($0) }, pictures: { _, _ in nil },
            secret: .ofTests(9), group: MultiThreadedEventLoopGroup.ofTests, time: clock.source,
            settings: .init(publicURL: "http://test"))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = Router(service.routes(), options: .init(logger: logger))
        return DeuceDiaryWorld(
            Server(baseURL: baseURL, transport: InProcessTransport(table), sockets: sockets), tokens: tokens)
    }
}
