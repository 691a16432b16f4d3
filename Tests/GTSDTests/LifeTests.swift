import Contract
import ContractCheck
import Foundation
import GTSDClient
import Testbed
import Testing

/// The app shows the right days for two weeks of a user in Berlin. Sunday the 26th has 25 hours.
@Suite(.timeLimit(.minutes(30))) struct LifeTests {
    /// The titles of the tasks that Anna leaves undone, and the time in Berlin at which she does the others; nil for a
    /// day on which she does not open the app.
    private static let days: [(missed: Set<String>, at: String)?] = [
        ([], "05:30"),
        (["Cardio: Intervals"], "18:00"),
        ([], "18:00"),
        (["Daily Walk", "Stay on Your Calorie Target"], "18:00"),
        (["Strength: Full Body"], "18:00"),
        ([], "18:00"),
        (["Drink Your Water"], "23:59"),
        (["Strength: Lower Body"], "00:00"),
        ([], "18:00"),
        ([], "18:00"),
        (["Cardio: Steady Run"], "18:00"),
        nil,
        ([], "18:00"),
        (["Daily Walk", "Hit Your Protein Target"], "18:00"),
    ]

    static let transcript = """
        Anna signs up in Europe/Berlin, weighs 80 kg, is 180 cm tall, and wants to weigh 75.
        2025-10-20 to 2025-10-26: 2259 kcal, 176 g protein, 220 g carbohydrates, 75 g fat.
          At a steady pace you reach your target weight in about 10 weeks.
        Mon 2025-10-20 05:30  6 of 6 done
          with a photo from the front.
          Streak 1, longest 1, 1 day in all. New: first_day, all_rounder.
        Tue 2025-10-21 18:00  4 of 5 done, not Cardio: Intervals
          Streak 2, longest 2, 2 days in all.
        Wed 2025-10-22 18:00  5 of 5 done
          Streak 3, longest 3, 3 days in all.
        Thu 2025-10-23 18:00  3 of 5 done, not Daily Walk, Stay on Your Calorie Target
          Not enough. Streak 3, longest 3, 3 days in all.
        Fri 2025-10-24 18:00  4 of 5 done, not Strength: Full Body
          Streak 1, longest 3, 4 days in all. New: comeback.
        Sat 2025-10-25 18:00  5 of 5 done
          Streak 2, longest 3, 5 days in all.
        Sun 2025-10-26 23:59  4 of 5 done, not Drink Your Water
          Streak 3, longest 3, 6 days in all.
        Mon 2025-10-27 00:00  5 of 6 done, not Strength: Lower Body
          with a photo from the front.
          Streak 4, longest 4, 7 days in all.
        2025-10-27 to 2025-11-02: 2236 kcal, 173 g protein, 217 g carbohydrates, 75 g fat.
          At a steady pace you reach your target weight in about 7 weeks.
        Tue 2025-10-28 18:00  5 of 5 done
          Streak 5, longest 5, 8 days in all.
        Wed 2025-10-29 18:00  5 of 5 done
          Streak 6, longest 6, 9 days in all.
        Thu 2025-10-30 18:00  4 of 5 done, not Cardio: Steady Run
          Streak 7, longest 7, 10 days in all. New: week_warrior.
        Fri 2025-10-31  not opened
        Sat 2025-11-01 18:00  5 of 5 done
          Streak 1, longest 7, 11 days in all.
        Sun 2025-11-02 18:00  3 of 5 done, not Daily Walk, Hit Your Protein Target
          Not enough. Streak 1, longest 7, 11 days in all.
        Two weeks: ###.### ####.#.
        Badges, 4 of 16 (25 %): week_warrior, comeback, all_rounder, first_day.
        Photos: 2.
        """

    @Test(arguments: Stack.all)
    func aFortnight(_ stack: Stack) async throws {
        try await withGTSD(on: stack, clock: TestClock(at: "2025-10-20T03:00:00Z")) { host in
            let player = try await Player.begin(on: host, in: "Europe/Berlin")
            let life = Life(player: player)
            var lines = [
                "Anna signs up in \(player.user.timezone), weighs 80 kg, is 180 cm tall, and wants to weigh 75."
            ]
            lines += try await life.plan(weighing: 80)
            let monday = day("2025-10-20")
            for (ahead, plan) in Self.days.enumerated() {
                let today = monday.advanced(by: ahead)
                let name = "\(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][ahead % 7]) \(today)"
                guard let plan else {
                    lines.append("\(name)  not opened")
                    continue
                }
                // Summer time ends on the 26th at three o'clock.
                host.clock.set("\(today)T\(plan.at):00\(today < day("2025-10-26") ? "+02:00" : "+01:00")")
                lines += try await life.live("\(name) \(plan.at)", missing: plan.missed)
                if ahead == 7 { lines += try await life.plan(weighing: 78.5) }
            }
            let history = try await player.client.send(
                GTSD.GetHistory(from: monday, to: monday.advanced(by: 13))
            ).data.days
            let marks = history.map { $0.credited ? "#" : "." }.joined()
            lines.append("Two weeks: \(marks.prefix(7)) \(marks.suffix(7))")
            let badges = try await player.client.send(GTSD.ListBadges()).data
            lines.append(
                "Badges, \(badges.totalBadges) of \(badges.totalAvailable) (\(badges.completionPercentage) %): "
                    + badges.badges.map(\.badgeType.rawValue).joined(separator: ", ") + ".")
            var photos = 0
            for try await _ in player.client.photos(pageSize: 1) { photos += 1 }
            lines.append("Photos: \(photos).")
            if stack == Stack.all[0] { print("A fortnight of GTSD:\n" + lines.joined(separator: "\n")) }
            #expect(lines.joined(separator: "\n") == Self.transcript)
        }
    }
}

