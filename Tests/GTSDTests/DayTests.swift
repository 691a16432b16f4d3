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

/// The clock and a user's time zone decide to which day a task counts.
@Suite(.timeLimit(.minutes(30))) struct GTSDDayTests {
    /// This is decisions §8, example 4: the time zone decides, for both users.
    @Test(arguments: [
        ("Pacific/Auckland", "2025-10-27", "2025-10-27", "2025-11-02"),
        ("UTC", "2025-10-26", "2025-10-20", "2025-10-26"),
    ])
    func theZoneDecidesTheDay(_ zone: String, _ today: String, _ monday: String, _ sunday: String) async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-26T11:30:00Z")) { host in
            let anna = try await host.world().person(in: zone)
            let tasks = try await anna.tasks()
            #expect(tasks.allSatisfy { $0.dueDate == day(today) })
            for task in tasks { try await anna.prove(task) }
            let status = try await anna.streak()
            #expect(status.streak.lastCompliantDate == day(today))
            #expect(status.todayCompliance?.date == day(today))
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let plan = try await anna.send(GTSD.GeneratePlan()).plan
            #expect(plan.weekStartDate == day(monday))
            #expect(plan.weekEndDate == day(sunday))
        }
    }

    /// This is decisions §8, examples 3 and 5, during a clock change: 26 October 2025 has 25 hours in Berlin.
    @Test func creditsGoByDaysNotHours() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-25T21:59:00Z")) { host in
            let player = try await Player.begin(on: host, in: "Europe/Berlin")
            func credit(at time: String) async throws -> [Int] {
                host.clock.set(time)
                try await player.client.signIn(email: player.email, password: "Secret-123")
                try await player.complete([1, 2, 3, 4, 5])
                let streak = try await player.streak()
                return [streak.currentStreak, streak.longestStreak, streak.totalCompliantDays]
            }
            // It is 23:59 on Saturday in summer time, then 23:59 on Sunday in winter time: 25 hours and a day later.
            #expect(try await credit(at: "2025-10-25T21:59:00Z") == [1, 1, 1])
            #expect(try await credit(at: "2025-10-26T22:59:00Z") == [2, 2, 2])
            // It is 00:01 on Tuesday: Monday was missed by two minutes.
            #expect(try await credit(at: "2025-10-27T23:01:00Z") == [1, 2, 3])
            host.clock.set("2025-10-29T22:59:00Z")
            try await player.client.signIn(email: player.email, password: "Secret-123")
            #expect(try await player.streak().currentStreak == 1)
            host.clock.set("2025-10-29T23:00:00Z")
            try await player.client.signIn(email: player.email, password: "Secret-123")
            #expect(try await player.streak().currentStreak == 0)
        }
    }

    /// A user who crosses the date line has 26 October after the 27th, or never. Each day counts once.
    @Test func aMoveNeitherDoublesNorLosesADay() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-26T11:30:00Z")) { host in
            let player = try await Player.begin(on: host, in: "Pacific/Auckland")
            func move(to zone: String) async throws {
                try await player.client.send(
                    GTSD.CompleteOnboarding(
                        dateOfBirth: day("1990-01-15"), gender: .male, primaryGoal: .maintain, currentWeight: 80,
                        height: 180, activityLevel: .sedentary, timezone: zone))
            }
            /// Returns today, current, longest, total and the last day.
            func status() async throws -> String {
                let status = try await player.client.send(GTSD.GetStreak()).data
                let (today, streak) = (status.todayCompliance?.date.description, status.streak)
                return
                    "\(today ?? "none") \(streak.currentStreak) \(streak.longestStreak) \(streak.totalCompliantDays) "
                    + "\(streak.lastCompliantDate?.description ?? "none")"
            }
            try await player.complete([1, 2, 3, 4, 5, 6])
            #expect(try await status() == "2025-10-27 1 1 1 2025-10-27")
            try await move(to: "UTC")
            let changed = try await player.complete([1, 2, 3, 4])
            #expect(changed?.streakUpdated == true)
            #expect(try await status() == "2025-10-26 2 2 2 2025-10-27")
            try await move(to: "Pacific/Auckland")
            let again = try await player.complete([1, 2, 3, 4, 5, 6])
            #expect(again?.streakUpdated == false)
            #expect(try await status() == "2025-10-27 2 2 2 2025-10-27")
        }
    }

    /// A user who flies west over the date line, from Honolulu to Auckland, has almost nothing of 28 October.
    @Test(arguments: Stack.Engine.available)
    func aDayThatAJourneyLeavesOutBreaksNoStreak(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess), clock: TestClock(at: "2025-10-27T20:00:00Z")) { host in
            let player = try await Player.begin(on: host, in: "Pacific/Honolulu")
            func go(to time: String) async throws {
                host.clock.set(time)
                try await player.client.signIn(email: player.email, password: "Secret-123")
            }
            func move(to zone: String) async throws {
                try await player.client.send(GTSD.UpdateMe(timezone: zone))
            }
            /// Returns today, current, longest, total and the last day.
            func status() async throws -> String {
                let status = try await player.client.send(GTSD.GetStreak()).data
                let (today, streak) = (status.todayCompliance?.date.description, status.streak)
                return
                    "\(today ?? "none") \(streak.currentStreak) \(streak.longestStreak) \(streak.totalCompliantDays) "
                    + "\(streak.lastCompliantDate?.description ?? "none")"
            }
            // It is 10:00 on Monday the 27th in Honolulu.
            try await player.complete([1, 2, 3, 4, 5])
            #expect(try await status() == "2025-10-27 1 1 1 2025-10-27")
            // It is 01:00 on the 28th there, and 00:00 on the 29th in Auckland.
            try await go(to: "2025-10-28T11:00:00Z")
            #expect(try await status() == "2025-10-28 1 1 1 2025-10-27")
            try await move(to: "Pacific/Auckland")
            #expect(try await status() == "2025-10-29 1 1 1 2025-10-27")
            try await player.complete([1, 2, 3, 4, 5])
            #expect(try await status() == "2025-10-29 2 2 2 2025-10-29")
            // It was no comeback.
            #expect(try await player.badges() == [.firstDay])
            // The same journey the other way: the 29th comes again, and counts once.
            try await move(to: "Pacific/Honolulu")
            #expect(try await status() == "2025-10-28 2 2 2 2025-10-29")
            try await player.complete([1, 2, 3, 4, 5])
            #expect(try await status() == "2025-10-28 3 3 3 2025-10-29")
            try await go(to: "2025-10-29T20:00:00Z")
            #expect(try await status() == "2025-10-29 3 3 3 2025-10-29")
            let again = try await player.complete([1, 2, 3, 4, 5])
            #expect(again?.streakUpdated == false)
            // A day that was missed at home is missed.
            try await go(to: "2025-10-31T20:00:00Z")
            #expect(try await status() == "2025-10-31 0 3 3 2025-10-29")
        }
    }

    /// A move there and back does not stand for the day's tasks again and again.
    @Test(arguments: Stack.Engine.available)
    func onlyOneJourneyAWeekLeavesADayOut(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess), clock: TestClock(at: "2025-10-27T20:00:00Z")) { host in
            let player = try await Player.begin(on: host, in: "Pacific/Honolulu")
            try await player.complete([1, 2, 3, 4, 5, 6])
            // It is 23:00 in Honolulu, and 22:00 on the next day in Auckland; then the next morning.
            for (evening, morning, expected) in [
                ("2025-10-29T09:00:00Z", "2025-10-29T18:00:00Z", 1),
                ("2025-10-30T09:00:00Z", "2025-10-30T18:00:00Z", 0),
            ] {
                for (time, zone) in [(evening, "Pacific/Auckland"), (morning, "Pacific/Honolulu")] {
                    host.clock.set(time)
                    try await player.client.signIn(email: player.email, password: "Secret-123")
                    try await player.client.send(GTSD.UpdateMe(timezone: zone))
                }
                #expect(try await player.streak().currentStreak == expected, "\(morning)")
            }
        }
    }

    /// A date picker sends midnight in its own zone, written in UTC.
    @Test(arguments: [
        ("1990-05-14T22:00:00Z", "1990-05-15"), ("1990-05-14T22:00:00.000z", "1990-05-15"),
        ("1990-05-14T21:59:59Z", "1990-05-14"), ("1990-05-15T00:00:00+02:00", "1990-05-15"),
        ("1990-05-14T22:00:00+00:00", "1990-05-14"), ("1990-05-15", "1990-05-15"),
    ])
    func anInstantIsADayOfTheUsersZone(_ sent: String, _ expected: String) async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-26T11:30:00Z")) { host in
            let anna = try await host.world().person(in: "Europe/Berlin")
            var request = Person.body
            request.dateOfBirth = sent
            // This is midnight of 1 January in Berlin, in winter time.
            request.targetDate = "2025-12-31T23:00:00Z"
            let kept: GTSD.OnboardingStatus = try await anna.send(request)
            #expect(kept.profile.dateOfBirth == day(expected))
            #expect(kept.profile.targetDate == day("2026-01-01"))
        }
    }

    /// Today's tasks were completed yesterday. They count with a check of today, not with a task of another day.
    @Test func tasksOfAnotherDayDoNotCreditToday() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            let monday = try await player.tasks()
            for task in try await player.client.send(GTSD.ListTasks(date: day("2025-10-28"))).data.tasks {
                try await player.client.send(GTSD.CompleteTask(task.id))
            }
            try await player.go(to: 1)
            let old = try await player.client.send(
                GTSD.SubmitEvidence(taskId: monday[0].id, type: .textLog, data: .init(text: "Late."))
            ).data
            #expect(!old.streakUpdated)
            #expect(old.newStreak == 0)
            let status = try await player.client.send(GTSD.GetStreak()).data
            #expect(status.todayCompliance?.isCompliant == true)
            #expect(status.canIncrementToday)
            let check = try await player.client.send(GTSD.CheckCompliance()).data
            #expect(check.streakData.currentStreak == 1)
            #expect(check.newlyAwardedBadges.map(\.badgeType) == [.firstDay])
        }
    }

    @Test func lateTasksCreditNothing() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            try await player.complete([1, 2, 3, 4, 5])
            try await player.go(to: 1)
            try await player.complete([1, 2, 3, 4])
            try await player.go(to: 2)
            let wednesday = try await player.tasks()
            #expect(try await player.streak().currentStreak == 2)
            try await player.go(to: 3)
            #expect(try await player.streak().currentStreak == 0)
            for task in wednesday { try await player.client.send(GTSD.CompleteTask(task.id)) }
            let check = try await player.client.send(GTSD.CheckCompliance(date: wednesday[0].dueDate)).data
            #expect(check.isCompliant)
            #expect(check.streakData.totalCompliantDays == 2)
            let changed = try await player.complete([1, 2, 3, 4])
            #expect(changed?.streakUpdated == true)
            #expect(changed?.newStreak == 1)
            let streak = try await player.streak()
            #expect((streak.currentStreak, streak.longestStreak, streak.totalCompliantDays) == (1, 2, 3))
        }
    }

    /// A day is credited once by completing its tasks. Later checks and completions of any day change nothing.
    @Test func aRandomLifeKeepsItsCreditedDays() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2024-02-26T06:00:00Z")) { host in
            var random = SeededGenerator(seed: 6)
            let player = try await Player.begin(on: host, in: "America/New_York")
            var credited: [Day] = []
            var known: [GTSD.Task] = []
            // The days include a leap day and a clock change.
            let first = day("2024-02-26")
            for today in first..<first.advanced(by: 21) {
                host.clock.set("\(today)T17:00:00Z")
                try await player.client.signIn(email: player.email, password: "Secret-123")
                let tasks = try await player.tasks()
                let done = tasks.filter { _ in Int.random(in: 0..<10, using: &random) < 9 }
                for task in done { try await player.client.send(GTSD.CompleteTask(task.id)) }
                if done.count * 5 >= tasks.count * 4 { credited.append(today) }
                // Completing a task of an earlier day changes nothing.
                if let old = known.randomElement(using: &random) {
                    try await player.client.send(GTSD.CompleteTask(old.id))
                    try await player.client.send(GTSD.CheckCompliance(date: old.dueDate))
                }
                known += tasks
                var expected: (run: Int, longest: Int) = (0, 0)
                var last: Day?
                for day in credited {
                    expected.run = last == day.advanced(by: -1) ? expected.run + 1 : 1
                    expected.longest = max(expected.longest, expected.run)
                    last = day
                }
                if (last ?? Day(daysSince1970: 0)) < today.advanced(by: -1) { expected.run = 0 }
                let streak = try await player.streak()
                #expect(streak.currentStreak == expected.run)
                #expect(streak.longestStreak == expected.longest)
                #expect(streak.totalCompliantDays == credited.count)
            }
            let days = try await player.client.send(
                GTSD.GetHistory(from: first, to: first.advanced(by: 20))
            ).data.days
            #expect(days.filter(\.credited).map(\.date) == credited)
            #expect(days.contains { $0.date == day("2024-02-29") })
        }
    }
}
