import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import GTSDService
import Testbed
import Testing

/// Evidence and photos of a device without a network arrive once, with the time at which they were made.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct GTSDOutboxTests {
    private typealias Schedule = OutboxSchedule<GTSDClient.Outgoing>

    @Test func whatIsMadeOfflineArrivesOnceWithItsTime() async throws {
        let begun = ContinuousClock.now
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            var count = 0
            for seed in Schedule.seeds {
                let (written, arrived) = try await run(seed, on: host)
                var violations = written.violations
                for (number, time) in written.taken where arrived[number] != [GTSD.Timestamp(time)] {
                    violations.append("item \(number) of \(time): \(arrived[number] ?? [])")
                }
                for number in written.uncertain where arrived[number, default: []].count > 1 {
                    violations.append("item \(number): \(arrived[number] ?? [])")
                }
                count += written.taken.count
                #expect(violations.isEmpty, "seed \(seed)")
            }
            print("\(count) items of \(Schedule.seeds.count) schedules in \(begun.duration(to: .now))")
        }
    }

    /// Runs a schedule, and returns the times of the items that the server has, by number.
    private func run(_ seed: UInt64, on host: GTSDHost) async throws -> (Schedule.Written, [Int: [GTSD.Timestamp]]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gtsd-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = MemoryTokenStore()
        let (clock, baseURL) = (host.clock, host.baseURL)
        let calm = GTSDClient(
            baseURL: baseURL, store: store, transport: host.transport, retry: .never, now: { clock.date })
        let user = try await calm.signUp(
            email: "anna\(seed)@example.com", password: "Secret-123", timezone: "UTC"
        ).id
        var tasks: [GTSD.Task.ID] = []
        let today = Day(clock.date, in: .gmt)
        for day in today..<today.advanced(by: 4) {
            for try await task in calm.tasks(on: day, pageSize: 2) { tasks.append(task.id) }
        }
        let due = tasks
        // The access token lasts for all steps: how sessions outlive lost answers is tested elsewhere.
        let schedule = Schedule(seed: seed, over: host.transport, clock: clock, pause: 25)
        let written = try await schedule.run(items: 16) { process in
            let client = GTSDClient(
                baseURL: baseURL, store: store, transport: process, retry: .never, now: { clock.date })
            return try await client.open(
                of: user, in: folder, settings: process.adapt(client.outboxSettings(of: user), clock: clock),
                pacing: process.pacing)
        } _: { outbox, number in
            if number.isMultiple(of: 4) {
                let photo = Upload(
                    .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg", contentType: "image/jpeg")
                try await outbox.upload(photo, details: .init(width: number, height: 8))
            } else {
                try await outbox.submit(.text("\(number)", for: due[number]))
            }
        }
        // A session lasts for a week: the schedule may have left it expired.
        try await calm.signIn(email: "anna\(seed)@example.com", password: "Secret-123")
        var arrived: [Int: [GTSD.Timestamp]] = [:]
        for try await photo in calm.photos(pageSize: 3) {
            arrived[photo.width ?? 0, default: []] += [photo.takenAt].compactMap(\.self)
        }
        let rows = try await host.database.read { db in
            try db.all("SELECT data, occurred_at FROM evidence WHERE user_id = \(Int64(user.rawValue) ?? 0)") { row in
                (data: try row.get(0, as: String.self), at: try row.get(1, as: Int64.self))
            }
        }
        for row in rows {
            let data = try JSONDecoder().decode(GTSD.EvidenceData.self, from: Data(row.data.utf8))
            arrived[data.text.flatMap(Int.init) ?? 0, default: []].append(.init(milliseconds: row.at))
        }
        return (written, arrived)
    }

    // MARK: The time of evidence

    @Test(arguments: Stack.all)
    func evidenceOfADayCountsForItAlthoughItArrivesLater(_ stack: Stack) async throws {
        try await withGTSD(on: stack, clock: TestClock(at: "2025-10-28T23:50:00Z")) { host in
            let player = try await Player.begin(on: host)
            let tasks = try await player.tasks()
            try #require(tasks.count == 5)
            let tunnel = GTSD.Timestamp(host.clock.date)
            host.clock.set("2025-10-29T00:10:00Z")
            try await player.client.signIn(email: player.email, password: "Secret-123")
            // What is done today does not count for yesterday.
            try await player.client.send(GTSD.CompleteTask(tasks[4].id))
            var results: [GTSD.SubmittedEvidence] = []
            for task in tasks.prefix(4) {
                results.append(
                    try await player.client.send(
                        GTSD.SubmitEvidence.text("In a tunnel", for: task.id, occurredAt: tunnel)
                    ).data)
            }
            #expect(results.map(\.streakUpdated) == [false, false, false, true])
            #expect(results.last?.newStreak == 1)
            #expect(results.last?.evidence.occurredAt == tunnel)
            #expect(results.last?.evidence.createdAt == .init(host.clock.date))
            let streak = try await player.streak()
            #expect(streak.lastCompliantDate == Day("2025-10-28"))
            #expect(streak.currentStreak == 1)
            let shown = try await player.client.send(GTSD.ListTasks(date: Day("2025-10-28"))).data.tasks
            #expect(shown.prefix(4).allSatisfy { $0.completedAt == tunnel })
            // Evidence of an earlier time moves the completion there; the day is credited once.
            let last = try await player.client.send(
                GTSD.SubmitEvidence.text("In a tunnel", for: tasks[4].id, occurredAt: tunnel)
            ).data
            #expect(!last.streakUpdated)
            let badges = try await player.client.send(GTSD.ListBadges()).data.badges
            #expect(badges.contains { $0.badgeType == .firstDay })
        }
    }

    @Test func evidenceWithoutATimeCountsAsBefore() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-28T23:50:00Z")) { host in
            let player = try await Player.begin(on: host)
            let tasks = try await player.tasks()
            host.clock.set("2025-10-29T00:10:00Z")
            try await player.client.signIn(email: player.email, password: "Secret-123")
            for task in tasks {
                let answer = try await player.client.send(GTSD.SubmitEvidence.text("Late", for: task.id)).data
                #expect(!answer.streakUpdated)
                #expect(answer.evidence.occurredAt == nil)
            }
            #expect(try await player.streak().totalCompliantDays == 0)
        }
    }

    @Test(arguments: Stack.all)
    func theKeyOfEvidenceOutlivesItsTime(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let player = try await Player.begin(on: host)
            let task = try #require(try await player.tasks().first)
            let evidence = GTSD.SubmitEvidence.text("a", for: task.id, occurredAt: .init(host.clock.date))
            let first = try await player.client.answer(evidence, idempotencyKey: "k")
            host.clock.advance(by: .seconds(71 * 3600))
            try await host.service.sweep()
            try await player.client.signIn(email: player.email, password: "Secret-123")
            let again = try await player.client.answer(evidence, idempotencyKey: "k")
            #expect(again.headers[.idempotentReplayed] == "true")
            #expect(again.output?.data.evidence == first.output?.data.evidence)
            await #expect(throws: APIError.self) { try await player.client.send(evidence) }
        }
    }

    // MARK: Accounts

    @Test func signingOutRemovesWhatWaits() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gtsd-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let player = try await Player.begin(on: host)
            let outbox = try await player.client.outbox(of: player.user.id, in: folder)
            let other = try await player.client.outbox(of: "another", in: folder)
            // There is no such task: the item fails and stays.
            try await outbox.submit(.metrics(["km": 5.2, "shoes": "new", "rounds": 3], for: 999_999))
            try await outbox.becomeEmpty()
            guard case .failed(let failure)? = await outbox.items.first?.state else {
                return #expect(Bool(false), "it is not refused")
            }
            #expect(failure.reason == .refused(status: 404))
            let changes = other.changes
            try await other.submit(.text("Mine", for: 1))
            // Nothing is sent as the user who is signed in.
            for await case .changed(let item) in changes where item.state == .waiting { break }
            try await player.client.signOut()
            #expect(await outbox.items.isEmpty)
            #expect(await other.items.count == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        }
    }

    @Test func evidenceThatIsTooOldIsRefusedClearly() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gtsd-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let player = try await Player.begin(on: host)
            let task = try #require(try await player.tasks().first)
            let outbox = try await player.client.outbox(of: player.user.id, in: folder)
            try await outbox.submit(
                .text("Old", for: task.id, occurredAt: .init(host.clock.date.addingTimeInterval(-48 * 3600 - 1))))
            try await outbox.becomeEmpty()
            guard case .failed(let failure)? = await outbox.items.first?.state else {
                return #expect(Bool(false), "it is not refused")
            }
            #expect(failure.reason == .refused(status: 400))
            #expect(
                failure.errorDescription == "Validation failed: occurredAt: Evidence can be at most 48 hours old")
            await #expect(throws: APIError.self) {
                try await outbox.upload(Upload(.bytes([]), filename: "a.gif", contentType: "image/gif"))
            }
        }
    }
}

/// A photo that the system uploads is confirmed in a later launch.
@Suite(.timeLimit(.minutes(30))) struct PendingPhotoTests {
    @Test(arguments: Stack.all)
    func anUploadOfTheSystemBecomesAPhoto(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let player = try await Player.begin(on: host)
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            let photo = Upload(.bytes(bytes), filename: "a.jpg", contentType: "image/jpeg")
            let upload = try await player.client.pendingUpload(of: photo, details: .init(width: 8))
            #expect(upload.expiresAt == host.clock.date + 3600)
            await #expect(throws: APIError.self) { try await player.client.confirm(upload) }
            // The transfer is kept as JSON until the system has made it.
            let kept = try JSONDecoder().decode(PendingTransfer.self, from: JSONEncoder().encode(upload))
            let response = try await host.transport.send(
                TransportRequest(method: .put, url: kept.url, body: .bytes(bytes)), progress: nil)
            #expect(response.status == .ok)
            let confirmed = try await player.client.confirm(kept)
            #expect(try await player.client.confirm(kept).photoId == confirmed.photoId)
            #expect(try await player.client.send(GTSD.ListPhotos()).data.photos.map(\.width) == [8])
        }
    }
}
