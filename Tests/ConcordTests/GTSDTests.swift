import ContractCheck
import ContractClient
import Database
import Foundation
import GTSDCheck
import GTSDClient
import GTSDTestHost
import HTTPTypes
import Testbed
import Testing

/// GTSD works as an operator runs it.
@Suite(.timeLimit(.minutes(30))) struct GTSDCommandTests {
    private func concord(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    /// The server's password hashing is cheap, because every scenario makes accounts.
    @Test func aCheckPassesAndLeavesNoData() async throws {
        try await withGTSD(on: Stack(.sqlite, .live), clock: TestClock(step: 20)) { host in
            let (output, _) = try await passingCheck(
                ["gtsd", host.baseURL.absoluteString], scenarios: GTSDScenarios.all.count)
            #expect(!output.contains("Left on the server"), "\(output)")
            let left = try await host.database.read { db in
                try ["users", "sessions", "tasks", "photos", "plans"].map { table in
                    try db.value("SELECT COUNT(*) FROM \(SQL(trusted: table))", as: Int.self)
                }
            }
            #expect(left == [0, 0, 0, 0, 0])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anOperatorSwitchesAnAccountOffWhileTheServerRuns(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let more = ["--data", place.folder] + (place.url.map { ["--database", $0] } ?? [])
            let port = try await reservePort()
            let server = try ConcordProcess(["serve", "gtsd", "--port", "gtsd=\(port)"] + more)
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let anna = GTSDClient(baseURL: url, transport: .patient, retry: .never)
            try await anna.signUp(email: "anna@example.com", password: "Secret-123")

            let off = try await concord(["gtsd", "deactivate", "Anna@Example.com"] + more)
            #expect(off.status == 0, "\(off.errors)")
            #expect(off.output == "Anna@Example.com is switched off\n")
            // The session has sent no request yet, so it is not in the server's cache of valid sessions.
            let attempts: [@Sendable () async throws -> Void] = [
                { try await anna.send(GTSD.GetMe()) },
                { try await anna.signIn(email: "anna@example.com", password: "Secret-123") },
            ]
            for attempt in attempts {
                let refusal = await #expect(throws: APIError.self) { try await attempt() }
                #expect(refusal?.status == .forbidden)
                #expect(refusal?.message == "Account is deactivated")
            }

            let on = try await concord(
                ["gtsd", "activate", "anna@example.com", "bob@example.com"] + more)
            #expect(on.status == 1)
            #expect(!on.errors.contains("Usage"))
            #expect(on.output == "anna@example.com is switched on\n")
            #expect(on.errors.contains("There is no user bob@example.com"))
            let me = try await anna.send(GTSD.GetMe()).data
            #expect(me.email == "anna@example.com")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func anAdminMustNameAnAccountAndADatabase() async throws {
        try await withTemporaryFolder { folder in
            let nobody = try await concord(["gtsd", "deactivate", "--data", folder])
            #expect(nobody.status == 64)
            #expect(nobody.errors.contains("Missing expected argument '<email> ...'"), "\(nobody.errors)")
            #expect(nobody.errors.contains("Usage: concord gtsd deactivate "), "\(nobody.errors)")
            let nowhere = try await concord(["gtsd", "activate", "a@b.cd", "--data", folder + "/x"])
            #expect(nowhere.status == 1)
            #expect(
                nowhere.errors.contains("\(folder)/x has no GTSD database: is it the server's data folder (--data)?"))
            let mistaken = try await concord(["gtsd", "activate", "a@b.cd", "--database", "mysql://x"])
            #expect(mistaken.status == 64)
            #expect(mistaken.errors.contains("--database must be 'sqlite' or 'postgres://"))
            let help = try await concord(["gtsd", "deactivate", "--help"])
            #expect(help.status == 0)
            for words in ["<email> ...", "The server may be running.", "--data <folder>"] {
                #expect(help.output.contains(words), "\(help.output)")
            }
        }
    }
}

/// `concord serve gtsd --objects s3://…` lets curl upload photos to the bucket directly.
@Suite(
    .s3Server, .enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"),
    .timeLimit(.minutes(30)))
struct GTSDBucketTests {
    private func curl(_ arguments: String...) async throws -> String {
        let (status, output) = try await StockTools.run("/usr/bin/curl", ["-sS"] + arguments)
        #expect(status == 0, "curl ended with \(status): \(output)")
        return output
    }

    @Test(arguments: Stack.Engine.available)
    func aPhotoIsUploadedToTheBucketDirectly(_ engine: Stack.Engine) async throws {
        let bucket = try #require(S3Server.current)
        try await withTestDatabase(on: engine) { place in
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "gtsd", "--data", place.folder, "--port", "gtsd=\(port)", "--objects", bucket.place()]
                    + (place.url.map { ["--database", $0] } ?? []),
                environment: [
                    "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
                ])
            try await server.waitUntilReady()
            let anna = GTSDClient(
                baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), transport: .patient, retry: .never)
            try await anna.signUp(email: "anna@example.com", password: "Secret-123")

            let bytes = SampleImage.jpeg(width: 64, height: 64)
            let (file, larger, fetched) = (
                place.folder + "/front.jpg", place.folder + "/larger.jpg", place.folder + "/fetched.jpg"
            )
            try Data(bytes).write(to: URL(fileURLWithPath: file))
            try Data(bytes + [0]).write(to: URL(fileURLWithPath: larger))
            func status(_ url: String, _ more: String...) async throws -> String {
                let arguments = ["-sS", "-o", "/dev/null", "-w", "%{http_code}"] + more + [url]
                return try await StockTools.run("/usr/bin/curl", arguments).output
            }

            let presigned = try await anna.send(
                GTSD.PresignPhoto(fileName: "front.jpg", contentType: "image/jpeg", fileSize: bytes.count)
            ).data
            #expect(presigned.uploadUrl.hasPrefix(bucket.endpoint + "/bucket/"))
            for other in try Tampered.all(
                of: presigned.uploadUrl, key: presigned.fileKey, signed: .put, naming: [])
            {
                let answer =
                    other.method == .head
                    ? try await status(other.url, "--head")
                    : try await status(other.url, "-X", other.method.rawValue, "-T", file)
                #expect(["403", "400"].contains(answer), "\(other): \(answer)")
            }
            // The file's size differs from the announced one.
            #expect(try await status(presigned.uploadUrl, "-T", larger) == "403")
            let confirm = GTSD.ConfirmPhoto(
                fileKey: presigned.fileKey, width: 64, height: 64, fileSize: bytes.count, contentType: "image/jpeg")
            let early = await #expect(throws: APIError.self) { try await anna.send(confirm) }
            #expect(early?.message == "File not found in storage: \(presigned.fileKey)")

            #expect(try await status(presigned.uploadUrl, "-T", file) == "200")
            let wrong = GTSD.ConfirmPhoto(
                fileKey: presigned.fileKey, fileSize: bytes.count, contentType: "image/png")
            let mismatch = await #expect(throws: APIError.self) { try await anna.send(wrong) }
            #expect(mismatch?.message == "Content type mismatch: expected image/png, got image/jpeg")
            let first = try await anna.answer(confirm)
            let again = try await anna.answer(confirm)
            #expect(first.status == .created)
            #expect(again.status == .ok)
            let photos = try await anna.send(GTSD.ListPhotos()).data.photos
            let photo = try #require(photos.first)
            #expect(photo.id == first.output?.data.photoId)
            let type = try await curl("-o", fetched, "-w", "%{http_code} %{content_type}", photo.downloadUrl)
            #expect(type == "200 image/jpeg")
            #expect(try Data(contentsOf: URL(fileURLWithPath: fetched)) == Data(bytes))
            for other in try Tampered.all(of: photo.downloadUrl, key: photo.fileKey) where other.method == .get {
                let answer = try await status(other.url)
                #expect(["403", "400"].contains(answer), "\(other): \(answer)")
            }

            // The app's method does all steps in one call.
            let uploaded = try await anna.uploadPhoto(
                Upload(.file(URL(fileURLWithPath: file)), filename: "side.jpg", contentType: "image/jpeg"))
            let removed = try await anna.send(GTSD.DeletePhoto(photo.id))
            #expect(removed.message == "Photo deleted successfully")
            #expect(try await status(photo.downloadUrl) == "404")
            let left = try await anna.send(GTSD.ListPhotos()).data.photos
            #expect(left.map(\.id) == [uploaded.photoId])
            #expect(try await status(left[0].downloadUrl) == "200")
            // Deleting the account deletes its photos.
            try await anna.deleteAccount(password: "Secret-123")
            #expect(try await status(left[0].downloadUrl) == "404")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// The bucket's own errors do not reach a client.
    @Test func withoutTheBucketAConfirmationIsAskedToRetry() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let nowhere = "s3://bucket?endpoint=http://127.0.0.1:\(try await reservePort())"
            let server = try ConcordProcess(
                ["serve", "gtsd", "--data", folder, "--port", "gtsd=\(port)", "--objects", nowhere],
                environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"])
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let anna = GTSDClient(baseURL: url, transport: .patient, retry: .never)
            try await anna.signUp(email: "anna@example.com", password: "Secret-123")
            let place = try await anna.send(
                GTSD.PresignPhoto(fileName: "a.jpg", contentType: "image/jpeg", fileSize: 9)
            ).data
            let refusal = await #expect(throws: APIError.self) {
                try await anna.send(
                    GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: 9, contentType: "image/jpeg"))
            }
            #expect(refusal?.status == .serviceUnavailable)
            #expect(refusal?.message == "Service temporarily unavailable")
            #expect((refusal?.retryAfter ?? 0) > 0)
            #expect(refusal?.rateLimit?.remaining == 29)
            let ready = try await RawClient(baseURL: url, transport: .patient).send(.get, "/ready")
            let error = try ready.json()["error"]
            #expect(ready.status == 503)
            #expect(error?["message"] == "Not ready")
            #expect(error?["requestId"]?.string == ready.headers[.requestID])
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}
