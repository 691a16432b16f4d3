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

/// Files are kept from their upload until their post is deleted, and no other files are.
@Suite(.timeLimit(.minutes(30))) struct DunbarFileTests {
    private func stored(_ host: DunbarHost) async throws -> [String] { try await host.objects.allKeys() }

    /// Waits until no upload is in progress: the files of one are removed with the last reference to it, which may be after
    /// its answer.
    private func noUploadIsLeft(_ host: DunbarHost) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while true {
            let files = try FileManager.default.contentsOfDirectory(atPath: host.folder + "/files/uploads")
            if files.isEmpty { return }
            try #require(ContinuousClock.now < end, "\(files)")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private static let jpeg = SampleImage.jpeg(width: 8, height: 8)
    private static let mp4 = SampleVideo.mp4

    /// Returns the last part of a URL's path.
    private static func name(_ url: String) -> String {
        String(url.prefix { $0 != "?" }.split(separator: "/").last ?? "")
    }

    private static func upload(_ bytes: [UInt8]) -> Upload {
        Upload(.bytes(bytes), filename: "x.jpg", contentType: "image/jpeg")
    }

    /// Repeats that come before the first answer wait for it: they convert no picture and store no file.
    @Test(arguments: Stack.all, [8, 32])
    func repeatsAtOnceAreOneUpload(_ stack: Stack, _ count: Int) async throws {
        let converted = NIOLockedValueBox(0)
        var setup = DunbarSetup()
        let images = setup.images
        setup.images = { path, use, user in
            converted.withLockedValue { $0 += 1 }
            return try await images(path, use, user)
        }
        try await withDunbar(on: stack, setup) { host in
            let john = try await host.world().person()
            let answers = try await together(count) { _ in
                try await john.client.answer(
                    Dunbar.CreatePost(content: "x", media: [Self.upload(Self.jpeg)]), idempotencyKey: "post"
                ).output
            }
            #expect(Set(answers).count == 1 && answers.allSatisfy { $0 != nil })
            #expect(converted.withLockedValue { $0 } == 1)
            let photos = try await together(count) { _ in
                try await john.client.answer(
                    Dunbar.UploadPhoto(id: john.id, photo: Self.upload(Self.jpeg)), idempotencyKey: "photo"
                ).output
            }
            #expect(Set(photos).count == 1 && photos.allSatisfy { $0 != nil })
            #expect(converted.withLockedValue { $0 } == 2)
            #expect(try await stored(host).count == 2)
        }
    }

    @Test(arguments: Stack.all)
    func oneBadFileAmongTenLeavesNothing(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            let good = Array(repeating: Self.upload(Self.jpeg), count: 9)
            for (bad, message) in [
                (Array("text".utf8), "Only image and video files are allowed!"),
                (Self.jpeg + Array("broken".utf8), "Image is damaged or incomplete"),
            ] {
                for place in [0, 5, 9] {
                    var media = good
                    media.insert(Self.upload(bad), at: place)
                    do {
                        try await john.client.post("x", media: media)
                        Issue.record("it was taken")
                    } catch let error as APIError {
                        #expect(error.status == 400)
                        #expect(error.message == message)
                    }
                    #expect(try await stored(host) == [])
                    try await noUploadIsLeft(host)
                }
            }
            #expect(try await john.send(Dunbar.GetFeed()) == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func onlyFilesOfPostsAreKept(_ engine: Stack.Engine) async throws {
        let clock = TestClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        try await withDunbar(on: Stack(engine, .inProcess), .init(clock: clock)) { host in
            let john = try await host.world().person()
            let post = try await john.client.post("x", media: [Self.upload(Self.jpeg), Self.upload(Self.mp4)])
            let photo = try await john.client.uploadPhoto(Self.upload(Self.jpeg), of: john.id).profile.photo
            let names = (post.media + [try #require(photo)]).map { "media/" + Self.name($0) }
            #expect(try await stored(host).sorted() == names.sorted())
            #expect(names.allSatisfy { $0.wholeMatch(of: #/media\/[A-Za-z0-9_-]{22}\.(jpg|mp4)/#) != nil }, "\(names)")
            // The sweep deletes a file that no post uses, once the file is old enough.
            let orphan = try #require(ObjectKey("media/AAAAAAAAAAAAAAAAAAAAAA.jpg"))
            try await host.objects.put(try await host.objects.spool(), at: orphan, contentType: "image/jpeg")
            try await host.service.sweep()
            #expect(try await stored(host).count == 4)
            // The step is large, because the file has the system clock's time.
            host.clock.advance(by: .seconds(24 * 3600))
            try await host.service.sweep()
            #expect(try await stored(host).sorted() == names.sorted())
            try await john.send(Dunbar.DeletePost(id: post.id))
            #expect(try await stored(host) == names.suffix(1))
        }
    }

    /// Images are processed by the image library, videos are not.
    @Test func processedFilesAreServed() async throws {
        let uses = NIOLockedValueBox<[DunbarService.ImageUse]>([])
        var setup = DunbarSetup()
        setup.images = { path, use, _ in
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
            #expect(
                post.media.map { Self.name($0).split(separator: ".").last } == ["jpg", "png", "gif", "webp", "mp4"])
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
            try await noUploadIsLeft(host)
        }
    }

    /// The video is what any user downloads.
    @Test(arguments: Stack.all)
    func aVideoLosesItsLocation(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let world = host.world()
            let john = try await world.person()
            let place = SampleVideo.box("udta", SampleVideo.box("\u{A9}xyz", Array("SECRET".utf8)))
            let head = SampleVideo.box("ftyp", Array("qt  ".utf8) + SampleVideo.word(0))
            let film = head + SampleVideo.movie(place) + SampleVideo.media
            let tags = SampleVideo.element([0x12, 0x54, 0xC3, 0x67], Array("SECRET".utf8))
            // The film of a live photo has no `ftyp`, and one of a camera has a brand of its own.
            let old = SampleVideo.box("wide", []) + SampleVideo.movie(place) + SampleVideo.media
            let brands = SampleVideo.box("ftyp", Array("XAVC".utf8) + SampleVideo.word(0) + Array("XAVCmp42".utf8))
            let films = [film, SampleVideo.webm + tags, old, brands + SampleVideo.movie(place) + SampleVideo.media]
            let post = try await john.client.post("x", media: films.map(Self.upload))
            #expect(post.media.map { Self.name($0).suffix(4) } == [".mov", "webm", ".mov", ".mp4"])
            for (url, original) in zip(post.media, films) {
                let path = try #require(URL(string: url))
                let stored = try await host.transport.send(.init(method: .get, url: path), progress: nil)
                #expect(stored.status == 200 && stored.body.count == original.count)
                #expect(!String(decoding: stored.body, as: UTF8.self).contains("SECRET"))
                #expect(String(decoding: stored.body, as: UTF8.self).contains("pixels"))
            }
        }
    }

    @Test func anImageOfTooManyPixelsIsRefusedWithAReason() async throws {
        var setup = DunbarSetup()
        setup.images = { _, _, _ in throw ImageTooLarge() }
        try await withDunbar(on: Stack(.sqlite, .inProcess), setup) { host in
            let john = try await host.world().person()
            for (bytes, limit) in [(Self.jpeg, 100), (Array("GIF89a".utf8), 40)] {
                let message = "Image too large (max \(limit) megapixels)"
                let post = await #expect(throws: APIError.self) {
                    try await john.client.post("x", media: [Self.upload(bytes)])
                }
                #expect(post?.status == 400 && post?.message == message)
                let photo = await #expect(throws: APIError.self) {
                    try await john.client.uploadPhoto(Self.upload(bytes), of: john.id)
                }
                #expect(photo?.status == 400 && photo?.message == message)
            }
        }
    }

    /// A repeat returns the first answer, except for the URLs, which are valid from then on.
    @Test(arguments: Stack.Engine.available)
    func aRepeatedAnswerHasFreshURLs(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            try await john.client.uploadPhoto(Self.upload(Self.jpeg), of: john.id)
            let request = Dunbar.CreatePost(content: "x", media: [Self.upload(Self.jpeg)])
            func post() async throws -> Dunbar.Post {
                try #require(try await john.client.answer(request, idempotencyKey: "key").output)
            }
            func comment(_ post: Dunbar.Post) async throws -> Dunbar.Comment {
                let request = Dunbar.AddComment(post: post.id, content: "x")
                return try #require(try await john.client.answer(request, idempotencyKey: "comment").output)
            }
            let first = try await post()
            let said = try await comment(first)
            #expect(try await post() == first)
            #expect(try await comment(first) == said)
            host.clock.advance(by: .seconds(24 * 3600 - 1))
            let again = try await post()
            #expect(again.id == first.id && again.createdAt == first.createdAt && again.content == first.content)
            #expect(again.media != first.media && again.media.map(Self.name) == first.media.map(Self.name))
            #expect(
                again.user.photo != first.user.photo
                    && again.user.photo.map(Self.name) == first.user.photo.map(Self.name))
            #expect(try await comment(first).user.photo == again.user.photo)
        }
    }

    /// Apps may have kept URLs from before URLs were signed.
    @Test(arguments: Stack.Engine.available)
    func urlsFromBeforeTheUpgradeAreValidForAWeek(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            let post = try await john.client.post("x", media: [Self.upload(Self.jpeg), Self.upload(Self.jpeg)])
            let old = Self.name(post.media[0])
            try await host.database.write { db in try db.run("INSERT INTO unsigned_files (name) VALUES (\(old))") }
            let root = try #require(URL(string: "http://test"))
            func status(_ url: String) async throws -> Int {
                let path = url.dropFirst("http://test".count)
                return try await RawClient(baseURL: root, transport: host.transport).send(.get, String(path)).status
            }
            func unsigned(_ url: String) -> String { String(url.prefix { $0 != "?" }) }
            #expect(try await status(unsigned(post.media[0])) == 200)
            #expect(try await status(unsigned(post.media[1])) == 403)
            try await host.service.sweep()
            host.clock.advance(by: .seconds(7 * 24 * 3600 - 1))
            try await host.service.sweep()
            #expect(try await status(unsigned(post.media[0])) == 200)
            // A signed URL from then has expired.
            #expect(try await status(post.media[0]) == 403)
            host.clock.advance(by: .seconds(1))
            #expect(try await status(unsigned(post.media[0])) == 403)
            try await host.service.sweep()
            let rows = try await host.database.read {
                try $0.value("SELECT COUNT(*) FROM unsigned_files", as: Int.self)
            }
            #expect(rows == 0)
            // A user who may see the post receives a new URL.
            let again = try await john.send(Dunbar.ListUserPosts(user: john.id))[0]
            #expect(again.media[0] != post.media[0] && unsigned(again.media[0]) == unsigned(post.media[0]))
            #expect(try await status(again.media[0]) == 200)
        }
    }
}
