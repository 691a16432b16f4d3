@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension DunbarScenarios {
    static let photos: [Scenario<DunbarWorld>] = [
        Scenario("A photo has an absolute URL that anybody may fetch", clause: "POST /users/:id/photo") {
            world, john, jane in
            let user = try await john.client.uploadPhoto(.sample, of: john.id)
            guard let photo = user.profile.photo, photo.hasPrefix("http") else { throw CheckFailure("no URL: \(user)") }
            let file = try await world.fetch(photo)
            try expect(file.status, equals: 200)
            try expect(file.headers[.contentType], equals: "image/jpeg")
            try expect(file.headers[.nosniff], equals: "nosniff")
            let caching = file.headers[.cacheControl] ?? ""
            try expect(caching.contains("immutable"), "cached as \(caching)")
            try expect(file.body.starts(with: [0xFF, 0xD8, 0xFF]), "no JPEG")
            try expect(try await jane.send(Dunbar.GetUser(id: john.id)).user.photo, equals: photo)
            try expect(try await john.publish().user.photo, equals: photo)
            // The next photo replaces it, including its file.
            let next = try await john.client.uploadPhoto(.sample, of: john.id).profile.photo ?? ""
            try expect(next != photo, "the same URL again")
            try expect(try await world.fetch(photo).status, equals: 404)
            try expect(try await world.fetch(next).status, equals: 200)
        },
        Scenario("An invalid photo is refused, the first thing first", clause: "§1 photo") { _, john, jane in
            let path = "/users/\(john.id)/photo"
            let image = SampleImage.jpeg(width: 8, height: 8)
            func upload(
                _ person: Person, _ field: String, _ content: [UInt8], to path: String = path,
                type: String = "image/jpeg",
                name: String = "me.jpg"
            ) async throws -> RawAnswer {
                try await person.raw(
                    .post, path, headers: [.contentType: Form.type],
                    bytes: Form(files: [(field, name, type, content)]).bytes)
            }
            try await upload(jane, "photo", image).refused(403, "Not authorized to update this profile")
            try await upload(jane, "x", image).refused(403, "Not authorized to update this profile")
            try await upload(jane, "photo", image, to: "/users/999999999999/photo").refused(404, "User not found")
            try await upload(jane, "photo", image, to: "/users/x/photo").refused(400, "Invalid user ID")
            try await upload(john, "picture", image).refused(400, "No photo uploaded")
            try await upload(john, "photo", [], name: "").refused(400, "No photo uploaded")
            try await john.raw(.post, path).refused(400, "No photo uploaded")
            try await john.post(path).refused(400, "No photo uploaded")
            for content in ["", "no picture", "<svg xmlns='http://www.w3.org/2000/svg'/>", "\u{89}PNG", "%PDF-1.4"] {
                try await upload(john, "photo", Array(content.utf8)).refused(
                    400, "Only image files are allowed", content)
            }
            try await upload(john, "photo", Samples.mp4).refused(400, "Only image files are allowed")
            // A JPEG ends with a mark of two bytes.
            try await upload(john, "photo", image.dropLast(2)).refused(400, "Image is damaged or incomplete")
            // The declared type and the name do not matter.
            try await upload(john, "photo", image, type: "text/plain", name: "x.txt").succeeded(200)
        },
        Scenario("A file of more than 50 MiB is refused", clause: "§1 413") { _, john in
            let large = Samples.jpeg + [UInt8](repeating: 0, count: 52_428_801 - Samples.jpeg.count)
            for (path, field) in [("/users/\(john.id)/photo", "photo"), ("/posts", "media")] {
                let answer = try await john.raw(
                    .post, path, headers: [.contentType: Form.type],
                    bytes: Form(files: [(field, "x.jpg", "image/jpeg", large)]).bytes)
                try answer.refused(413, "File too large (max 50 MB)", path)
            }
        },
    ]
}

/// Files for uploads.
enum Samples {
    static let jpeg = SampleImage.jpeg(width: 16, height: 16)
    static let (mp4, mov, webm) = (SampleVideo.mp4, SampleVideo.mov, SampleVideo.webm)
}

extension Upload {
    static let sample = Upload(.bytes(Samples.jpeg), filename: "me.jpg", contentType: "image/jpeg")

    static func video(_ bytes: [UInt8]) -> Upload { Upload(.bytes(bytes), filename: "v", contentType: "text/plain") }
}

extension HTTPField.Name {
    static let nosniff = Self("X-Content-Type-Options")!
}
