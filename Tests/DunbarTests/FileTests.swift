import Backend
import ContractCheck
import Database
import DunbarAPI
import DunbarClient
import DunbarService
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import ObjectStore
import Testbed
import Testing

/// Files from the upload to their end: what is kept, and that nothing else is.
@Suite struct DunbarFileTests {
    private func stored(_ host: DunbarHost) async throws -> [String] {
        var keys: [String] = []
        var cursor: String?
        repeat {
            let page = try await host.objects.keys(olderThan: .max, after: cursor)
            keys += page.keys.map(\.rawValue)
            cursor = page.next
        } while cursor != nil
        return keys
    }

    /// Uploads that wait, in the folder that the store gives them.
    private func waiting(_ host: DunbarHost) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: host.folder + "/files/uploads")
    }

    private static let jpeg = SampleImage.jpeg(width: 8, height: 8)
    private static let mp4: [UInt8] = [0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isomiso2".utf8)

    private static func upload(_ bytes: [UInt8]) -> Upload {
        Upload(.bytes(bytes), filename: "x.jpg", contentType: "image/jpeg")
    }

    @Test(arguments: Stack.all)
    func oneBadFileAmongTenLeavesNothing(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            let good = Array(repeating: Self.upload(Self.jpeg), count: 9)
            for bad in [Array("text".utf8), Self.jpeg + Array("broken".utf8)] {
                for place in [0, 5, 9] {
                    var media = good
                    media.insert(Self.upload(bad), at: place)
                    do {
                        try await john.client.post("x", media: media)
                        Issue.record("it was taken")
                    } catch let error as APIError {
                        #expect(error.status == 400)
                        #expect(error.message == "Only image and video files are allowed!")
                    }
                    #expect(try await stored(host) == [])
                    #expect(try waiting(host) == [])
                }
            }
            #expect(try await john.send(Dunbar.GetFeed()) == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func whatThePostNeedsIsKeptAndNothingElse(_ engine: Stack.Engine) async throws {
        let clock = TestClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        try await withDunbar(on: Stack(engine, .inProcess), .init(clock: clock)) { host in
            let john = try await host.world().person()
            let post = try await john.client.post("x", media: [Self.upload(Self.jpeg), Self.upload(Self.mp4)])
            let photo = try await john.client.uploadPhoto(Self.upload(Self.jpeg), of: john.id).profile.photo
            let names = (post.media + [try #require(photo)]).map { "media/" + ($0.split(separator: "/").last ?? "") }
            #expect(try await stored(host).sorted() == names.sorted())
            #expect(names.allSatisfy { $0.wholeMatch(of: #/media\/[A-Za-z0-9_-]{22}\.(jpg|mp4)/#) != nil }, "\(names)")
            // A file that nothing shows goes with the next sweep, once it is old enough.
            let orphan = try #require(ObjectKey("media/AAAAAAAAAAAAAAAAAAAAAA.jpg"))
            try await host.objects.put(try await host.objects.spool(), at: orphan, contentType: "image/jpeg")
            try await host.service.sweep()
            #expect(try await stored(host).count == 4)
            // By far, for the file has the time of day.
            host.clock.advance(by: .seconds(24 * 3600))
            try await host.service.sweep()
            #expect(try await stored(host).sorted() == names.sorted())
            try await john.send(Dunbar.DeletePost(id: post.id))
            #expect(try await stored(host) == names.suffix(1))
        }
    }

    /// Images go through the image library, videos do not.
    @Test func whatIsProcessedIsWhatIsServed() async throws {
        let uses = NIOLockedValueBox<[DunbarService.ImageUse]>([])
        var setup = DunbarSetup()
        setup.images = { path, use in
            uses.withLockedValue { $0.append(use) }
            return Array("\(use)".utf8)
        }
        let heic: [UInt8] = [0, 0, 0, 24] + Array("ftypheic".utf8)
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        try await withDunbar(on: Stack(.sqlite, .inProcess), setup) { host in
            let world = host.world()
            let john = try await world.person()
            let media = [heic, png, Array("GIF89a".utf8), Array("RIFF0000WEBP".utf8), Self.mp4].map(Self.upload)
            let post = try await john.client.post("", media: media)
            #expect(post.media.map { $0.split(separator: ".").last } == ["jpg", "png", "gif", "webp", "mp4"])
            try await john.client.uploadPhoto(Self.upload(png), of: john.id)
            #expect(
                uses.withLockedValue { $0 } == [.post(.jpeg), .post(.png), .post(.gif), .post(.webp), .profile])
            let root = try #require(URL(string: "http://test"))
            let path = post.media[1].dropFirst("http://test".count)
            let answer = try await RawClient(baseURL: root, transport: host.transport).send(.get, String(path))
            #expect(answer.headers[.contentType] == "image/png")
            #expect(answer.text == "post(Backend.MediaType.png)")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aDatabaseThatRefusesLeavesNoFile(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            try await host.database.write { db in try db.run("DROP TABLE media") }
            await #expect(throws: APIError.self) {
                try await john.client.post("x", media: [Self.upload(Self.jpeg)])
            }
            #expect(try await stored(host) == [])
            #expect(try waiting(host) == [])
        }
    }
}
