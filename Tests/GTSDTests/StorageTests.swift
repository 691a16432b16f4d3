import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDCheck
import GTSDClient
import GTSDService
import HTTPTypes
import ObjectStore
import Testbed
import Testing

/// A user's storage has a quota, and files that are replaced, abandoned or deleted are removed.
@Suite(.timeLimit(.minutes(30))) struct GTSDStorageTests {
    private static let bytes = SampleImage.jpeg(width: 8, height: 8)
    private static let quotaExceeded = "Storage quota exceeded"

    private static func confirmation(_ key: String, _ bytes: [UInt8] = bytes) -> GTSD.ConfirmPhoto {
        GTSD.ConfirmPhoto(fileKey: key, fileSize: bytes.count, contentType: "image/jpeg")
    }

    private static func request(_ size: Int = bytes.count) -> GTSD.PresignPhoto {
        GTSD.PresignPhoto(fileName: "a.jpg", contentType: "image/jpeg", fileSize: size)
    }

    private func send(
        _ method: HTTPRequest.Method, _ url: String, _ bytes: [UInt8]? = nil, to host: GTSDHost
    ) async throws -> TransportResponse {
        let request = TransportRequest(
            method: method, url: try #require(URL(string: url)), body: bytes.map { .bytes($0) } ?? .none)
        return try await host.transport.send(request, progress: nil)
    }

    private func files(_ host: GTSDHost) async throws -> Set<String> { Set(try await host.objects.allKeys()) }

    // MARK: Limits

    /// Each of the files would fit together with one other.
    @Test(arguments: Stack.Engine.available)
    func uploadsReservedAtOnceKeepTheQuota(_ engine: Stack.Engine) async throws {
        var settings = GTSDService.Settings()
        settings.storageQuota = 100
        try await withGTSD(on: Stack(engine, .inProcess), settings: settings) { host in
            let anna = try await host.world().person()
            let refusals: [APIError] = await withTaskGroup(of: APIError?.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do {
                            let _: GTSD.PresignedUpload = try await anna.send(Self.request(40))
                            return nil
                        } catch {
                            return error as? APIError
                        }
                    }
                }
                return await group.reduce(into: []) { if let refusal = $1 { $0.append(refusal) } }
            }
            #expect(refusals.count == 8)
            #expect(refusals.allSatisfy { $0.status == .contentTooLarge && $0.message == Self.quotaExceeded })
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aPhotoCountsUntilItIsDeletedAndAPlaceUntilItsTimeIsOver(_ engine: Stack.Engine) async throws {
        let size = Self.bytes.count
        var settings = GTSDService.Settings()
        settings.storageQuota = Int64(2 * size)
        try await withGTSD(on: Stack(engine, .inProcess), settings: settings) { host in
            let player = try await Player.begin(on: host)
            func presign() async throws -> GTSD.PresignedUpload { try await player.client.send(Self.request()).data }
            let place = try await presign()
            #expect(try await send(.put, place.uploadUrl, Self.bytes, to: host).status == .ok)
            _ = try await presign()
            try await expectRefusal(413, Self.quotaExceeded) { _ = try await presign() }
            // A reserved upload becomes a photo. The quota is full, and the photo counts.
            let photo = try await player.client.send(Self.confirmation(place.fileKey)).data
            try await expectRefusal(413, Self.quotaExceeded) { _ = try await presign() }
            // The other upload never arrives.
            host.clock.advance(by: .seconds(3600 + 901))
            try await host.service.sweep()
            try await player.client.signIn(email: player.email, password: "Secret-123")
            _ = try await presign()
            try await expectRefusal(413, Self.quotaExceeded) { _ = try await presign() }
            try await player.client.send(GTSD.DeletePhoto(photo.photoId))
            _ = try await presign()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anHourHasSoManyUploads(_ engine: Stack.Engine) async throws {
        var settings = GTSDService.Settings()
        settings.uploadsPerHour = 3
        try await withGTSD(on: Stack(engine, .inProcess), settings: settings) { host in
            let (anna, berta) = try await host.world().pair()
            func presign(_ person: Person) async throws -> RawAnswer {
                try await person.post(
                    "/v1/progress/photo/presign",
                    ["fileName": "a.jpg", "contentType": "image/jpeg", "fileSize": 9])
            }
            for _ in 0..<3 { #expect(try await presign(anna).status == 200) }
            let refused = try await presign(anna)
            try refused.refused(429, "Too many requests, please try again later")
            #expect(1...3600 ~= refused.headers[.retryAfter].flatMap { Int($0) } ?? 0)
            #expect(try await presign(berta).status == 200)
            // Nothing of the uploads outlasts the account.
            try await anna.client.deleteAccount(password: Person.password)
            let left = try await host.database.read { db in
                try db.value("SELECT COUNT(*) FROM attempts WHERE key LIKE 'uploads %'", as: Int.self)
            }
            #expect(left == 1)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aTasksEvidenceIsLimited(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let player = try await Player.begin(on: host)
            try await player.metrics(100)
            try await expectRefusal(409, "Too many evidence entries for this task") { try await player.metrics(1) }
            let other = try await player.tasks()[1].id
            try await player.client.send(
                GTSD.SubmitEvidence(taskId: other, type: .textLog, data: .init(text: "x")))
        }
    }

    // MARK: Places

    @Test(arguments: Stack.all)
    func anUploadIsReplacedUntilItIsConfirmed(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            let other = Array(Self.bytes.dropLast()) + [7]
            let place: GTSD.PresignedUpload = try await anna.send(Self.request())
            #expect(try await send(.put, place.uploadUrl, [], to: host).status == .badRequest)
            #expect(try await files(host) == [])
            for bytes in [Array("wrong".utf8), Self.bytes, other] {
                #expect(try await send(.put, place.uploadUrl, bytes, to: host).status == .ok)
            }
            let photo: GTSD.ConfirmedPhoto = try await anna.send(Self.confirmation(place.fileKey))
            #expect(try await send(.get, photo.downloadUrl, to: host).body == other)
            // From then on the content cannot change.
            #expect(try await send(.put, place.uploadUrl, Self.bytes, to: host).status == .conflict)
            #expect(try await send(.put, place.uploadUrl, other, to: host).status == .ok)
            #expect(try await send(.get, photo.downloadUrl, to: host).body == other)
        }
    }

    /// A confirmed photo has the content that was checked, even if another upload arrives meanwhile.
    @Test func anUploadDuringAConfirmationComesBeforeOrAfterIt() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let anna = try await host.world().person()
            for round in 0..<20 {
                let place = try await anna.put(Self.bytes, as: "\(round).jpg")
                async let put = send(.put, place.uploadUrl, Array("no picture".utf8), to: host)
                let photo: GTSD.ConfirmedPhoto
                do {
                    photo = try await anna.send(Self.confirmation(place.fileKey))
                } catch let error as APIError {
                    // The upload arrived first, and is not a photo.
                    #expect(error.status == .badRequest, "\(error)")
                    _ = try await put
                    continue
                }
                #expect(try await put.status == .conflict)
                #expect(try await send(.get, photo.downloadUrl, to: host).body == Self.bytes)
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aDeletedPhotoDoesNotComeBack(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .live)) { host in
            let anna = try await host.world().person()
            let place = try await anna.put(Self.bytes)
            let photo: GTSD.ConfirmedPhoto = try await anna.send(Self.confirmation(place.fileKey))
            let _: NoData = try await anna.send(GTSD.DeletePhoto(photo.photoId))
            let again = try await send(.put, place.uploadUrl, Self.bytes, to: host)
            #expect(again.status == .gone)
            #expect(String(decoding: again.body, as: UTF8.self).contains("Nothing can be uploaded here any more"))
            #expect(try await send(.get, photo.downloadUrl, to: host).status == .notFound)
            #expect(try await files(host) == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func deletingAnAccountDeletesItsUploads(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let (anna, berta) = try await host.world().pair()
            let (place, kept) = (try await anna.put(Self.bytes), try await berta.put(Self.bytes))
            let unused: GTSD.PresignedUpload = try await anna.send(Self.request())
            try await anna.client.deleteAccount(password: Person.password)
            #expect(try await files(host) == [kept.fileKey])
            for url in [place.uploadUrl, unused.uploadUrl] {
                #expect(try await send(.put, url, Self.bytes, to: host).status == .gone)
            }
            #expect(try await files(host) == [kept.fileKey])
            // The keys are refused until their URLs have expired, and are then deleted.
            func traces() async throws -> Int? {
                try await host.database.read { db in
                    try db.value("SELECT (SELECT COUNT(*) FROM discarded_objects) + (SELECT COUNT(*) FROM uploads)")
                }
            }
            #expect(try await traces() == 3)
            host.clock.advance(by: .seconds(3600 + 901))
            #expect(try await send(.put, place.uploadUrl, Self.bytes, to: host).status == .forbidden)
            try await host.service.sweep()
            // Berta's upload stays for a day.
            #expect(try await traces() == 1)
        }
    }

    // MARK: Repeats

    @Test(arguments: Stack.Engine.available)
    func aRepeatHasFreshURLs(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let player = try await Player.begin(on: host)
            func presign() async throws -> GTSD.PresignedUpload {
                try await player.client.send(Self.request(), idempotencyKey: "place").data
            }
            let first = try await presign()
            host.clock.advance(by: .seconds(3660))
            try await player.client.signIn(email: player.email, password: "Secret-123")
            let second = try await presign()
            #expect(second.fileKey == first.fileKey)
            // The upload is expected for another hour.
            host.clock.advance(by: .seconds(1800))
            try await host.service.sweep()
            #expect(try await send(.put, first.uploadUrl, Self.bytes, to: host).status == .forbidden)
            #expect(try await send(.put, second.uploadUrl, Self.bytes, to: host).status == .ok)
            try await player.client.signIn(email: player.email, password: "Secret-123")
            func confirm() async throws -> GTSD.ConfirmedPhoto {
                try await player.client.send(Self.confirmation(first.fileKey), idempotencyKey: "photo").data
            }
            let photo = try await confirm()
            host.clock.advance(by: .seconds(3660))
            try await player.client.signIn(email: player.email, password: "Secret-123")
            let again = try await confirm()
            #expect(again.photoId == photo.photoId)
            #expect(try await send(.get, photo.downloadUrl, to: host).status == .forbidden)
            #expect(try await send(.get, again.downloadUrl, to: host).body == Self.bytes)
            try await player.client.send(GTSD.DeletePhoto(photo.photoId))
            try await expectRefusal(404, "File not found in storage: \(first.fileKey)") { _ = try await confirm() }
        }
    }

    /// The first call stops after it has received an upload URL. The second call confirms its photo, but its answer is
    /// lost.
    @Test func theSDKFinishesAnInterruptedUpload() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let player = try await Player.begin(on: host)
            let upload = Upload(.bytes(Self.bytes), filename: "a.jpg", contentType: "image/jpeg")
            // A call with other bytes has confirmed another photo under this key.
            let other = Array(Self.bytes.dropLast()) + [7]
            let one = try await player.client.uploadPhoto(
                Upload(.bytes(other), filename: "a.jpg", contentType: "image/jpeg"), idempotencyKey: "key")
            let two = try await player.client.uploadPhoto(upload, idempotencyKey: "key")
            #expect(one.photoId != two.photoId)
            #expect(try await send(.get, two.downloadUrl, to: host).body == Self.bytes)
            // The photo has been deleted.
            try await player.client.send(GTSD.DeletePhoto(one.photoId))
            let three = try await player.client.uploadPhoto(upload, idempotencyKey: "key")
            #expect(three.photoId != two.photoId)
            // The same key's confirmation of another upload does not get in the way.
            let place = try await player.client.send(Self.request(), idempotencyKey: "late.presign").data
            #expect(try await send(.put, place.uploadUrl, Self.bytes, to: host).status == .ok)
            let elsewhere = try await player.client.send(Self.request()).data
            #expect(try await send(.put, elsewhere.uploadUrl, Self.bytes, to: host).status == .ok)
            _ = try await player.client.send(Self.confirmation(elsewhere.fileKey), idempotencyKey: "late.confirm")
            let late = try await player.client.uploadPhoto(upload, idempotencyKey: "late")
            #expect(try await send(.get, late.downloadUrl, to: host).body == Self.bytes)
        }
    }
}
