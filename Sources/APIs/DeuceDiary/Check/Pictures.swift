@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let pictures: [Scenario<DeuceDiaryWorld>] = [
        Scenario(
            "A picture becomes a JPEG of 200 by 200 that anybody may fetch",
            clause: "POST /api/auth/user/profile-picture"
        ) { world, john, jane in
            let group = try await john.group(with: jane)
            let before = try await john.send(DeuceDiary.GetUser())
            try await world.tick()
            let user = try await john.client.uploadProfilePicture(.sample)
            guard let path = user.profileImageUrl,
                path.wholeMatch(of: #/\/uploads\/[A-Za-z0-9_-]+-[0-9]{10,}\.jpg/#) != nil
            else { throw CheckFailure(expected: "/uploads/<name>.jpg", found: user.profileImageUrl ?? "nothing") }
            try expect(user.updatedAt > before.updatedAt, "updatedAt stood still")
            for (method, isWhole) in [(HTTPRequest.Method.get, true), (.head, false)] {
                let answer = try await world.raw.send(method, path)
                try expect(answer.status, equals: 200)
                try expect(answer.headers[.contentType], equals: "image/jpeg")
                try expect(answer.headers[.nosniff], equals: "nosniff")
                let caching = answer.headers[.cacheControl] ?? ""
                try expect(caching.contains("public") && caching.contains("immutable"), "cached as \(caching)")
                guard isWhole else { continue }
                let size = SampleImage.size(ofJPEG: answer.body).map { [$0.width, $0.height] }
                try expect(size, equals: [200, 200])
            }
            // The picture appears wherever other users see John.
            let members = try await jane.send(DeuceDiary.GetGroup(group: group)).members
            try expect(members.first { $0.userId == john.id }?.user.profileImageUrl, equals: path)
            try expect(try await john.send(DeuceDiary.GetUser()), equals: user)
        },
        Scenario(
            "Another picture has another name, and the one before is gone",
            clause: "POST /api/auth/user/profile-picture"
        ) { world, john in
            var uploaded: [String] = []
            for _ in 0..<3 {
                let user = try await john.client.uploadProfilePicture(.sample)
                guard let path = user.profileImageUrl else { throw CheckFailure("no picture") }
                if let last = uploaded.last { try await world.raw.send(.get, last).refused(404, "Not found", last) }
                uploaded.append(path)
            }
            let paths = uploaded
            try expect(Set(paths).count, equals: 3)
            try expect(try await world.raw.send(.get, paths[2]).status, equals: 200)
            for path in try ["/uploads/x.jpg", "/uploads/", "/uploads/a/b.jpg", paths[2] + "x"] {
                try await world.raw.send(.get, path).refused(404, "Not found", path)
            }
        },
        Scenario("What is no picture is refused, the first thing first", clause: "POST /api/auth/user/profile-picture")
        { _, john in
            let image = SampleImage.jpeg(width: 16, height: 16)
            let large = image + [UInt8](repeating: 0, count: 5_242_881 - image.count)
            let none = "No file uploaded"
            for (type, body) in [
                (nil, ""), ("application/json", "{}"), ("multipart/form-data", "x"),
                ("multipart/form-data; boundary=x", "--x--\r\n"),
                (
                    "multipart/form-data; boundary=x",
                    "--x\r\nContent-Disposition: form-data; name=note\r\n\r\nhi\r\n--x--\r\n"
                ),
            ] as [(String?, String)] {
                var headers = HTTPFields()
                headers[.contentType] = type
                try await john.raw(.post, "/api/auth/user/profile-picture", headers: headers, body: body)
                    .refused(400, none, "\(type ?? "") \(body)")
            }
            try await john.upload(image, field: "picture").refused(400, "Unexpected field")
            try await john.upload(image, field: "profilepicture").refused(400, "Unexpected field")
            try await john.upload(large, type: "text/plain").refused(413, "File too large")
            for type in ["text/plain", "application/octet-stream", nil, "application/pdf", "images/png"] {
                try await john.upload(image, type: type).refused(400, "Only image files are allowed", type ?? "")
            }
            for content in ["", "no picture", "<svg xmlns='http://www.w3.org/2000/svg'/>", "\u{89}PNG"] {
                try await john.upload(Array(content.utf8)).refused(400, "Failed to upload profile picture", content)
            }
            try expect(try await john.send(DeuceDiary.GetUser()).profileImageUrl, equals: nil)
            try await john.upload(image, type: "IMAGE/JPEG").succeeded()
        },
    ]
}

extension Upload {
    static let sample = Upload(
        .bytes(SampleImage.jpeg(width: 640, height: 480)), filename: "me.jpg", contentType: "image/jpeg")
}

extension Person {
    /// Uploads a picture in a hand-written form.
    func upload(
        _ content: [UInt8], field: String = "profilePicture", type: String? = "image/jpeg", headers: HTTPFields = [:]
    ) async throws -> RawAnswer {
        var head = "--b0undary\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"me.jpg\"\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        var headers = headers
        headers[.contentType] = "multipart/form-data; boundary=b0undary"
        return try await raw.send(
            .post, "/api/auth/user/profile-picture", headers: headers,
            bytes: Array((head + "\r\n").utf8) + content + Array("\r\n--b0undary--\r\n".utf8))
    }
}

extension HTTPField.Name {
    static let nosniff = Self("X-Content-Type-Options")!
}
