import Contract
import Foundation
import Testbed
import Testing
import TimeZones

@testable import GTSDService

/// The rules of days, streaks and plans are functions of a user's days.
@Suite(.timeLimit(.minutes(30))) struct RuleTests {
    // MARK: Days

    static let database = ZoneDatabase(environment: [:])
    static let zones = [
        "UTC", "Europe/Berlin", "Pacific/Auckland", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
        "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns", "Africa/Casablanca",
    ]

    /// Local days equal those of Foundation's calendar over ten years with their leap days and clock changes.
    @Test(arguments: zones)
    func daysAreThoseOfTheCalendar(_ name: String) throws {
        let zone = try #require(Self.database.zone(named: name))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: name))
        var utc = Calendar(identifier: .gregorian)
        utc.timeZone = .gmt
        var random = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            let milliseconds = Int64.random(in: 1_577_836_800_000..<1_893_456_000_000, using: &random)
            let local = LocalTime(milliseconds: milliseconds, in: zone)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .weekday], from: date)
            let midnight = utc.date(
                from: DateComponents(year: parts.year, month: parts.month, day: parts.day))
            #expect(Double(local.day.daysSince1970) * 86_400 == midnight?.timeIntervalSince1970)
            #expect(Int(local.minute) == (parts.hour ?? 0) * 60 + (parts.minute ?? 0))
            // Foundation counts weekdays from Sunday as 1.
            #expect(Week.weekday(of: local.day) == ((parts.weekday ?? 0) + 5) % 7)
        }
    }

    /// In each time zone, a walk hour by hour meets every day once, however long the days are.
    @Test(arguments: zones)
    func noDayIsSkippedOrRepeated(_ name: String) throws {
        let zone = try #require(Self.database.zone(named: name))
        var last: Day?
        for hour in 0..<24 * 800 {
            let day = LocalTime(milliseconds: 1_700_000_000_000 + Int64(hour) * 3_600_000, in: zone).day
            if let last { #expect(day == last || day == last.advanced(by: 1)) }
            last = day
        }
    }

    @Test func weeksBeginOnMonday() {
        for day in Day(daysSince1970: -1000)...Day(daysSince1970: 25_000) {
            let start = Week.start(of: day)
            #expect(start <= day && day < start.advanced(by: 7))
            #expect(Week.weekday(of: start) == 0)
        }
        #expect(LocalTime(milliseconds: -1, in: .utc) == LocalTime(milliseconds: -60_000, in: .utc))
        #expect(LocalTime(milliseconds: -1, in: .utc).day == day("1969-12-31"))
    }

    /// This is decisions §8, example 4.
    @Test func theZoneDecides() throws {
        let auckland = try #require(Self.database.zone(named: "Pacific/Auckland"))
        let instant = time("2025-10-26T11:30:00Z").milliseconds
        #expect(LocalTime(milliseconds: instant, in: auckland).day == day("2025-10-27"))
        #expect(LocalTime(milliseconds: instant, in: auckland).minute == 30)
        #expect(LocalTime(milliseconds: instant, in: .utc).day == day("2025-10-26"))
        #expect(Week.start(of: day("2025-10-26")) == day("2025-10-20"))
    }

    // MARK: Streaks

    /// The result equals a literal implementation of the definition.
    @Test func streaksAreTheirDefinition() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<3000 {
            let today = Day(daysSince1970: .random(in: 20_000..<20_100, using: &random))
            let density = Double.random(in: 0...1, using: &random)
            let first = today.advanced(by: -Int.random(in: 0...60, using: &random))
            let days = (first...today).filter { _ in Double.random(in: 0...1, using: &random) < density }
            let streak = Streak(of: days, today: today)
            let all = Set(days)
            func run(endingOn day: Day) -> Int { all.contains(day) ? 1 + run(endingOn: day.advanced(by: -1)) : 0 }
            let yesterday = today.advanced(by: -1)
            #expect(streak.total == days.count)
            #expect(streak.longest == days.map(run(endingOn:)).max() ?? 0)
            #expect(streak.current == (run(endingOn: today) > 0 ? run(endingOn: today) : run(endingOn: yesterday)))
            #expect(streak.last == days.last)
            #expect(streak.current <= streak.longest && streak.longest <= streak.total)
        }
    }

    /// A further day makes a streak longer by one, or begins it again.
    @Test func aCreditAddsOneOrBegins() {
        var random = SeededGenerator(seed: 3)
        var days: [Day] = []
        var today = Day(daysSince1970: 20_000)
        for _ in 0..<2000 {
            today = today.advanced(by: Int.random(in: 1...3, using: &random))
            let before = Streak(of: days, today: today)
            days.append(today)
            let after = Streak(of: days, today: today)
            #expect(after.current == before.current + 1)
            #expect(after.total == before.total + 1)
            #expect(after.longest == max(before.longest, after.current))
        }
    }

    /// These are decisions §8, examples 3 and 5.
    @Test func workedExamples() {
        let (monday, thursday) = (day("2025-10-27"), day("2025-10-30"))
        let two = [monday, day("2025-10-28")]
        #expect(Streak(of: two, today: day("2025-10-29")).current == 2)
        #expect(Streak(of: two, today: thursday).current == 0)
        #expect(Streak(of: two, today: thursday).longest == 2)
        let back = Streak(of: two + [thursday], today: thursday)
        #expect((back.current, back.longest, back.total) == (1, 2, 3))
    }

    @Test func complianceIsFourOfFive() {
        let least = [0: nil, 1: 1, 2: 2, 3: 3, 4: 4, 5: 4, 6: 5, 7: 6, 10: 8] as [Int: Int?]
        for (total, needed) in least {
            for completed in 0...total {
                let holds = Compliance.holds(completed: completed, of: total)
                #expect(holds == (needed.map { completed >= $0 } ?? false), "\(completed) of \(total)")
            }
        }
    }

    // MARK: Badges for days

    @Test func runsAreWithoutAGap() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<1000 {
            let today = Day(daysSince1970: .random(in: 20_000..<20_100, using: &random))
            let gap = Int.random(in: 0..<20, using: &random)
            let days = Set((0..<30).map { today.advanced(by: -$0) }).subtracting([today.advanced(by: -gap)])
            #expect(Runs.ends(today, in: days, length: 7, step: 1) == (gap >= 7))
            #expect(Runs.ends(today, in: days, length: 14, step: 1) == (gap >= 14))
        }
    }

    @Test func strengthGoesFromSessionToSession() {
        let monday = day("2025-10-27")
        let sessions = (0..<10).flatMap { week in [0, 2, 4].map { monday.advanced(by: week * 7 + $0) } }
        #expect(Runs.strength(in: Set(sessions.prefix(21)), length: 21))
        #expect(!Runs.strength(in: Set(sessions.prefix(20)), length: 21))
        for missing in 1..<20 {
            #expect(!Runs.strength(in: Set(sessions.prefix(21)).subtracting([sessions[missing]]), length: 21))
        }
        // The count is the same from any session on.
        for start in 0..<9 { #expect(Runs.strength(in: Set(sessions[start..<start + 21]), length: 21)) }
    }

    // MARK: Plans

    @Test func targetsOfWorkedExamples() {
        func numbers(
            _ kilograms: Double, _ centimetres: Double, _ age: Int64, _ gender: String, _ activity: String,
            _ goal: String
        ) -> [Int64] {
            let plan = PlanFormula(
                .init(
                    kilograms: kilograms, targetKilograms: nil, centimetres: centimetres, age: age, gender: gender,
                    activity: activity, goal: goal))
            return [
                plan.bmr, plan.tdee, plan.targetCalories, plan.proteinGrams, plan.carbGrams, plan.fatGrams, plan.water,
            ]
        }
        #expect(
            numbers(80, 180, 30, "male", "moderately_active", "lose_weight") == [1780, 2759, 2259, 176, 220, 75, 2800])
        #expect(numbers(70, 160, 50, "female", "sedentary", "lose_weight") == [1289, 1547, 1047, 154, 29, 35, 2500])
        #expect(numbers(300, 150, 80, "female", "sedentary", "lose_weight") == [3377, 4052, 3552, 660, 0, 101, 10_500])
        // 5 feet 7 inches: 700.8 + 1063.625 − 150 + 5 = 1619.425. With 170.2 cm it would be 1619.55.
        #expect(numbers(70.08, 170.18, 30, "male", "sedentary", "maintain")[0] == 1619)
        // The values are 1401.504, 1401.496, and a half, which is rounded up. No intermediate result is rounded.
        #expect(numbers(70.0004, 162, 30, "female", "sedentary", "maintain")[0] == 1402)
        #expect(numbers(69.9996, 162, 30, "female", "sedentary", "maintain")[0] == 1401)
        #expect(numbers(70, 162, 30, "female", "sedentary", "maintain")[0] == 1402)
        #expect(numbers(62, 160, 30, "male", "sedentary", "maintain")[6] == 2200)
        #expect(numbers(73, 160, 30, "male", "sedentary", "maintain")[6] == 2600)
    }

    /// The BMR is 1500, and a half is rounded up.
    @Test(arguments: [
        ("sedentary", 1800), ("lightly_active", 2063), ("moderately_active", 2325), ("very_active", 2588),
        ("extremely_active", 2850),
    ])
    func activityOfABody(_ activity: String, _ tdee: Int64) {
        // 10 · 75 + 6.25 · 144 − 5 · 31 + 5
        let plan = PlanFormula(
            .init(
                kilograms: 75, targetKilograms: nil, centimetres: 144, age: 31, gender: "male", activity: activity,
                goal: "maintain"))
        #expect(plan.bmr == 1500)
        #expect(plan.tdee == tdee)
    }

    /// For all input that onboarding accepts, the plan's numbers are plausible.
    @Test func everyPlanAddsUp() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            let body = PlanFormula.Body(
                kilograms: Double.random(in: 30...300, using: &random),
                targetKilograms: Bool.random(using: &random) ? Double.random(in: 30...300, using: &random) : nil,
                centimetres: Double.random(in: 100...250, using: &random),
                age: Int64.random(in: 13...120, using: &random),
                gender: ["male", "female", "other"].randomElement(using: &random) ?? "",
                activity: ["sedentary", "lightly_active", "very_active"].randomElement(using: &random) ?? "",
                goal: ["lose_weight", "gain_muscle", "maintain", "improve_health"].randomElement(using: &random) ?? "")
            let plan = PlanFormula(body)
            #expect(plan.targetCalories >= 0 && plan.carbGrams >= 0 && plan.fatGrams >= 0 && plan.proteinGrams > 0)
            #expect(plan.water % 100 == 0)
            let energy = 4 * plan.proteinGrams + 4 * plan.carbGrams + 9 * plan.fatGrams
            if plan.carbGrams > 0 { #expect(abs(energy - plan.targetCalories) <= 2) }
            let isTimed = body.targetKilograms != nil && ["lose_weight", "gain_muscle"].contains(body.goal)
            #expect((plan.weeks != nil) == isTimed || body.targetKilograms == body.kilograms)
            #expect(PlanText(plan, goal: body.goal).sections.count == 6)
        }
    }

    @Test func timelines() {
        func weeks(_ from: Double, _ to: Double?, _ goal: String) -> Int64? {
            PlanFormula(
                .init(
                    kilograms: from, targetKilograms: to, centimetres: 180, age: 30, gender: "male",
                    activity: "sedentary", goal: goal)
            ).weeks
        }
        #expect(weeks(80, 75, "lose_weight") == 10)
        #expect(weeks(80, 74.9, "lose_weight") == 11)
        #expect(weeks(70, 74, "gain_muscle") == 10)
        #expect(weeks(80, 75, "maintain") == nil)
        #expect(weeks(80, nil, "lose_weight") == nil)
    }
}
