import Backend
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerCheck
import MessengerService
import ObjectStore
import Testbed
import Testing

/// Rules that depend on time or on settings hold. The requests stay in the process, because a network would add nothing
/// to the test.
@Suite(.timeLimit(.minutes(30))) struct ClockTests {
    private let stack = Stack(.sqlite, .inProcess)
    private let tooMany = "Too many requests, please try again later"

    @Test("An access token is valid for 3600 seconds and 5 of leeway; the SDK renews it")
    func accessTokensExpire() async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            host.clock.advance(by: .seconds(3604))
            #expect(try await alice.raw(.get, "/me").status == 200)
            host.clock.advance(by: .seconds(1))
            let answer = try await alice.raw(.get, "/me")
            #expect(answer.status == 401)
            #expect(try answer.json() == ["error": "Invalid or expired token"])
            #expect(try await alice.send(Messenger.GetMe()).id == alice.id)
        }
    }

    @Test("A refresh token is valid for 30 days")
    func refreshTokensExpire() async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let request = Messenger.Refresh(refreshToken: alice.refreshToken)
            host.clock.advance(by: .seconds(30 * 86_400 - 1))
            _ = try await alice.send(request)
            try await host.service.sweep()
            _ = try await alice.send(request)
            host.clock.advance(by: .seconds(6))
            try await expectRefusal(401, "Invalid or expired refresh token") { try await alice.send(request) }
            await #expect(throws: SignedOut()) { try await alice.send(Messenger.GetMe()) }
        }
    }

    @Test("Ten failed sign-ins a minute for an account and an address, then the right password is refused too")
    func signInsPerMinute() async throws {
        try await withMessenger(on: stack) { host in
            let (here, there) = (host.world(from: "203.0.113.1"), host.world(from: "203.0.113.2"))
            let (alice, bob) = (try await here.person(), try await here.person())
            // The requests run at the same time, so that none passes between the check of the counter and its
            // increment.
            let statuses = try await together(30) { _ in try await here.signIn(alice.name, "wrong").status }
            #expect(statuses.filter { $0 == 401 }.count == 10)
            #expect(statuses.filter { $0 == 429 }.count == 20)
            let refused = try await here.signIn(alice.name, alice.password)
            #expect(refused.status == 429)
            #expect(try refused.json() == ["error": .string(tooMany)])
            #expect(refused.headers[.retryAfter] == "60")
            // A sign-in with the e-mail address counts for the same account.
            #expect(try await here.signIn("\(alice.name)@EXAMPLE.com", alice.password).status == 429)
            #expect(try await there.signIn(alice.name, alice.password).status == 200)
            #expect(try await here.signIn(bob.name, bob.password).status == 200)
            host.clock.advance(by: .milliseconds(59_500))
            #expect(try await here.signIn(alice.name, alice.password).headers[.retryAfter] == "1")
            host.clock.advance(by: .milliseconds(500))
            // Successful sign-ins do not count.
            for _ in 0..<15 { #expect(try await here.signIn(alice.name, alice.password).status == 200) }
        }
    }

    @Test("A hundred failed sign-ins an hour for an account, but not from addresses it knows")
    func signInsPerHour() async throws {
        try await withMessenger(on: stack) { host in
            let home = host.world(from: "203.0.113.1")
            let alice = try await home.person()
            for name in [alice.name, home.freshName("nobody")] {
                for address in 0..<10 {
                    let guesser = host.world(from: "198.51.100.\(address)")
                    let statuses = try await together(10) { _ in try await guesser.signIn(name, "wrong").status }
                    #expect(statuses == Array(repeating: 401, count: 10))
                }
                let fresh = try await host.world(from: "192.0.2.1").signIn(name, alice.password)
                #expect(fresh.status == 429)
                #expect(fresh.headers[.retryAfter] == "3600")
            }
            #expect(try await home.signIn(alice.name, "wrong").status == 401)
            #expect(try await home.signIn(alice.name, alice.password).status == 200)
            host.clock.advance(by: .seconds(3600))
            #expect(try await host.world(from: "192.0.2.1").signIn(alice.name, alice.password).status == 200)
        }
    }

    @Test("Twenty registrations a minute for an address, without a limit for this machine's own")
    func registrations() async throws {
        try await withMessenger(on: stack) { host in
            let (here, there) = (host.world(from: "203.0.113.1"), host.world(from: "203.0.113.2"))
            let taken = try await here.person()
            let statuses = try await together(25) { _ in try await here.register(here.freshName()).status }
            #expect(statuses.filter { $0 == 201 }.count == 19)
            #expect(statuses.filter { $0 == 429 }.count == 6)
            // The fields are checked before the limit, and taken names after it.
            #expect(try await here.register("x").status == 400)
            let refused = try await here.register(taken.name)
            #expect(refused.status == 429)
            #expect(try refused.json() == ["error": .string(tooMany)])
            #expect(refused.headers[.retryAfter] == "60")
            #expect(try await there.register(taken.name).status == 409)
            let local = host.world(from: "::1")
            #expect(
                try await together(25) { _ in try await local.register(local.freshName()).status }.allSatisfy {
                    $0 == 201
                })
            host.clock.advance(by: .seconds(60))
            #expect(try await here.register(here.freshName()).status == 201)
        }
    }

    @Test("Uploads are accepted up to the quota, and leave nothing behind above it")
    func quota() async throws {
        var settings = MessengerService.Settings()
        settings.storageQuota = 10
        try await withMessenger(on: stack, settings: settings) { host in
            let people = try await host.world().people(2)
            @Sendable func upload(_ size: Int, by person: Person) async throws {
                _ = try await person.client.upload(Upload(.bytes(Array(repeating: 1, count: size)), filename: "a"))
            }
            // Each upload would fit, but not both.
            let results = try await together(2) { _ in
                do { try await upload(6, by: people[0]) } catch let error as APIError { return error.message }
                return ""
            }
            #expect(results.sorted() == ["", "Storage quota exceeded"])
            try await expectRefusal(413, "Storage quota exceeded") { try await upload(5, by: people[0]) }
            try await upload(4, by: people[0])
            try await upload(10, by: people[1])
            #expect(try await host.objects.allKeys().count == 3)
        }
    }

    @Test("Without the object store an upload is 503 and leaves no row")
    func objectStoreAway() async throws {
        var settings = MessengerService.Settings()
        settings.storageQuota = 5
        try await withMessenger(on: stack, settings: settings) { host in
            let alice = try await host.world().person()
            func upload() async throws -> Messenger.File {
                try await alice.client.upload(Upload(.bytes([1, 2, 3, 4, 5]), filename: "a"))
            }
            // An upload waits in the first folder and ends in the second.
            for folder in ["uploads", "objects"].map({ "\(host.folder)/files/\($0)" }) {
                try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
                try Data().write(to: URL(fileURLWithPath: folder))
                let error = try await expectRefusal(503, "Object storage upload failed") { _ = try await upload() }
                #expect((error.retryAfter ?? 0) > 0)
                try FileManager.default.removeItem(atPath: folder)
                try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
            }
            // A row left behind would have used up the quota.
            _ = try await upload()
        }
    }

    @Test("An idempotency key is remembered for 24 hours")
    func idempotencyKeys() async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let chat = try await alice.group()
            func send() async throws -> RawAnswer {
                // The token has expired by then.
                let token = try await host.world().signedIn(alice.name, alice.password).token
                return try await host.world().raw.send(
                    .post, "/chats/\(chat)/messages", token: token, headers: [.idempotencyKey: "k"],
                    body: #"{"content":"x"}"#)
            }
            let first = try await send()
            host.clock.advance(by: .seconds(86_399))
            try await host.service.sweep()
            #expect(try await send().body == first.body)
            host.clock.advance(by: .seconds(1))
            let second = try await send()
            #expect(second.headers[.idempotentReplayed] == nil)
            #expect(second.body != first.body)
            // From now on, the second answer is stored under the key.
            #expect(try await send().body == second.body)
        }
    }

    @Test("A download's URL is valid for 3600 seconds")
    func downloads() async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let file = try await alice.client.upload(Upload(.bytes([1, 2, 3]), filename: "a"))
            let fetch = TransportRequest(method: .get, url: try await alice.client.downloadURL(of: file.id))
            host.clock.advance(by: .seconds(3599))
            #expect(try await host.transport.send(fetch, progress: nil).body == [1, 2, 3])
            host.clock.advance(by: .seconds(1))
            #expect(try await host.transport.send(fetch, progress: nil).status == .forbidden)
            // Each request receives a new URL.
            #expect(try await host.world().signedIn(alice.name, alice.password).client.download(file.id) == [1, 2, 3])
        }
    }

    @Test("Objects that no file names are removed once they are an hour old, and no others")
    func orphans() async throws {
        // The file system's time is the time of an object.
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withMessenger(on: stack, clock: clock) { host in
            let alice = try await host.world().person()
            let file = try await alice.client.upload(Upload(.bytes([1, 2, 3]), filename: "a"))
            let orphan = try #require(ObjectKey("orphan"))
            try await host.objects.put(try await host.objects.spool(), at: orphan, contentType: "text/plain")
            clock.advance(by: .seconds(3000))
            try await host.service.sweep()
            #expect(Set(try await host.objects.allKeys()) == ["orphan", file.objectKey])
            // The file may be minutes old already: the clock was set before the test could start.
            clock.advance(by: .seconds(3600))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [file.objectKey])
        }
    }

    @Test("A chat's time follows its newest message, also when that is deleted", arguments: Stack.Engine.available)
    func chatTimes(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, bob) = try await host.world().pair()
            let chats = [try await alice.group(with: bob), try await alice.group(with: bob)]
            func list() async throws -> [String] {
                try await bob.send(Messenger.ListChats()).map { row in
                    "\(chats.firstIndex(of: row.id) ?? -1) \(row.updatedAt.description.suffix(4))"
                }
            }
            var sent: [Messenger.Message] = []
            for index in [0, 1, 0] {
                host.clock.advance(by: .seconds(1))
                sent.append(try await alice.send(Messenger.SendMessage(chat: chats[index], content: "x")).message)
            }
            host.clock.advance(by: .seconds(1))
            #expect(try await list() == ["0 :03Z", "1 :02Z"])
            try await alice.send(Messenger.DeleteMessage(chat: chats[0], message: sent[2].id))
            #expect(try await list() == ["1 :02Z", "0 :01Z"])
            // Deleting an older message changes nothing.
            let newest = try await alice.send(Messenger.SendMessage(chat: chats[0], content: "x")).message
            try await alice.send(Messenger.DeleteMessage(chat: chats[0], message: sent[0].id))
            #expect(try await list() == ["0 :04Z", "1 :02Z"])
            try await alice.send(Messenger.DeleteMessage(chat: chats[0], message: newest.id))
            #expect(try await list() == ["1 :02Z", "0 :00Z"])
            try await alice.send(Messenger.DeleteMessage(chat: chats[1], message: sent[1].id))
            #expect(try await list() == ["1 :00Z", "0 :00Z"])
        }
    }

    @Test("Times are truncated to whole seconds, and chats are listed by the truncated times")
    func times() async throws {
        let clock = TestClock(milliseconds: 1_771_840_800_998)
        try await withMessenger(on: stack, clock: clock) { host in
            let alice = try await host.world().person()
            #expect(try await alice.send(Messenger.GetMe()).createdAt.description == "2026-02-23T10:00:00Z")
            let chats = [try await alice.group(), try await alice.group()]
            clock.advance(by: .milliseconds(1))
            let sent = try await alice.send(Messenger.SendMessage(chat: chats[0], content: "x"))
            #expect(sent.createdAt.description == "2026-02-23T10:00:00Z")
            #expect(try await alice.send(Messenger.ListChats()).map(\.id) == chats.reversed())
            #expect(try await alice.send(Messenger.ListChats(before: chats[1])).map(\.id) == [chats[0]])
            clock.advance(by: .milliseconds(1))
            try await alice.send(Messenger.SendMessage(chat: chats[0], content: "x"))
            let listed = try await alice.send(Messenger.ListChats())
            #expect(listed.map(\.id) == chats)
            #expect(listed.map(\.updatedAt.description) == ["2026-02-23T10:00:01Z", "2026-02-23T10:00:00Z"])
        }
    }
}
