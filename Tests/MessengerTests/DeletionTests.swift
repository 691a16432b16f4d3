import Backend
import Contract
import ContractCheck
import ContractClient
import Database
import Foundation
import MessengerCheck
import MessengerClient
import MessengerService
import Testbed
import Testing

/// Deleting an account removes its data from the database, the file store and other nodes.
@Suite(.timeLimit(.minutes(30))) struct DeletionTests {
    @Test("A deleted account leaves only what its messages need", arguments: Stack.Engine.available)
    func remains(_ engine: Stack.Engine) async throws {
        // The file system's time is the time of an object.
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withMessenger(on: Stack(engine, .inProcess), clock: clock) { host in
            let (alice, bob) = try await host.world().pair()
            func upload(_ type: String = "text/plain") async throws -> Messenger.File {
                try await alice.client.upload(Upload(.bytes([1]), filename: "a", contentType: type))
            }
            let (sent, alone, avatar, unsent) = (
                try await upload(), try await upload(), try await upload("image/png"), try await upload()
            )
            let (chat, own) = (try await alice.directChat(with: bob), try await alice.group())
            for (file, chat) in [(sent, chat), (alone, own)] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file.id))
            }
            try await alice.send(Messenger.UpdateMe(displayName: "Alice", bio: .to("Hi"), avatar: .to(avatar.id)))
            try await alice.send(Messenger.BlockUser(bob.id))
            try await alice.send(Messenger.UnblockUser(bob.id))
            try await alice.send(Messenger.BlockUser(bob.id))
            #expect(Set(try await host.objects.allKeys()) == Set([sent, alone, avatar, unsent].map(\.objectKey)))
            try await alice.client.deleteAccount(password: alice.password)

            // The files are deleted at once, without a sweep.
            #expect(try await host.objects.allKeys() == [sent.objectKey])
            let id = alice.id.rawValue
            let (texts, rows) = try await host.database.read { db in
                let texts = try db.all(
                    """
                    SELECT username, email, display_name, display_key, COALESCE(bio, ''), password,
                        CASE WHEN avatar_file_id IS NULL THEN '' ELSE 'avatar' END FROM users WHERE id = \(id)
                    """
                ) { row in try (0..<7).map { try row.get($0, as: String.self) } }
                func count(_ table: SQL, _ condition: SQL) throws -> Int {
                    try db.value("SELECT COUNT(*) FROM \(table) WHERE \(condition)") ?? -1
                }
                let rows = [
                    try count("sessions", "user_id = \(id)"), try count("members", "user_id = \(id)"),
                    try count("blocks", "blocker_id = \(id) OR blocked_id = \(id)"),
                    try count("chats", "owner_id = \(id)"), try count("files", "owner_id = \(id)"),
                    try count("messages", "sender_id = \(id)"),
                    // The remaining rows belong to Bob's account.
                    try count("familiar_addresses", "true"), try count("attempts", "count > 0"),
                ]
                return (texts, rows)
            }
            #expect(texts == [Array(repeating: "", count: 7)])
            #expect(rows == [0, 0, 0, 0, 1, 1, 1, 0])
            // Later sweeps remove nothing else.
            clock.advance(by: .seconds(7200))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [sent.objectKey])
        }
    }

    @Test(
        "A sign-in, an upload and a profile that are under way end with the account", arguments: Stack.Engine.available)
    func underWay(_ engine: Stack.Engine) async throws {
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withMessenger(on: Stack(engine, .inProcess), clock: clock) { host in
            let world = host.world()
            for _ in 0..<8 {
                let alice = try await world.person()
                let statuses = try await together(16, width: 16) { index -> Int in
                    switch index % 4 {
                    case 0 where index == 8: return try await alice.delete().status
                    case 0: return try await world.signIn(alice.name, alice.password).status
                    case 1:
                        do {
                            _ = try await alice.client.upload(Upload(.bytes([1]), filename: "a"))
                            return 201
                        } catch is SignedOut {
                            return 401
                        }
                    case 2: return try await alice.raw(.put, "/me", body: #"{"bio":"Hi"}"#).status
                    default: return try await alice.raw(.post, "/chats", body: #"{"type":"group","name":"x"}"#).status
                    }
                }
                #expect(statuses[8] == 204, "\(statuses)")
                #expect(statuses.allSatisfy { [200, 201, 204, 401].contains($0) }, "\(statuses)")
            }
            let left = try await host.database.read { db in
                try ["sessions", "members", "files", "chats"].map { table in
                    try db.value("SELECT COUNT(*) FROM \(SQL(trusted: table))", as: Int.self)
                } + [try db.value("SELECT COUNT(*) FROM users WHERE bio IS NOT NULL", as: Int.self)]
            }
            #expect(left == [0, 0, 0, 0, 0])
            // The next sweep at the latest removes objects of uploads whose account was deleted.
            clock.advance(by: .seconds(7200))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [])
        }
    }

    @Test("Files that cannot be removed from the store are removed by the next sweep")
    func awayStore() async throws {
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withMessenger(on: Stack(.sqlite, .inProcess), clock: clock) { host in
            let alice = try await host.world().person()
            for _ in 0..<103 { _ = try await alice.client.upload(Upload(.bytes([1]), filename: "a")) }
            try await alice.client.deleteAccount(password: alice.password)
            #expect(try await host.objects.allKeys().count == 3)
            clock.advance(by: .seconds(7200))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [])
        }
    }

    @Test(
        "Sessions and sockets end on the other nodes too, and their groups hear of it",
        .enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), arguments: Stack.Wire.allCases)
    func elsewhere(_ wire: Stack.Wire) async throws {
        try await withMessengerNodes(2, on: Stack(.postgreSQL, wire)) { nodes in
            let (alice, bob) = try await nodes[0].world().pair()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [bob.id])).id
            func there(_ person: Person) -> MessengerClient {
                MessengerClient(
                    baseURL: nodes[1].baseURL, store: MemoryTokenStore(person.tokens), transport: nodes[1].transport,
                    sockets: nodes[1].sockets, retry: .never)
            }
            let (elsewhere, others) = (there(alice), there(bob))
            try await elsewhere.send(Messenger.GetMe())
            let (own, socket) = (try await elsewhere.openSocket(), try await others.openSocket())
            try await socket.send(Messenger.Subscribe(chat: chat))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
            try await alice.client.deleteAccount(password: alice.password)
            await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) { _ = try await own.receive() }
            await #expect(throws: SignedOut()) { try await elsewhere.send(Messenger.GetMe()) }
            #expect(try await socket.receive() == Messenger.MemberRemoved(chat: chat, user: alice.id))
            #expect(try await others.send(Messenger.GetChat(id: chat)).owner == bob.id)
        }
    }
}

extension Person {
    fileprivate func delete() async throws -> RawAnswer {
        try await raw(.delete, "/me", body: #"{"password":"\#(password)"}"#)
    }
}
