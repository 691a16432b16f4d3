import Backend
import ContractCheck
import Database
import DunbarAPI
import DunbarClient
import DunbarService
import Foundation
import Testbed
import Testing

/// A user's posts have a quota for files, and a limit per hour.
@Suite(.timeLimit(.minutes(30))) struct DunbarStorageTests {
    private static let jpeg = Upload(
        .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "x.jpg", contentType: "image/jpeg")

    private func stored(_ host: DunbarHost) async throws -> Int { try await host.objects.allKeys().count }

    /// Each of the posts would fit together with one other.
    @Test(arguments: Stack.Engine.available)
    func postsAtOnceDoNotPassTheQuotaTogether(_ engine: Stack.Engine) async throws {
        var setup = DunbarSetup()
        setup.images = { _, _, _ in Array(repeating: 65, count: 40) }
        setup.storageQuota = 100
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            let john = try await host.world().person()
            let refusals: [APIError] = await withTaskGroup(of: APIError?.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do {
                            try await john.client.post("x", media: [Self.jpeg])
                            return nil
                        } catch {
                            return error as? APIError
                        }
                    }
                }
                return await group.reduce(into: []) { if let refusal = $1 { $0.append(refusal) } }
            }
            #expect(refusals.count == 8)
            #expect(refusals.allSatisfy { $0.status == 413 && $0.message == "Storage quota exceeded" })
            #expect(try await stored(host) == 2)
            // Text has no quota, and deleting a post makes room.
            let posts = try await john.send(Dunbar.GetFeed())
            #expect(posts.count == 2)
            try await john.client.post("text")
            try await john.send(Dunbar.DeletePost(id: posts[0].id))
            try await john.client.post("x", media: [Self.jpeg])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anHourHasSoManyPosts(_ engine: Stack.Engine) async throws {
        var setup = DunbarSetup()
        setup.uploadsPerHour = 3
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            let world = host.world()
            let (john, mary) = (try await world.person(), try await world.person())
            try await john.client.post("one")
            try await john.client.post("two", media: [Self.jpeg])
            try await john.client.uploadPhoto(Self.jpeg, of: john.id)
            for media in [[], [Self.jpeg]] {
                do {
                    try await john.client.post("three", media: media)
                    Issue.record("it was taken")
                } catch let error as APIError {
                    #expect(error.status == 429)
                    #expect(error.message == "Too many requests, please try again later")
                }
            }
            try await mary.client.post("one")
            host.clock.advance(by: .seconds(3600))
            try await john.client.post("three")
        }
    }

    /// Files from before sizes were stored count once their size has been read.
    @Test(arguments: Stack.Engine.available)
    func olderFilesCountToo(_ engine: Stack.Engine) async throws {
        var setup = DunbarSetup()
        setup.images = { _, _, _ in Array(repeating: 65, count: 40) }
        setup.storageQuota = 60
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            let john = try await host.world().person()
            try await john.client.post("x", media: [Self.jpeg])
            try await host.database.write { try $0.run("UPDATE media SET size = NULL") }
            try await host.service.sweep()
            let sizes: [Int64] = try await host.database.read { db in
                try db.all("SELECT size FROM media") { try $0.get(0) }
            }
            #expect(sizes == [40])
            await #expect(throws: APIError.self) { try await john.client.post("x", media: [Self.jpeg]) }
        }
    }
}
