import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDCheck
import GTSDClient
import GTSDService
import HTTPTypes
import Testbed
import Testing

/// Rules that depend on the time hold.
@Suite(.timeLimit(.minutes(30))) struct GTSDClockTests {
    // MARK: Sessions

    @Test(arguments: Stack.all)
    func anAccessTokenIsValidForAQuarterOfAnHour(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            host.clock.advance(by: .seconds(15 * 60 + 4))
            #expect(try await anna.get("/auth/me").status == 200)
            host.clock.advance(by: .seconds(1))
            try await anna.get("/auth/me").refused(401, "Invalid or expired token")
        }
    }

    /// This is decisions §8, example 8.
    @Test(arguments: Stack.all)
    func aLostAnswerIsRepeatedForTenSeconds(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let world = host.world()
            func renew(_ token: String) async throws -> RawAnswer {
                let body: JSONValue = ["refreshToken": .string(token)]
                return try await world.raw.send(.post, "/auth/refresh", body: body.description)
            }
            let anna = try await world.person()
            let second = try await renew(anna.refreshToken).data()
            host.clock.advance(by: .milliseconds(9_999))
            let again = try await renew(anna.refreshToken).data()
            host.clock.advance(by: .milliseconds(1))
            try await renew(anna.refreshToken).refused(401, "Invalid or expired refresh token")
            for data in [second, again] {
                try await renew(data["refreshToken"]?.string ?? "").refused(401, "Invalid or expired refresh token")
            }
        }
    }

    @Test(arguments: Stack.all)
    func aSessionLastsAWeekFromItsLastRenewal(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let world = host.world()
            func renew(_ token: String) async throws -> RawAnswer {
                let body: JSONValue = ["refreshToken": .string(token)]
                return try await world.raw.send(.post, "/auth/refresh", body: body.description)
            }
            let anna = try await world.person()
            var token = anna.refreshToken
            for _ in 0..<3 {
                host.clock.advance(by: .seconds(7 * 86_400) - .milliseconds(1))
                token = try await renew(token).data()["refreshToken"]?.string ?? ""
            }
            host.clock.advance(by: .seconds(7 * 86_400))
            try await renew(token).refused(401, "Invalid or expired refresh token")
            try await host.service.sweep()
            let left: Int64? = try await host.database.read { try $0.value("SELECT COUNT(*) FROM sessions") }
            #expect(left == 0)
        }
    }

    /// An app that returns after an hour can still end its session with its old token.
    @Test(arguments: Stack.all)
    func anOldAccessTokenSignsOut(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let (anna, berta) = try await host.world().pair()
            host.clock.advance(by: .seconds(3600))
            try await anna.get("/auth/me").refused(401, "Invalid or expired token")
            let world = host.world()
            try await world.raw.send(.post, "/auth/logout", token: anna.token).succeeded(200)
            func renew(_ token: String) async throws -> RawAnswer {
                let body: JSONValue = ["refreshToken": .string(token)]
                return try await world.raw.send(.post, "/auth/refresh", body: body.description)
            }
            try await renew(anna.refreshToken).refused(401, "Invalid or expired refresh token")
            // A token with an invalid signature does not end a session.
            try await world.raw.send(.post, "/auth/logout", token: berta.token + "x").succeeded(200)
            try await renew(berta.refreshToken).data()
        }
    }

    @Test(arguments: Stack.all)
    func aDeactivatedAccountCannotSignIn(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            #expect(try await anna.get("/auth/me").status == 200)
            #expect(
                try await GTSDService.setActive(false, email: anna.email.uppercased(), in: host.database, audit: .test))
            host.clock.advance(by: .seconds(1))
            try await anna.get("/auth/me").refused(403, "Account is deactivated")
            await #expect(throws: APIError.self) {
                try await anna.client.signIn(email: anna.email, password: Person.password)
            }
            let wrong = try await host.world().raw.send(
                .post, "/auth/login", body: #"{"email":"\#(anna.email)","password":"x"}"#)
            try wrong.refused(401, "Invalid email or password")
            let token: JSONValue = ["refreshToken": .string(anna.refreshToken)]
            try await host.world().raw.send(.post, "/auth/refresh", body: token.description)
                .refused(403, "Account is deactivated")
            #expect(try await GTSDService.setActive(true, email: anna.email, in: host.database, audit: .test))
            #expect(try await anna.get("/auth/me").status == 200)
            #expect(
                try await GTSDService.setActive(false, email: "nobody@example.com", in: host.database, audit: .test)
                    == false)
        }
    }

    // MARK: Caches and limits

    @Test(arguments: Stack.all)
    func anAnswerIsKeptForAMinute(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            func isCached() async throws -> JSONValue? {
                try await anna.get("/v1/tasks/today").succeeded(200)["cached"]
            }
            #expect(try await isCached() == false)
            host.clock.advance(by: .milliseconds(59_999))
            #expect(try await isCached() == true)
            host.clock.advance(by: .milliseconds(1))
            #expect(try await isCached() == false)
            #expect(try await isCached() == true)
        }
    }

    @Test(arguments: Stack.all)
    func aWindowIsAMinuteFromItsFirstRequest(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            func check() async throws -> RawAnswer { try await anna.post("/v1/streaks/check-compliance") }
            host.clock.advance(by: .milliseconds(500))
            let start = host.clock.source.milliseconds()
            for remaining in (0..<20).reversed() {
                let limit = RateLimit(try await check().headers)
                #expect(limit?.remaining == remaining)
                #expect(limit?.resetsAt == Date(timeIntervalSince1970: Double((start + 60_000 + 999) / 1000)))
                host.clock.advance(by: .seconds(1))
            }
            let refused = try await check()
            #expect(refused.status == 429)
            #expect(refused.headers[.retryAfter] == "40")
            host.clock.advance(by: .milliseconds(39_999))
            #expect(try await check().status == 429)
            host.clock.advance(by: .milliseconds(1))
            let next = try await check()
            #expect(next.status == 200)
            #expect(RateLimit(next.headers)?.remaining == 19)
        }
    }

    /// The limit is per user, however many devices there are, and successful sign-ins do not count.
    @Test(arguments: Stack.Engine.available)
    func aLimitIsThePersonsAndNotTheSessions(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let anna = try await host.world().person()
            for remaining in (0..<20).reversed() {
                try await anna.client.signIn(email: anna.email, password: Person.password)
                let answer = try await anna.client.answer(GTSD.CheckCompliance())
                #expect(answer.rateLimit?.remaining == remaining)
            }
            #expect(try await anna.post("/v1/streaks/check-compliance").status == 429)
        }
    }

    @Test func aStreakSaysWhenItChanged() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            let beginning = try await player.streak()
            #expect(beginning.updatedAt == beginning.createdAt)
            host.clock.advance(by: .seconds(60))
            try await player.complete([1, 2, 3, 4])
            #expect(try await player.streak().updatedAt == beginning.createdAt)
            try await player.complete([5])
            let credited = try await player.streak()
            #expect(credited.createdAt == beginning.createdAt)
            #expect(credited.updatedAt.milliseconds == beginning.createdAt.milliseconds + 60_000)
            host.clock.advance(by: .seconds(60))
            try await player.complete([6])
            #expect(try await player.streak().updatedAt == credited.updatedAt)
            for task in try await player.tasks().prefix(2) {
                try await player.client.send(GTSD.UncompleteTask(task.id))
            }
            let withdrawn = try await player.streak()
            #expect(withdrawn.totalCompliantDays == 0)
            #expect(withdrawn.updatedAt.milliseconds == beginning.createdAt.milliseconds + 120_000)
        }
    }

    /// Decisions §1 allow 20 a minute from one address. The limit is checked after the fields and before the look-up
    /// of the address.
    @Test(arguments: Stack.Engine.available)
    func accountsAreMadeTwentyAMinuteFromOneAddress(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess), peer: "192.0.2.1") { host in
            let world = host.world()
            func signUp(_ email: String, _ password: String = Person.password) async throws -> RawAnswer {
                let body: JSONValue = ["email": .string(email), "password": .string(password)]
                return try await world.raw.send(.post, "/auth/signup", body: body.description)
            }
            for number in 1...20 { #expect(try await signUp("a\(number)@example.com").status == 201) }
            host.clock.advance(by: .milliseconds(20_500))
            for email in ["a1@example.com", "b@example.com"] {
                let refused = try await signUp(email)
                try refused.refused(429, "Too many requests, please try again later")
                #expect(refused.headers[.retryAfter] == "40")
            }
            #expect(try await signUp("b@example.com", "short").status == 400)
            host.clock.advance(by: .milliseconds(39_500))
            #expect(try await signUp("b@example.com").status == 201)
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func nodesCountAndForgetTogether() async throws {
        try await withGTSDNodes(2, on: Stack(.postgreSQL, .inProcess)) { nodes in
            let anna = try await nodes[0].world().person()
            let there = nodes[1].world().raw
            func get(_ path: String) async throws -> RawAnswer { try await there.send(.get, path, token: anna.token) }
            for _ in 0..<19 { #expect(try await anna.post("/v1/streaks/check-compliance").status == 200) }
            let last = try await there.send(.post, "/v1/streaks/check-compliance", token: anna.token, body: "{}")
            #expect(RateLimit(last.headers)?.remaining == 0)
            #expect(try await anna.post("/v1/streaks/check-compliance").status == 429)
            // A change at one node is not hidden by the other node's cache.
            let task = try await anna.tasks()[0]
            _ = try await get("/v1/tasks/today")
            #expect(try await get("/v1/tasks/today").succeeded(200)["cached"] == true)
            try await anna.prove(task)
            let after = try await get("/v1/tasks/today").succeeded(200)
            #expect(after["cached"] == false)
            #expect(after["data"]?["completedTasks"] == 1)
            // A reused refresh token ends its session, at the other node within a second.
            let token: JSONValue = ["refreshToken": .string(anna.refreshToken)]
            #expect(try await there.send(.post, "/auth/refresh", body: token.description).status == 200)
            nodes[0].clock.advance(by: .seconds(10))
            #expect(try await anna.get("/auth/me").status == 200)
            #expect(try await there.send(.post, "/auth/refresh", body: token.description).status == 401)
            nodes[0].clock.advance(by: .seconds(1))
            try await anna.get("/auth/me").refused(401, "Invalid or expired token")
            try await get("/auth/me").refused(401, "Invalid or expired token")
        }
    }

    // MARK: Photos

    @Test(arguments: Stack.all)
    func signedURLsLastAnHour(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            func send(_ method: HTTPRequest.Method, _ url: String) async throws -> Int {
                let request = TransportRequest(
                    method: method, url: try #require(URL(string: url)),
                    body: method == .put ? .bytes(bytes) : .none)
                return try await host.transport.send(request, progress: nil).status.code
            }
            let place = try await anna.put(bytes)
            let late: GTSD.PresignedUpload = try await anna.send(
                GTSD.PresignPhoto(fileName: "b.jpg", contentType: "image/jpeg", fileSize: bytes.count))
            let photo: GTSD.ConfirmedPhoto = try await anna.send(
                GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: bytes.count, contentType: "image/jpeg"))
            host.clock.advance(by: .seconds(3599))
            #expect(try await send(.get, photo.downloadUrl) == 200)
            #expect(try await send(.put, late.uploadUrl) == 200)
            host.clock.advance(by: .seconds(1))
            #expect(try await send(.get, photo.downloadUrl) == 403)
            #expect(try await send(.put, late.uploadUrl) == 403)
            // A confirmed photo is still available, under a new URL.
            let client = GTSDClient(baseURL: host.baseURL, transport: host.transport)
            try await client.signIn(email: anna.email, password: Person.password)
            let listed = try await client.send(GTSD.ListPhotos()).data.photos
            #expect(try await send(.get, listed[0].downloadUrl) == 200)
        }
    }

    /// An app retries hours later, when its upload URL has expired or the photo has been stored.
    @Test(arguments: Stack.all)
    func anUploadIsRepeatedHoursLater(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let player = try await Player.begin(on: host)
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            let photo = Upload(.bytes(bytes), filename: "a.jpg", contentType: "image/jpeg")
            try await player.client.send(
                GTSD.PresignPhoto(fileName: "a.jpg", contentType: "image/jpeg", fileSize: bytes.count),
                idempotencyKey: "late.presign")
            host.clock.advance(by: .seconds(2 * 3600))
            let late = try await player.client.uploadPhoto(photo, idempotencyKey: "late")
            let early = try await player.client.uploadPhoto(photo, idempotencyKey: "early")
            host.clock.advance(by: .seconds(2 * 3600))
            let again = try await player.client.uploadPhoto(photo, idempotencyKey: "early")
            #expect(again.photoId == early.photoId)
            let photos = try await player.client.send(GTSD.ListPhotos()).data.photos
            #expect(photos.map(\.id) == [early.photoId, late.photoId])
        }
    }

    @Test func unconfirmedUploadsAreSwept() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(milliseconds: Self.now)) { host in
            let anna = try await host.world().person()
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            let (kept, orphan) = (try await anna.put(bytes), try await anna.put(bytes))
            let _: GTSD.ConfirmedPhoto = try await anna.send(
                GTSD.ConfirmPhoto(fileKey: kept.fileKey, fileSize: bytes.count, contentType: "image/jpeg"))
            func keys() async throws -> Set<String> { Set(try await host.objects.allKeys()) }
            host.clock.advance(by: .seconds(23 * 3600))
            try await host.service.sweep()
            #expect(try await keys() == [kept.fileKey, orphan.fileKey])
            host.clock.advance(by: .seconds(2 * 3600))
            try await host.service.sweep()
            #expect(try await keys() == [kept.fileKey])
        }
    }

    /// The system's clock gives files their times.
    private static let now = Int64(Date().timeIntervalSince1970 * 1000)

    // MARK: Failures

    @Test(arguments: [true, false])
    func onlyDevelopmentSaysWhy(_ showsDetails: Bool) async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), showsDetails: showsDetails) { host in
            let anna = try await host.world().person()
            try await host.database.write { try $0.run("DROP TABLE credits") }
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for (method, path) in [(HTTPRequest.Method.get, "/v1/streaks/me"), (.post, "/v1/streaks/check-compliance")]
            {
                let answer = try await raw.send(method, path, token: anna.token)
                #expect(answer.status == 500)
                let error = try answer.json()["error"]
                #expect(error?["message"] == "Internal server error")
                #expect(error?["requestId"]?.string == answer.headers[.requestID])
                #expect((error?["stack"]?.string?.contains("credits") ?? false) == showsDetails)
                // An unexpected error's answer reports the limit, too.
                #expect((answer.headers[.rateLimit] != nil) == (method == .post))
            }
        }
    }
}
