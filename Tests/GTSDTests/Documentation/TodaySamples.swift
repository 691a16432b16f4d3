import Foundation
import GTSDClient
import Testbed

// The samples of Today.md.

enum TodaySamples {
    static func prove(
        _ gtsd: GTSDClient, walk: GTSD.Task, run: GTSD.Task, show: (String) -> Void
    ) async throws {
        // sample
        try await gtsd.send(GTSD.SubmitEvidence.text("Around the lake", for: walk.id, notes: "Windy"))
        let done = try await gtsd.send(GTSD.SubmitEvidence.metrics(["km": 5.2, "shoes": "new"], for: run.id)).data
        if done.streakUpdated { show("\(done.newStreak) days in a row!") }
        // end
    }

    static func keep(
        _ gtsd: GTSDClient, user id: GTSD.User.ID, task: GTSD.Task, photo: Upload, in folder: URL,
        show: (String) -> Void
    ) async throws -> GTSDOutbox {
        let user = Identified(id)
        // sample
        let outbox = try await gtsd.outbox(of: user.id, in: folder)
        try await outbox.submit(.text("5 sets of 5", for: task.id))
        try await outbox.upload(photo, details: .init(task: task.id, stage: .during))
        for item in await outbox.items {
            guard case .failed(let failure) = item.state else { continue }
            show(failure.errorDescription ?? "")
            try await outbox.retry(item.id)
        }
        // end
        return outbox
    }

    static func list(_ gtsd: GTSDClient, day: Day, show: (String) -> Void) async throws {
        // sample
        let tasks = try await gtsd.send(GTSD.ListTasks(date: day, type: .nutrition)).data
        show("\(tasks.completedTasks) of \(tasks.totalTasks)")
        for task in tasks.tasks where !task.completed { show(task.title) }
        // end
    }

    static func check(
        _ gtsd: GTSDClient, show: (String) -> Void, celebrate: (GTSD.BadgeType) -> Void
    ) async throws {
        // sample
        let check = try await gtsd.send(GTSD.CheckCompliance()).data
        show(check.isCompliant ? "Today counts." : "Not yet.")
        for badge in check.newlyAwardedBadges { celebrate(badge.badgeType) }
        // end
    }

    static func progress(
        _ gtsd: GTSDClient, first: Day, last: Day, show: (String) -> Void, mark: (Day) -> Void
    ) async throws {
        // sample
        let status = try await gtsd.send(GTSD.GetStreak()).data
        show("\(status.streak.currentStreak) days, \(status.streak.longestStreak) at most")

        let history = try await gtsd.send(GTSD.GetHistory(from: first, to: last)).data
        for day in history.days where day.credited { mark(day.date) }

        for badge in try await gtsd.send(GTSD.ListAvailableBadges()).data.badges {
            show("\(badge.name): \(badge.earned ? "yours" : badge.description)")
        }
        // end
    }
}

// sample
@MainActor
final class TodayModel {
    private(set) var tasks: [GTSD.Task] = []
    private(set) var streak = 0
    private let gtsd: GTSDClient

    init(_ gtsd: GTSDClient) { self.gtsd = gtsd }

    func load() async throws {
        tasks = try await gtsd.send(GTSD.ListTasks()).data.tasks
        streak = try await gtsd.send(GTSD.GetStreak()).data.streak.currentStreak
    }

    func toggle(_ task: GTSD.Task) async throws {
        let change =
            try await task.completed
            ? gtsd.send(GTSD.UncompleteTask(task.id)).data : gtsd.send(GTSD.CompleteTask(task.id)).data
        tasks = tasks.map { $0.id == change.task.id ? change.task : $0 }
        streak = change.newStreak
    }
}
// end
