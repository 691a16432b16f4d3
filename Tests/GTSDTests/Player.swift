import Contract
import ContractCheck
import Foundation
import GTSDClient
import Testbed

/// A user whose days a test controls. They begin on Monday, 27 October 2025.
struct Player: Sendable {
    static let monday = day("2025-10-27")

    let host: GTSDHost
    let email: String
    let client: GTSDClient
    let user: GTSD.User

    /// Signs up on the first Monday, at six in the morning in UTC.
    static func begin(on host: GTSDHost, in timezone: String = "UTC") async throws -> Player {
        let client = GTSDClient(
            baseURL: host.baseURL, transport: host.transport, retry: .never, now: { [clock = host.clock] in clock.date }
        )
        let email = "anna@example.com"
        let user = try await client.signUp(email: email, password: "Secret-123", timezone: timezone)
        return Player(host: host, email: email, client: client, user: user)
    }

    /// Sets the clock to a time in UTC, a number of days after the first Monday.
    func go(to ahead: Int, _ time: String = "12:00") async throws {
        host.clock.set("\(Self.monday.advanced(by: ahead))T\(time):00Z")
        // A session ends after a week without a request.
        try await client.signIn(email: email, password: "Secret-123")
    }

    func tasks() async throws -> [GTSD.Task] { try await client.send(GTSD.ListTasks()).data.tasks }

    /// Completes some of today's tasks, given by their slots from 1.
    @discardableResult
    func complete(_ slots: [Int]) async throws -> GTSD.ChangedTask? {
        let tasks = try await tasks()
        var last: GTSD.ChangedTask?
        for slot in slots where slot <= tasks.count {
            last = try await client.send(GTSD.CompleteTask(tasks[slot - 1].id)).data
        }
        return last
    }

    /// Credits a number of consecutive days up to yesterday, directly in the database.
    func seed(_ count: Int, perfect: Bool = false) async throws {
        let today = Day(host.clock.date, in: .gmt)
        let user = Int64(user.id.rawValue) ?? 0
        try await host.database.write { db in
            for ago in 1...count {
                let day = today.advanced(by: -ago)
                try db.run("INSERT INTO credits (user_id, day, is_perfect) VALUES (\(user), \(day), \(perfect))")
            }
        }
    }

    func photo() async throws {
        let bytes = SampleImage.jpeg(width: 8, height: 8)
        try await client.uploadPhoto(Upload(.bytes(bytes), filename: "a.jpg", contentType: "image/jpeg"))
    }

    func metrics(_ count: Int) async throws {
        let task = try await tasks()[0].id
        for _ in 0..<count {
            try await client.send(GTSD.SubmitEvidence(taskId: task, type: .metrics, data: .init(metrics: ["kg": 80])))
        }
    }

    func badges() async throws -> [GTSD.BadgeType] {
        try await client.send(GTSD.ListBadges()).data.badges.map(\.badgeType)
    }

    func streak() async throws -> GTSD.Streak { try await client.send(GTSD.GetStreak()).data.streak }
}
