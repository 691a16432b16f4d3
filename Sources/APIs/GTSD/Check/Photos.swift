@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    private static let jpeg = SampleImage.jpeg(width: 8, height: 8)
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 24)
    static let heic: [UInt8] = [0, 0, 0, 0x18] + Array("ftypheic".utf8) + Array(repeating: 0, count: 20)

    static let photos: [Scenario<GTSDWorld>] = [
        Scenario(
            "A photo is put into the store, confirmed, listed, fetched and deleted", clause: "Progress photos",
            level: .contract
        ) { world, anna in
            let place = try await anna.put(jpeg)
            try expect(place.fileKey.hasPrefix("progress-photos/\(anna.id)/"), place.fileKey)
            let body: JSONValue = [
                "fileKey": .string(place.fileKey), "width": 1920, "height": 1080,
                "fileSize": .integer(Int64(jpeg.count)), "contentType": "image/jpeg",
                "takenAt": "2025-10-26T12:00:00+02:00", "evidenceType": "before",
            ]
            let confirmed = try await anna.post("/v1/progress/photo/confirm", body).data(201)
            // A repetition changes nothing, and there is one photo.
            let again = try await anna.post("/v1/progress/photo/confirm", body).data(200)
            try expect(again["photoId"], equals: confirmed["photoId"])
            let page = try await anna.get("/v1/progress/photos").data()
            try expect(page["pagination"], equals: ["limit": 50, "offset": 0, "total": 1])
            let photo = page["photos"]?[0]
            try expect(photo?["id"], equals: confirmed["photoId"])
            try expect(photo?["takenAt"], equals: "2025-10-26T10:00:00.000Z")
            try expect(photo?["mimeType"], equals: "image/jpeg")
            try expect(photo?["evidenceType"], equals: "before")
            for url in [confirmed["downloadUrl"], again["downloadUrl"], photo?["downloadUrl"]] {
                let answer = try await world.fetch(url?.string ?? "")
                try expect(answer.status, equals: 200)
                try expect(answer.body == jpeg, "another file")
                try expect(answer.headers[.contentType], equals: "image/jpeg")
            }
            let path = "/v1/progress/photo/\(confirmed["photoId"] ?? nil)"
            try expect(
                try await anna.raw(.delete, path).succeeded(200),
                equals: ["success": true, "message": "Photo deleted successfully"])
            try expect(try await anna.get("/v1/progress/photos").data()["photos"], equals: [])
            try expect(try await world.fetch(confirmed["downloadUrl"]?.string ?? "").status, equals: 404)
            try await anna.raw(.delete, path)
                .refused(404, "Photo \(confirmed["photoId"] ?? nil) not found or does not belong to user")
        },
        Scenario("A photo that was deleted does not come back", clause: "§2 downloadUrl") { world, anna in
            let place = try await anna.put(jpeg)
            let confirmation = GTSD.ConfirmPhoto(
                fileKey: place.fileKey, fileSize: jpeg.count, contentType: "image/jpeg")
            let photo: GTSD.ConfirmedPhoto = try await anna.send(confirmation)
            let _: NoData = try await anna.send(GTSD.DeletePhoto(photo.photoId))
            // Its URL has not expired: a file that is put there again becomes no photo.
            _ = try await world.fetch(place.uploadUrl, .put, bytes: jpeg)
            try await expectRefusal(404, "File not found in storage: \(place.fileKey)") {
                let _: GTSD.ConfirmedPhoto = try await anna.send(confirmation)
            }
            try expect(try await anna.get("/v1/progress/photos").data()["photos"], equals: [])
        },
        Scenario("Names, types and sizes", clause: "§2 fileName, contentType, fileSize") { _, anna in
            let kept: [(String, String)] = [
                ("../../IMG.2024.JPG", "IMG_2024.JPG"), (#"C:\x\ä b.png"#, "__b.png"), ("a.b.HeIc", "a_b.HeIc"),
                (String(repeating: "n", count: 250) + ".jpeg", String(repeating: "n", count: 100) + ".jpeg"),
                (" \t a.jpg \r\n", "a.jpg"),
                (String(repeating: " ", count: 250) + "-front.jpg ", "-front.jpg"),
            ]
            for (name, clean) in kept {
                let data = try await presign(anna, name).data(200, name)
                let key = data["fileKey"]?.string ?? ""
                let uuid = key.dropFirst("progress-photos/\(anna.id)/".count).prefix(36)
                try expect(UUID(uuidString: String(uuid)) != nil, key)
                try expect(key, equals: "progress-photos/\(anna.id)/\(uuid)-\(clean)")
            }
            try await presign(anna, "a.gif")
                .refused(400, "Invalid file extension: .gif. Allowed: jpg, jpeg, png, heic")
            try await presign(anna, "a/b")
                .refused(400, "Invalid file extension: .. Allowed: jpg, jpeg, png, heic")
            for name in ["a\u{0}.jpg", "a\n.jpg"] {
                try await presign(anna, name).refused(400, "Invalid filename: contains null bytes")
            }
            for name in ["", "  \t "] { try await presign(anna, name).invalid("fileName: File name is required") }
            try await presign(anna, String(repeating: "n", count: 256))
                .invalid("fileName: File name must be less than 255 characters")
            try await presign(anna, "a.jpg", type: "image/gif")
                .invalid("contentType: Content type must be one of: image/jpeg, image/png, image/heic")
            try await presign(anna, "a.jpg", size: 10_485_760).data()
            try await presign(anna, "a.jpg", size: 10_485_761).invalid("fileSize: File size must be less than 10MB")
            try await presign(anna, "a.jpg", size: 0).invalid("fileSize: File size must be positive")
        },
        Scenario("What was put is looked at, not what is said of it", clause: "§2 confirm") { _, anna in
            func confirm(_ key: String, _ size: Int, _ type: String = "image/jpeg") async throws -> RawAnswer {
                try await anna.post(
                    "/v1/progress/photo/confirm",
                    ["fileKey": .string(key), "fileSize": .integer(Int64(size)), "contentType": .string(type)])
            }
            let (place, count) = (try await anna.put(jpeg), jpeg.count)
            try await confirm(place.fileKey, count, "image/png")
                .refused(400, "Content type mismatch: expected image/png, got image/jpeg")
            try await confirm(place.fileKey, count + 1)
                .refused(400, "File size mismatch: expected \(count + 1) bytes, got \(count) bytes")
            let text = try await anna.put(Array("not a picture at all".utf8))
            try await confirm(text.fileKey, 20)
                .refused(400, "Content type mismatch: expected image/jpeg, got application/octet-stream")
            let nothing = try await presign(anna, "a.jpg").data()["fileKey"]?.string ?? ""
            try await confirm(nothing, count).refused(404, "File not found in storage: \(nothing)")
            for (bytes, type) in [(png, "image/png"), (heic, "image/heic"), (jpeg, "image/jpeg")] {
                let place = try await anna.put(bytes, type: type)
                try await confirm(place.fileKey, bytes.count, type).data(201, type)
            }
            try await confirm(place.fileKey, count).data(201)
        },
        Scenario("What a confirmation may say", clause: "§2 confirm") { _, anna in
            let place = try await anna.put(jpeg)
            let task = try await anna.tasks()[0].id
            func confirm(_ more: [String: JSONValue]) async throws -> RawAnswer {
                let body: [String: JSONValue] = [
                    "fileKey": .string(place.fileKey), "fileSize": .integer(Int64(jpeg.count)),
                    "contentType": "image/jpeg",
                ]
                return try await anna.post("/v1/progress/photo/confirm", .object(body.merging(more) { $1 }))
            }
            try await anna.post("/v1/progress/photo/confirm", [:])
                .invalid("fileKey: Required, fileSize: Required, contentType: Required")
            let table: [([String: JSONValue], String)] = [
                (["width": 0, "height": 50_001], "width: Invalid width, height: Invalid height"),
                (["takenAt": "2025-10-26"], "takenAt: Invalid takenAt"),
                (["takenAt": "2025-10-26T10:00:00"], "takenAt: Invalid takenAt"),
                (["taskId": task.json], "evidenceType: evidenceType is required when taskId is provided"),
                (
                    ["taskId": 0, "evidenceType": "x"],
                    "taskId: Task ID must be a positive integer, evidenceType: Invalid evidenceType"
                ),
            ]
            for (more, text) in table { try await confirm(more).invalid(text, text) }
            let id = try await confirm(["taskId": task.json, "evidenceType": "after"]).data(201)["photoId"]
            // Confirming completes no task, and a repetition changes nothing.
            try expect(try await anna.tasks()[0].completed, equals: false)
            try expect(try await confirm(["width": 5, "evidenceType": "during"]).data()["photoId"], equals: id)
            let mine = try await anna.get("/v1/progress/photos?taskId=\(task)").data()["photos"]
            try expect(mine?[0]?["evidenceType"], equals: "after")
            try expect(mine?[0]?["width"], equals: .null)
            try expect(
                try await anna.get("/v1/progress/photos?taskId=\(task.rawValue + 1)").data()["photos"], equals: [])
        },
        Scenario("Fifty confirmations at once make one photo", clause: "§5 transactions") { _, anna in
            let place = try await anna.put(jpeg)
            let body: JSONValue = [
                "fileKey": .string(place.fileKey), "fileSize": .integer(Int64(jpeg.count)), "contentType": "image/jpeg",
            ]
            // Thirty a minute are allowed.
            let answers = try await together(30) { _ in try await anna.post("/v1/progress/photo/confirm", body) }
            try expect(answers.filter { $0.status == 201 }.count, equals: 1)
            try expect(answers.filter { $0.status == 200 }.count, equals: 29)
            try expect(Set(try answers.map { try $0.json()["data"]?["photoId"] }).count, equals: 1)
            try expect(try await anna.get("/v1/progress/photos").data()["photos"]?.elements.count, equals: 1)
        },
        Scenario("No user confirms or deletes another user's photo", clause: "Forbidden", level: .contract) {
            _, anna, berta in
            let place = try await anna.put(jpeg)
            let forbidden = "Invalid file key: does not belong to authenticated user"
            for key in [
                place.fileKey, "x", "progress-photos/\(berta.id)", "progress-photos/\(berta.id)/../\(anna.id)/x",
                "progress-photos/\(berta.id)/ä", "progress-photos/\(berta.id)0/x",
            ] {
                try await berta.post(
                    "/v1/progress/photo/confirm",
                    ["fileKey": .string(key), "fileSize": .integer(Int64(jpeg.count)), "contentType": "image/jpeg"]
                ).refused(403, forbidden, key)
            }
            let photo: GTSD.ConfirmedPhoto = try await anna.send(
                GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: jpeg.count, contentType: "image/jpeg"))
            try await berta.raw(.delete, "/v1/progress/photo/\(photo.photoId)")
                .refused(404, "Photo \(photo.photoId) not found or does not belong to user")
            try expect(try await berta.get("/v1/progress/photos").data()["photos"], equals: [])
        },
        Scenario("An upload's URL is good for its key, size and method alone", clause: "§2 uploadUrl") { world, anna in
            let place: GTSD.PresignedUpload = try await anna.send(
                GTSD.PresignPhoto(fileName: "a.jpg", contentType: "image/jpeg", fileSize: jpeg.count))
            let url = place.uploadUrl
            func put(_ url: String, _ method: HTTPRequest.Method = .put, _ bytes: [UInt8] = jpeg) async throws -> Int {
                try await world.fetch(url, method, bytes: method == .get ? nil : bytes).status
            }
            // Characters with a meaning are changed one at a time, in the key and in the query.
            let start = url.range(of: "progress-photos/")?.lowerBound ?? url.startIndex
            let signs = url[start...].indices.filter { url[$0].isLetter || url[$0].isNumber }
            for (number, index) in signs.enumerated() where number.isMultiple(of: 5) {
                var other = url
                other.replaceSubrange(index...index, with: url[index] == "7" ? "8" : "7")
                try expect([403, 400].contains(try await put(other)), "taken with \(other)")
            }
            for other in [
                url + "&size=99999999", url.replacingOccurrences(of: "size=", with: "Size="),
                String(url.prefix { $0 != "?" }), url + "x",
            ] { try expect(try await put(other), equals: 403) }
            for method in [HTTPRequest.Method.get, .post, .delete, .patch] {
                try expect(try await put(url, method), equals: 403)
            }
            try expect([403, 413].contains(try await put(url, .put, jpeg + [0])), "a larger file was taken")
            try expect(try await put(url), equals: 200)
            // A repeated PUT succeeds, in case an answer was lost.
            try expect(try await put(url), equals: 200)
            try expect(try await put(url.spelledOtherwise), equals: 200)
            let photo: GTSD.ConfirmedPhoto = try await anna.send(
                GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: jpeg.count, contentType: "image/jpeg"))
            let fetched = try await world.fetch(photo.downloadUrl.spelledOtherwise)
            try expect(fetched.status, equals: 200)
            try expect(fetched.body, equals: jpeg)
        },
        Scenario("The SDK uploads in one call, and the whole of a list page by page", clause: "§7 photo upload") {
            _, anna in
            let upload = Upload(.bytes(jpeg), filename: "front.jpg", contentType: "image/jpeg")
            let key = UUID().uuidString
            let progress = LastProgress()
            let first = try await anna.client.uploadPhoto(
                upload, details: .init(width: 8, height: 8), idempotencyKey: key,
                progress: { progress.note($0, of: $1) })
            let again = try await anna.client.uploadPhoto(
                upload, details: .init(width: 8, height: 8), idempotencyKey: key)
            try expect(first.photoId, equals: again.photoId)
            try expect(progress.isWhole(jpeg.count), "progress ended elsewhere")
            for _ in 0..<4 { try await anna.client.uploadPhoto(upload) }
            let ids = try await anna.client.photos(pageSize: 2).elements(expecting: 5).map(\.id)
            try expect(ids.count, equals: 5)
            try expect(ids, equals: ids.sorted(by: >))
        },
    ]

    private static func presign(
        _ person: Person, _ name: String, type: String = "image/jpeg", size: Int = 100
    ) async throws -> RawAnswer {
        try await person.post(
            "/v1/progress/photo/presign",
            ["fileName": .string(name), "contentType": .string(type), "fileSize": .integer(Int64(size))])
    }
}

/// The last reported progress of an upload.
private final class LastProgress: @unchecked Sendable {
    private let lock = NSLock()
    private var last: (sent: Int64, total: Int64) = (0, -1)

    func note(_ sent: Int64, of total: Int64) { lock.withLock { last = (sent, total) } }
    func isWhole(_ count: Int) -> Bool { lock.withLock { last == (Int64(count), Int64(count)) } }
}
