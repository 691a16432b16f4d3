import ContractCheck
import Foundation
import GTSDCheck
import GTSDClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The samples work on a real server. Those of Testing.md are tests themselves.
@Suite(.timeLimit(.minutes(30))) struct GTSDSampleRuns {
    private static let stack = Stack(.sqlite, .live)

    /// Runs a test on a Tuesday, which has five tasks, the second of them a walk.
    private func onATuesday(_ body: (GTSDHost) async throws -> Void) async throws {
        try await withGTSD(on: Self.stack, clock: TestClock(at: "2025-10-28T12:00:00Z"), body)
    }

    @Test func overview() async throws {
        try await onATuesday { host in
            try await host.world().client().signUp(email: "anna@example.com", password: "Secret-123")
            let gtsd = try await OverviewSamples.begin(host.baseURL)
            let today = try await gtsd.send(GTSD.ListTasks()).data
            #expect(today.completedTasks == 1)
            #expect(today.tasks[0].evidence?.data == .init(text: "5 sets of 5"))
        }
    }

    @Test func signingIn() async throws {
        try await onATuesday { host in
            let gtsd = SigningInSamples.client(host.baseURL)
            var shown: [String] = []
            try await SigningInSamples.start(gtsd) {
                shown.append("day of \($0)")
            } showSignIn: {
                shown.append("sign in")
            }
            for password in ["Secret-12E", "secret", "Secret-123", "Secret-123"] {
                try await SigningInSamples.signUp(gtsd, password: password) {
                    shown.append("hello \($0.name ?? "")")
                } show: {
                    shown += $0
                }
                if password == "Secret-12E" { try await SigningInSamples.deleteAccount(gtsd, password: password) }
            }
            await #expect(throws: APIError.self) {
                try await SigningInSamples.recover(gtsd, address: "a@example.com", code: "x", newPassword: "Secret-456")
            }
            await #expect(throws: APIError.self) {
                try await SigningInSamples.move(gtsd, to: "new@example.org", code: "x", password: "Secret-123")
            }
            try await SigningInSamples.travel(gtsd)
            try await SigningInSamples.sessions(gtsd, password: "Secret-123") { (_: Any?...) in }
            try await SigningInSamples.change(gtsd, password: "Secret-123", newPassword: "Secret-456")
            try await SigningInSamples.change(gtsd, password: "Secret-456", newPassword: "Secret-123")
            let anna = try await SigningInSamples.signIn(gtsd)
            try await withTemporaryFolder { folder in
                let place = URL(fileURLWithPath: folder + "/archive.zip")
                try await SigningInSamples.archive(gtsd, to: place) { #expect($0 == place) }
            }
            try await SigningInSamples.start(gtsd) {
                shown.append("day of \($0)")
            } showSignIn: {
                shown.append("sign in")
            }
            for _ in 0..<2 {
                try await SigningInSamples.load(gtsd) {
                    shown.append("\($0.count) tasks")
                } showSignIn: {
                    shown.append("sign in")
                }
                try await SigningInSamples.signOut(gtsd)
            }
            #expect(
                shown == [
                    "sign in", "hello Anna", "Password must be at least 8 characters",
                    "Password must contain at least one uppercase letter",
                    "Password must contain at least one number",
                    "Password must contain at least one special character", "hello Anna",
                    "User with this email already exists", "day of \(anna.id)", "5 tasks", "sign in",
                ])
        }
    }

    @Test func today() async throws {
        try await onATuesday { host in
            let anna = try await host.world().person()
            let tasks = try await anna.tasks()
            for task in tasks[3...] { try await anna.prove(task) }
            var shown: [String] = []
            try await TodaySamples.prove(anna.client, walk: tasks[1], run: tasks[0]) { shown.append($0) }
            #expect(shown == ["1 days in a row!"])
            try await TodaySamples.list(anna.client, day: day("2025-10-28")) { shown.append($0) }
            #expect(shown.dropFirst() == ["2 of 3", "Hit Your Protein Target"])

            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let photo = Upload(
                .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg", contentType: "image/jpeg")
            // The server's clock stands still in 2025: evidence of this device's present is from the future.
            let outbox = try await TodaySamples.keep(
                anna.client, user: anna.id, task: tasks[0], photo: photo, in: folder
            ) { _ in }
            try await outbox.becomeEmpty()
            #expect(await outbox.items.count == 1)

            var badges: [GTSD.BadgeType] = []
            try await TodaySamples.check(anna.client) {
                shown.append($0)
            } celebrate: {
                badges.append($0)
            }
            #expect(shown.last == "Today counts.")
            #expect(badges.contains(.firstDay))
            var marked: [Day] = []
            shown = []
            try await TodaySamples.progress(anna.client, first: day("2025-10-01"), last: day("2025-10-31")) {
                shown.append($0)
            } mark: {
                marked.append($0)
            }
            #expect(marked == [day("2025-10-28")])
            #expect(shown.count == 17)
            #expect(shown.first == "1 days, 1 at most")
        }
    }

    @Test func photos() async throws {
        try await onATuesday { host in
            let anna = try await host.world().person()
            let bytes = SampleImage.jpeg(width: 16, height: 16)
            let file = URL(fileURLWithPath: host.folder).appendingPathComponent("front.jpg")
            try Data(bytes).write(to: file)
            let told = NIOLockedValueBox<[Double]>([])
            let task = try await anna.tasks()[0]
            let first = try await PhotosSamples.upload(anna.client, file: file, task: task) { share in
                told.withLockedValue { $0.append(share) }
            }
            #expect(told.withLockedValue { $0.last } == 1)

            let pending = PendingPhoto(file: file)
            let second = try await deliver(pending, with: anna.client)
            #expect(try await deliver(pending, with: anna.client) == second)
            let third = try await PhotosSamples.steps(anna.client, file: file, size: bytes.count) { file, url in
                let request = TransportRequest(method: .put, url: url, body: .file(file))
                let answer = try await host.transport.send(request, progress: nil)
                #expect(answer.status == .ok)
            }
            try await PhotosSamples.delete(anna.client, confirmed: first)
            let left = try await anna.client.send(GTSD.ListPhotos()).data.photos
            #expect(left.map(\.id) == [third.photoId, second])
            var shown: [String] = []
            try await PhotosSamples.list(anna.client) { shown.append($0.path) }
            #expect(shown == left.map { "/objects/\($0.fileKey)" })
        }
    }

    @Test func plans() async throws {
        try await onATuesday { host in
            let anna = try await host.world().person()
            var shown: [String] = []
            func refusals(_ client: GTSDClient) async throws -> [String] {
                var told: [String] = []
                var logged: [String] = []
                try await PlansSamples.refusals(client) {
                    told.append($0)
                } log: {
                    logged.append($0)
                } showSignIn: {
                    told.append("sign in")
                }
                return told + logged.map { String($0.prefix(8)) }
            }
            #expect(
                try await refusals(anna.client) == ["Please complete onboarding before generating a plan", "request "])
            let profile = try await PlansSamples.onboard(anna.client, birthday: day("1997-05-20"))
            #expect(profile.currentWeight == 65)
            try await PlansSamples.plan(anna.client) { shown.append($0) }
            #expect(shown.first?.hasPrefix("2025-10-27: ") == true)
            #expect(shown.count > 2)
            for _ in 0..<18 { try await PlansSamples.limits(anna.client) }
            #expect(try await refusals(anna.client) == ["Try again in 60 seconds."])
            try await anna.client.signOut()
            #expect(try await refusals(anna.client) == ["sign in"])

            shown = []
            for weight in [80, 5] {
                PlansSamples.form(weight: Double(weight), birthday: day("1990-01-15")) { shown.append($0) }
            }
            #expect(shown == ["Validation failed: currentWeight: Invalid currentWeight"])
        }
    }
}
