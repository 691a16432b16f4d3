import Contract
import Foundation
import GTSDClient
import Testbed
import Testing

/// A fortnight of somebody's life in Berlin, as the app would show it. Sunday the 26th has 25 hours.
@Suite struct LifeTests {
    /// How many tasks are done, and when, by the clock in Berlin; nil for a day on which the app was not opened.
    private static let days: [(done: Int, at: String)?] = [
        (6, "05:30"), (4, "18:00"), (5, "18:00"), (3, "18:00"), (4, "18:00"), (5, "18:00"), (4, "18:00"),
        (5, "18:00"), (5, "18:00"), (5, "18:00"), (4, "18:00"), nil, (5, "18:00"), (3, "18:00"),
    ]

    static let transcript = """
        Anna signs up, weighs 80 kg and wants to lose 5.
        Plan of 2025-10-20 to 2025-10-26: 2259 kcal, 176 g protein, 220 g carbs, 75 g fat.
        Your Timeline: At a steady pace you reach your target weight in about 10 weeks.
        Mon 2025-10-20  6 of 6  streak 1  longest 1  total 1  + first_day, all_rounder
        Tue 2025-10-21  4 of 5  streak 2  longest 2  total 2
        Wed 2025-10-22  5 of 5  streak 3  longest 3  total 3
        Thu 2025-10-23  3 of 5  streak 3  longest 3  total 3
        Fri 2025-10-24  4 of 5  streak 1  longest 3  total 4  + comeback
        Sat 2025-10-25  5 of 5  streak 2  longest 3  total 5
        Sun 2025-10-26  4 of 5  streak 3  longest 3  total 6
        Mon 2025-10-27  5 of 6  streak 4  longest 4  total 7
        Tue 2025-10-28  5 of 5  streak 5  longest 5  total 8
        Wed 2025-10-29  5 of 5  streak 6  longest 6  total 9
        Thu 2025-10-30  4 of 5  streak 7  longest 7  total 10  + week_warrior
        Fri 2025-10-31  not opened
        Sat 2025-11-01  5 of 5  streak 1  longest 7  total 11
        Sun 2025-11-02  3 of 5  streak 1  longest 7  total 11
        History: ###.### ####.#.
        Badges: 4 of 16, 25 %.
        """

    @Test(arguments: Stack.all)
    func aFortnight(_ stack: Stack) async throws {
        try await withGTSD(on: stack, clock: TestClock(at: "2025-10-20T03:00:00Z")) { host in
            let player = try await Player.begin(on: host, in: "Europe/Berlin")
            var lines = ["Anna signs up, weighs 80 kg and wants to lose 5."]
            try await player.client.send(
                GTSD.CompleteOnboarding(
                    dateOfBirth: day("1995-06-01"), gender: .male, primaryGoal: .loseWeight, currentWeight: 80,
                    targetWeight: 75, height: 180, activityLevel: .moderatelyActive))
            let plan = try await player.client.send(GTSD.GeneratePlan()).data.plan
            let targets = plan.targets
            lines.append(
                "Plan of \(plan.weekStartDate) to \(plan.weekEndDate): \(targets.targetCalories) kcal, "
                    + "\(targets.proteinGrams) g protein, \(targets.carbGrams) g carbs, \(targets.fatGrams) g fat.")
            let timeline = try #require(plan.educationalContent.sections.last)
            lines.append("\(timeline.heading): \(timeline.content)")

            let monday = plan.weekStartDate.daysSince1970
            for (ahead, life) in Self.days.enumerated() {
                let today = Day(daysSince1970: monday + Int64(ahead))
                let name = "\(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][ahead % 7]) \(today)"
                guard let life else {
                    lines.append("\(name)  not opened")
                    continue
                }
                // Summer time ends on the 26th at three.
                host.clock.set("\(today)T\(life.at):00\(today < day("2025-10-26") ? "+02:00" : "+01:00")")
                try await player.client.signIn(email: player.email, password: "Secret-123")
                let tasks = try await player.tasks()
                for task in tasks.suffix(life.done) {
                    try await player.client.send(
                        GTSD.SubmitEvidence(taskId: task.id, type: .textLog, data: .init(text: "Done.")))
                }
                let check = try await player.client.send(GTSD.CheckCompliance()).data
                #expect(check.isCompliant == (life.done * 5 >= tasks.count * 4))
                let streak = check.streakData
                let badges = check.newlyAwardedBadges.map(\.badgeType.rawValue).joined(separator: ", ")
                lines.append(
                    "\(name)  \(life.done) of \(tasks.count)  streak \(streak.currentStreak)  "
                        + "longest \(streak.longestStreak)  total \(streak.totalCompliantDays)"
                        + (badges.isEmpty ? "" : "  + \(badges)"))
            }
            let days = try await player.client.send(
                GTSD.GetHistory(from: Day(daysSince1970: monday), to: Day(daysSince1970: monday + 13))
            ).data.days
            let marks = days.map { $0.credited ? "#" : "." }.joined()
            lines.append("History: \(marks.prefix(7)) \(marks.suffix(7))")
            let badges = try await player.client.send(GTSD.ListBadges()).data
            lines.append("Badges: \(badges.totalBadges) of \(badges.totalAvailable), \(badges.completionPercentage) %.")
            #expect(lines.joined(separator: "\n") == Self.transcript)
        }
    }
}