/// Performs what Anna does, and returns a transcript.
private struct Life {
    let player: Player

    /// Enters her weight, and has this week's plan made.
    func plan(weighing kilograms: Double) async throws -> [String] {
        try await player.client.send(
            GTSD.CompleteOnboarding(
                dateOfBirth: day("1995-06-01"), gender: .male, primaryGoal: .loseWeight, currentWeight: kilograms,
                targetWeight: 75, height: 180, activityLevel: .moderatelyActive))
        let answer = try await player.client.answer(GTSD.GeneratePlan())
        #expect(answer.status == .created)
        let plan = try #require(answer.output).data.plan
        let targets = plan.targets
        return [
            "\(plan.weekStartDate) to \(plan.weekEndDate): \(targets.targetCalories) kcal, "
                + "\(targets.proteinGrams) g protein, \(targets.carbGrams) g carbohydrates, \(targets.fatGrams) g fat.",
            "  \(plan.educationalContent.sections.last?.content ?? "")",
        ]
    }

    /// Completes a day's tasks except the missed ones, in one of the three ways each.
    func live(_ name: String, missing missed: Set<String>) async throws -> [String] {
        let client = player.client
        try await client.signIn(email: player.email, password: "Secret-123")
        let tasks = try await player.tasks()
        let undone = tasks.filter { missed.contains($0.title) }
        #expect(undone.count == missed.count)
        let done = tasks.filter { !missed.contains($0.title) }
        var lines = [
            "\(name)  \(done.count) of \(tasks.count) done"
                + (undone.isEmpty ? "" : ", not " + undone.map(\.title).joined(separator: ", "))
        ]
        for task in done {
            switch task.type {
            case .photos:
                let bytes = SampleImage.jpeg(width: 8, height: 8)
                let photo = try await client.uploadPhoto(
                    Upload(.bytes(bytes), filename: "front.jpg", contentType: "image/jpeg"),
                    details: .init(width: 8, height: 8, task: task.id, stage: .during))
                try await client.send(
                    GTSD.SubmitEvidence(
                        taskId: task.id, type: .photoReference, data: .init(photoUrl: photo.downloadUrl)))
                lines.append("  with a photo from the front.")
            case .nutrition:
                try await client.send(
                    GTSD.SubmitEvidence(taskId: task.id, type: .textLog, data: .init(text: task.description)))
            default:
                try await client.send(GTSD.CompleteTask(task.id))
            }
        }
        let check = try await client.send(GTSD.CheckCompliance()).data
        #expect(check.isCompliant == (done.count * 5 >= tasks.count * 4))
        let streak = check.streakData
        let badges = check.newlyAwardedBadges.map(\.badgeType.rawValue).joined(separator: ", ")
        lines.append(
            "  \(check.isCompliant ? "" : "Not enough. ")Streak \(streak.currentStreak), "
                + "longest \(streak.longestStreak), \(streak.totalCompliantDays) "
                + "\(streak.totalCompliantDays == 1 ? "day" : "days") in all."
                + (badges.isEmpty ? "" : " New: \(badges)."))
        return lines
    }
}
