import Backend
import Contract
import ContractCheck
import ContractClient
import Database
import Foundation
import HTTPTypes
import MonicaClient
import MonicaService
import MonicaTestHost
import Testbed
import Testing

@testable import MonicaCheck

/// Photos and documents: what an account may store, how long links hold, and what becomes of the objects.
@Suite(.timeLimit(.minutes(30))) struct MonicaFileTests {
    private static let text = Upload(.bytes(Array("0123456789".utf8)), filename: "a.txt")
    private static let jpeg = Upload(.bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg")

    private func limits(quota: Int64? = nil, uploads: Int? = nil) -> MonicaService.Limits {
        var limits = MonicaService.Limits.outOfTheWay
        limits.storageQuota = quota ?? limits.storageQuota
        limits.uploadsPerHour = uploads ?? limits.uploadsPerHour
        return limits
    }

    private func status(_ error: any Error) -> Int? {
        switch error as? MonicaAPIError {
        case .rejected(let status, _): status
        case .rateLimitExceeded: 429
        default: nil
        }
    }

    /// Each of the files would fit together with two others.
    @Test(arguments: Stack.Engine.available)
    func filesAtOnceDoNotPassTheQuotaTogether(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess), limits: limits(quota: 30)) { host in
            let owner = try await host.world().owner()
            let john = try await owner.contact("John").id
            let refusals: [Int?] = await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            try await owner.client.store(document: Self.text, of: john)
                            return 201
                        } catch { return status(error) }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.filter { $0 == 201 }.count == 3)
            #expect(refusals.filter { $0 == 413 }.count == 5)
            #expect(try await host.objects.allKeys().count == 3)
            let answer = try await owner.store("photo", [("contact_id", "\(john)")], [("photo", Self.jpeg)])
            try answer.refused(413, 0, "Storage quota exceeded")
            #expect(try await host.objects.allKeys().count == 3)
            // Another account has room of its own, and a deletion makes room.
            let other = try await host.world().people(2)[1]
            try await other.client.store(document: Self.text, of: try await other.contact("Jane").id)
            let first = try await owner.send(Monica.List<Monica.Document>()).data[0].id
            try await owner.client.delete(Monica.Document.self, id: first)
            try await owner.client.store(document: Self.text, of: john)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anHourHasSoManyUploads(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess), limits: limits(uploads: 2)) { host in
            let owner = try await host.world().owner()
            let john = try await owner.contact("John").id
            try await owner.client.store(photo: Self.jpeg, of: john)
            try await owner.client.store(document: Self.text, of: john)
            let answer = try await owner.store("photo", [("contact_id", "\(john)")], [("photo", Self.jpeg)])
            try answer.refused(429, 34, "Too many attempts, please slow down the request")
            #expect(answer.headers[.retryAfter] != nil)
            #expect(try await host.objects.allKeys().count == 2)
            host.clock.advance(by: .seconds(3600))
            try await host.service.sweep()
            try await owner.client.store(photo: Self.jpeg, of: john)
        }
    }

    /// A photo's link is the same for a day and holds as long; a document's holds for an hour.
    @Test func linksExpire() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let (world, owner) = (host.world(), try await host.world().owner())
            let john = try await owner.contact("John").id
            let photo = try await owner.client.store(photo: Self.jpeg, of: john)
            let document = try await owner.client.store(document: Self.text, of: john)
            host.clock.advance(by: .seconds(3500))
            #expect(try await owner.send(Monica.Get<Monica.Photo>(id: photo.id)).data.link == photo.link)
            #expect(try await world.fetch(document.link).status == 200)
            host.clock.advance(by: .seconds(600))
            #expect(try await world.fetch(document.link).status == 403)
            let again = try await owner.send(Monica.Get<Monica.Document>(id: document.id)).data.link
            #expect(try await world.fetch(again).status == 200)
            host.clock.advance(by: .seconds(86_400 - 4100))
            #expect(try await world.fetch(photo.link).status == 200)
            host.clock.advance(by: .seconds(86_400))
            #expect(try await world.fetch(photo.link).status == 403)
        }
    }

    /// The stored answer has a link that has expired; its repeat has a valid one.
    @Test(arguments: Stack.Engine.available)
    func aRepeatedAnswerHasAGoodLink(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let (world, owner) = (host.world(), try await host.world().owner())
            let john = try await owner.contact("John").id
            let request = Monica.Store<Monica.Document>(Self.text, of: john)
            let first = try await owner.client.send(request, idempotencyKey: "a").data
            host.clock.advance(by: .seconds(7200))
            let again = try await owner.client.send(request, idempotencyKey: "a").data
            #expect(again.id == first.id)
            #expect(try await world.fetch(first.link).status == 403)
            #expect(try await world.fetch(again.link).status == 200)
        }
    }

    /// The stored photo is the one that the converter returns.
    @Test(arguments: Stack.all)
    func aPhotoIsWrittenAgain(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let (world, owner) = (host.world(), try await host.world().owner())
            let john = try await owner.contact("John").id
            let photo = try await owner.client.store(photo: Self.jpeg, of: john)
            let bytes = try await world.fetch(photo.link).body
            #expect(bytes.suffix(SampleImages.mark.count).elementsEqual(SampleImages.mark))
            #expect(photo.filesize == bytes.count)
        }
    }

    @Test func aPhotoWithTooManyPixelsIsRefused() async throws {
        let api = HostedMonica(
            limits: .outOfTheWay, photos: { _ in { _, _ in throw MonicaService.PhotoTooLarge() } },
            initials: { _ in { _, _, _ in [] } }, startupWarnings: { _ in })
        var setup = TestSetup()
        setup.listens = false
        try await withNodes(of: api, on: Stack(.sqlite, .inProcess), setup) { nodes in
            let owner = try await nodes[0].world().owner()
            let john = try await owner.contact("John").id
            try await owner.store("photo", [("contact_id", "\(john)")], [("photo", Self.jpeg)])
                .refused(422, 32, "The photo has too many pixels.")
            #expect(try await nodes[0].objects.allKeys().isEmpty)
        }
    }

    /// An object without a row is an upload that failed.
    @Test(arguments: Stack.Engine.available)
    func aSweepRemovesWhatNoRowNames(_ engine: Stack.Engine) async throws {
        // The file system's time is the time of an object.
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await withMonica(on: Stack(engine, .inProcess), clock: clock) { host in
            let owner = try await host.world().owner()
            let john = try await owner.contact("John").id
            let photo = try await owner.client.store(photo: Self.jpeg, of: john)
            let document = try await owner.client.store(document: Self.text, of: john)
            try await host.database.write { try $0.run("DELETE FROM photos") }
            #expect(Set(try await host.objects.allKeys()) == [photo.newFilename, document.newFilename])
            clock.advance(by: .seconds(6600))
            try await host.service.sweep()
            #expect(try await host.objects.allKeys() == [document.newFilename])
        }
    }

    /// A gift that moves to another contact keeps its photos, until their contact is deleted.
    @Test(arguments: Stack.Engine.available)
    func aMovedGiftLosesPhotosWithTheirContact(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let owner = try await host.world().owner()
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let photo = try await owner.client.store(photo: Self.jpeg, of: john)
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john, name: "x"))
            try await owner.send(Monica.AddPhotoToGift(gift: gift.id, photo: photo.id))
            let moved = try await owner.client.update(gift.id, Monica.GiftDraft(contactID: jane, name: "x"))
            #expect(moved.photos.map(\.id) == [photo.id])
            try await owner.client.delete(Monica.Contact.self, id: john)
            #expect(try await owner.send(Monica.Get<Monica.Gift>(id: gift.id)).data.photos.isEmpty)
            #expect(try await host.objects.allKeys().isEmpty)
        }
    }
}
