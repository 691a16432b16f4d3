import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import MessengerClient
import MessengerService
import Testbed
import Testing

/// Each user has a quota for files.
@Suite(.timeLimit(.minutes(30))) struct QuotaTests {
    private func upload(by person: Person) async throws -> Messenger.File.ID {
        try await person.client.upload(Upload(.bytes(Array("content".utf8)), filename: "a.txt")).id
    }

    /// Each of the uploads would fit together with one other.
    @Test(arguments: Stack.Engine.available)
    func uploadsAtOnceDoNotPassTheQuotaTogether(_ engine: Stack.Engine) async throws {
        var settings = MessengerService.Settings()
        settings.storageQuota = 100
        try await withMessenger(on: Stack(engine, .inProcess), settings: settings) { host in
            let world = MessengerWorld(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
            let person = try await world.person()
            let refusals: [APIError] = await withTaskGroup(of: APIError?.self) { group in
                for index in 0..<10 {
                    group.addTask {
                        let file = Upload(.bytes(Array(repeating: 65, count: 40)), filename: "\(index).txt")
                        do {
                            _ = try await person.client.upload(file)
                            return nil
                        } catch {
                            return error as? APIError
                        }
                    }
                }
                return await group.reduce(into: []) { if let refusal = $1 { $0.append(refusal) } }
            }
            #expect(refusals.count == 8)
            #expect(refusals.allSatisfy { $0.status == .contentTooLarge && $0.message == "Storage quota exceeded" })
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anHourHasSoManyUploads(_ engine: Stack.Engine) async throws {
        var settings = MessengerService.Settings()
        settings.uploadsPerHour = 3
        try await withMessenger(on: Stack(engine, .inProcess), settings: settings) { host in
            let (alice, bob) = try await host.world().pair()
            for _ in 0..<3 { _ = try await upload(by: alice) }
            let refusal = try await expectRefusal(429, "Too many requests, please try again later") {
                _ = try await alice.client.upload(Upload(.bytes([1]), filename: "a"))
            }
            #expect(1...3600 ~= refusal.retryAfter ?? 0)
            #expect(try await host.objects.allKeys().count == 3)
            _ = try await upload(by: bob)
            host.clock.advance(by: .seconds(3600))
            let again = try await host.world().signedIn(alice.name, alice.password)
            _ = try await upload(by: again)
        }
    }

    /// Uploads that no message has used for a week are deleted and do not count any more.
    @Test(arguments: Stack.Engine.available)
    func unusedUploadsAreRemovedAfterAWeek(_ engine: Stack.Engine) async throws {
        var settings = MessengerService.Settings()
        settings.storageQuota = 21
        let clock = TestClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        try await withMessenger(on: Stack(engine, .inProcess), settings: settings, clock: clock) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            let (unused, sent) = (try await upload(by: alice), try await upload(by: alice))
            let picture = try await alice.client.upload(
                Upload(.bytes(Array(repeating: 1, count: 7)), filename: "a.png", contentType: "image/png")
            ).id
            try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: sent))
            try await alice.send(Messenger.UpdateMe(avatar: .to(picture)))
            func left() async throws -> [Int64] {
                try await host.service.sweep()
                return try await host.database.read { db in
                    try db.all("SELECT id FROM files ORDER BY id") { try $0.get(0) }
                }
            }
            host.clock.advance(by: .seconds(7 * 24 * 3600 - 60))
            #expect(try await left().count == 3)
            host.clock.advance(by: .seconds(120))
            #expect(try await left() == [sent.rawValue, picture.rawValue])
            #expect(try await host.objects.allKeys().count == 2)
            _ = unused
            let again = try await host.world().signedIn(alice.name, alice.password)
            _ = try await upload(by: again)
            try await expectRefusal(413, "Storage quota exceeded") {
                _ = try await again.client.upload(Upload(.bytes([1]), filename: "a"))
            }
        }
    }
}
