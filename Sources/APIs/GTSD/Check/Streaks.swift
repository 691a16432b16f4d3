@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    static let streaks: [Scenario<GTSDWorld>] = [
        Scenario("A streak is there from the sign-up", clause: "GET /v1/streaks/me", level: .contract) { _, anna in
            let data = try await anna.get("/v1/streaks/me").data()
            try expect(data["streak"]?["userId"], equals: anna.id.json)
            for name in ["currentStreak", "longestStreak", "totalCompliantDays"] {
                try expect(data["streak"]?[name], equals: 0)
            }
            try expect(data["streak"]?["lastCompliantDate"], equals: "")
            // A server that creates a day's tasks when they are first requested has none yet.
            let done = data["todayCompliance"]?["tasksCompleted"] ?? nil
            try expect(done == nil || done == 0, "a task is completed already")
            try expect(data["canIncrementToday"], equals: true)
            try expect(try await anna.streak().streak.lastCompliantDate, equals: nil)
        },
        Scenario("Four of five tasks make a day, once", clause: "§8 example 2") { _, anna in
            let tasks = try await anna.tasks()
            // On Mondays there are six tasks, of which five are needed.
            let needed = tasks.count == 6 ? 5 : 4
            for (index, task) in tasks.enumerated() {
                let done = try await anna.prove(task)
                try expect(done.streakUpdated, equals: index + 1 == needed)
                try expect(done.newStreak, equals: index + 1 >= needed ? 1 : 0)
                let status = try await anna.streak()
                try expect(status.todayCompliance?.tasksCompleted, equals: index + 1)
                try expect(status.todayCompliance?.isCompliant, equals: index + 1 >= needed)
                try expect(status.canIncrementToday, equals: index + 1 < needed)
            }
            for badges in [["first_day"], []] as [[JSONValue]] {
                let check = try await anna.post("/v1/streaks/check-compliance").data()
                try expect(check["isCompliant"], equals: true)
                try expect(check["streakData"]?["currentStreak"], equals: 1)
                let told = check["newlyAwardedBadges"]?.elements ?? []
                try expect(
                    told.filter { $0["badgeType"] == "first_day" }.map { $0["badgeType"] ?? nil }, equals: badges)
            }
            let badges = try await anna.get("/v1/badges/me").data()
            try expect(badges["badges"]?.elements.contains { $0["badgeType"] == "first_day" } ?? false, "no badge")
            let count = badges["totalBadges"]?.integer ?? 0
            try expect(badges["completionPercentage"]?.integer, equals: (count * 200 + 16) / 32)
            let streak = try await anna.streak().streak
            try expect(streak.lastCompliantDate, equals: tasks[0].dueDate)
        },
        Scenario("Fifty evidences at once move the streak one step", clause: "§5 transactions") { _, anna in
            let tasks = try await anna.tasks()
            try expect(!tasks.isEmpty, "no tasks today")
            let answers = try await together(50) { try await anna.prove(tasks[$0 % tasks.count], "\($0)") }
            try expect(answers.filter(\.streakUpdated).count, equals: 1)
            try expect(Set(answers.map(\.evidence.id)).count, equals: 50)
            let streak = try await anna.streak().streak
            try expect([streak.currentStreak, streak.longestStreak, streak.totalCompliantDays], equals: [1, 1, 1])
        },
        Scenario("Uncompleting withdraws today, completing gives it back", clause: "§6 uncomplete") { _, anna in
            let tasks = try await anna.tasks()
            for task in tasks { try await anna.prove(task) }
            var updates: [Bool] = []
            for task in tasks.prefix(3) {
                let changed: GTSD.ChangedTask = try await anna.send(GTSD.UncompleteTask(task.id))
                updates.append(changed.streakUpdated)
            }
            // It reports only new credits, and there are none.
            try expect(updates, equals: [false, false, false])
            var streak = try await anna.streak().streak
            try expect([streak.currentStreak, streak.totalCompliantDays], equals: [0, 0])
            for task in tasks.prefix(2) { let _: GTSD.ChangedTask = try await anna.send(GTSD.CompleteTask(task.id)) }
            streak = try await anna.streak().streak
            try expect([streak.currentStreak, streak.totalCompliantDays], equals: [1, 1])
            // A badge stays.
            let badges: GTSD.EarnedBadges = try await anna.send(GTSD.ListBadges())
            try expect(badges.badges.filter { $0.badgeType == .firstDay }.count, equals: 1)
        },
        Scenario("Another day is judged, and never counts", clause: "§3 credit") { _, anna in
            let today = try await anna.tasks()[0].dueDate
            let tomorrow = today.advanced(by: 1)
            for task in try await anna.tasks(on: tomorrow) {
                let done = try await anna.prove(task)
                try expect(!done.streakUpdated && done.newStreak == 0, "tomorrow counted")
            }
            let check: GTSD.ComplianceCheck = try await anna.send(GTSD.CheckCompliance(date: tomorrow))
            try expect(check.isCompliant, equals: true)
            try expect(check.streakData.totalCompliantDays, equals: 0)
            let days = try await anna.send(GTSD.GetHistory(from: today, to: tomorrow)).days
            try expect(days.map(\.isCompliant), equals: [false, true])
            try expect(days.map(\.credited), equals: [false, false])
        },
        Scenario("No answer depends on which was asked for first", clause: "§3 generator") { _, anna in
            let before = try await anna.streak()
            let past = try await anna.send(GTSD.GetHistory()).days
            let tasks = try await anna.tasks()
            try expect(before.todayCompliance?.tasksTotal, equals: tasks.count)
            try expect(before.todayCompliance?.tasksCompleted, equals: 0)
            try expect(try await anna.streak().todayCompliance, equals: before.todayCompliance)
            try expect(try await anna.send(GTSD.GetHistory()).days, equals: past)
            let today = try tasks[0].dueDate
            // There is nothing before the sign-up; from then on every day has its tasks, up to seven days ahead.
            let days = try await anna.send(
                GTSD.GetHistory(from: today.advanced(by: -1), to: today.advanced(by: 8))
            ).days
            try expect(days.map { $0.totalTasks > 0 }, equals: [false] + Array(repeating: true, count: 8) + [false])
            try expect(past.last?.totalTasks, equals: tasks.count)
        },
        Scenario("The history ends where years have four digits", clause: "§6 history") { _, anna in
            let last = try await anna.send(GTSD.GetHistory(from: Day("9999-12-30"))).days
            try expect(last.map(\.date.description), equals: ["9999-12-30", "9999-12-31"])
            let first = try await anna.send(GTSD.GetHistory(to: Day("0001-01-02"))).days
            try expect(first.map(\.date.description), equals: ["0001-01-01", "0001-01-02"])
        },
        Scenario("An id beyond 64 bits is no id", clause: "§2 texts") { _, anna in
            for action in ["complete", "uncomplete"] {
                try await anna.post("/v1/tasks/99999999999999999999/\(action)")
                    .invalid("taskId: Task ID must be a positive integer")
            }
            try await anna.raw(.delete, "/v1/progress/photo/99999999999999999999")
                .invalid("photoId: Photo ID must be a positive integer")
        },
        Scenario("The history has every day that is asked for", clause: "§6 history") { _, anna in
            let today = try await anna.tasks()[0].dueDate
            let month: GTSD.History = try await anna.send(GTSD.GetHistory())
            try expect(month.days.map(\.date), equals: (0..<30).map { today.advanced(by: $0 - 29) })
            let year: GTSD.History = try await anna.send(GTSD.GetHistory(from: today.advanced(by: -365), to: today))
            try expect(year.days.count, equals: 366)
            try await anna.get("/v1/streaks/history?from=2024-01-01&to=2025-01-01")
                .invalid("to: At most 366 days can be asked for")
            try await anna.get("/v1/streaks/history?from=2025-01-02&to=2025-01-01")
                .invalid("to: Date must not be before from")
            try await anna.get("/v1/streaks/history?from=x&to=2025-02-30")
                .invalid("from: Date must be in YYYY-MM-DD format, to: Invalid date provided")
        },
        Scenario("Sixteen badges are to be had", clause: "§6 available") { _, anna in
            let badges = try await anna.get("/v1/badges/available").data()["badges"]?.elements ?? []
            try expect(
                badges.map { $0["badgeType"] ?? nil },
                equals: [
                    "first_day", "week_warrior", "month_master", "quarter_champion", "year_legend", "perfect_10",
                    "perfect_30", "perfect_100", "comeback", "early_bird", "night_owl", "photo_proof", "data_driver",
                    "all_rounder", "strength_master", "cardio_king",
                ])
            try expect(badges.allSatisfy { $0["earned"] == false && $0["awardedAt"] == .null }, "earned already")
        },
        Scenario("Ten metrics make a data driver", clause: "§3 badges") { _, anna in
            let task = try await anna.tasks()[0]
            func badges() async throws -> Int {
                let earned: GTSD.EarnedBadges = try await anna.send(GTSD.ListBadges())
                return earned.badges.filter { $0.badgeType == .dataDriver }.count
            }
            for count in 1...11 {
                let _: GTSD.SubmittedEvidence = try await anna.send(
                    GTSD.SubmitEvidence(taskId: task.id, type: .metrics, data: .init(metrics: ["kg": 80])))
                try expect(try await badges(), equals: count < 10 ? 0 : 1)
            }
        },
    ]
}
