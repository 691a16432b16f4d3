@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    static let plans: [Scenario<GTSDWorld>] = [
        Scenario("Without onboarding there is no plan", clause: "POST /v1/plans/generate") { _, anna in
            try await anna.post("/v1/plans/generate")
                .refused(400, "Please complete onboarding before generating a plan")
            try await anna.get("/v1/onboarding").refused(404, "Onboarding has not been completed")
        },
        Scenario("A week has one plan: new, there already, made anew", clause: "POST /v1/plans/generate") { _, anna in
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let first = try await anna.post("/v1/plans/generate").data(201)
            try expect(first["recomputed"], equals: false)
            let again = try await anna.post("/v1/plans/generate", ["forceRecompute": false]).data(200)
            try expect(again, equals: first)
            let forced = try await anna.post("/v1/plans/generate", ["forceRecompute": true]).data(201)
            try expect(forced["recomputed"], equals: true)
            try expect(forced["plan"]?["id"] != first["plan"]?["id"], "the same id")
            try expect(forced["plan"]?["targets"], equals: first["plan"]?["targets"])
            try expect(try await anna.post("/v1/plans/generate").data()["plan"], equals: forced["plan"])
            guard let start = first["plan"]?["weekStartDate"]?.string.flatMap({ Day($0) }),
                let end = first["plan"]?["weekEndDate"]?.string.flatMap({ Day($0) })
            else { throw CheckFailure("no week") }
            try expect(weekday(of: start), equals: 0)
            try expect(end, equals: start.advanced(by: 6))
            let today = try await anna.tasks()[0].dueDate
            try expect(start <= today && today <= end, "another week")
        },
        Scenario("Twenty at once make one plan", clause: "§5 transactions") { _, anna in
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let answers = try await together(20) { _ in try await anna.post("/v1/plans/generate") }
            try expect(answers.filter { $0.status == 201 }.count, equals: 1)
            try expect(Set(try answers.map { try $0.json()["data"]?["plan"]?["id"] }).count, equals: 1)
        },
        Scenario("Targets are those of the worked examples", clause: "§8 worked examples") { _, anna in
            let today = try await anna.tasks()[0].dueDate
            /// Returns the day that many years before today.
            func born(_ age: Int) throws -> Day {
                let text = today.description
                let year = (Int(text.prefix(4)) ?? 0) - age
                return try Day("\(year)\(text.suffix(6))") ?? Day(checked: "\(year)-02-28")
            }
            let table: [(Double, Double, Int, GTSD.Gender, GTSD.ActivityLevel, GTSD.Goal, [Int], water: Int)] = [
                (80, 180, 30, .male, .moderatelyActive, .loseWeight, [1780, 2759, 2259, 176, 220, 75], 2800),
                (80, 180, 30, .male, .moderatelyActive, .gainMuscle, [1780, 2759, 3159, 192, 362, 105], 2800),
                (65, 165, 28, .female, .lightlyActive, .maintain, [1380, 1898, 1898, 117, 216, 63], 2300),
                (70, 160, 50, .female, .sedentary, .loseWeight, [1289, 1547, 1047, 154, 29, 35], 2500),
                (95, 175, 45, .male, .veryActive, .gainMuscle, [1824, 3146, 3546, 228, 393, 118], 3300),
                (
                    75, 170, 35, .init(rawValue: "x"), .extremelyActive, .improveHealth,
                    [1560, 2964, 2964, 135, 383, 99], 2600
                ),
                (300, 150, 80, .female, .sedentary, .loseWeight, [3377, 4052, 3552, 660, 0, 101], 10_500),
            ]
            for (kg, cm, age, gender, activity, goal, numbers, water) in table {
                let _: GTSD.OnboardingStatus = try await anna.send(
                    GTSD.CompleteOnboarding(
                        dateOfBirth: try born(age), gender: gender, primaryGoal: goal, currentWeight: kg, height: cm,
                        activityLevel: activity))
                let plan = try await anna.send(GTSD.GeneratePlan(forceRecompute: true)).plan
                let targets = plan.targets
                try expect(
                    [
                        targets.bmr, targets.tdee, targets.targetCalories, targets.proteinGrams, targets.carbGrams,
                        targets.fatGrams,
                    ], equals: numbers)
                let text = plan.educationalContent.sections.map(\.content)
                try expect(
                    plan.educationalContent.sections.map(\.heading),
                    equals: [
                        "Your Energy Needs", "Your Calorie Target", "Your Protein Target", "Carbohydrates and Fat",
                        "Hydration", "Your Timeline",
                    ])
                try expect(text[0].contains("\(numbers[0])") && text[0].contains("\(numbers[1])"), "\(text)")
                try expect(text[1].contains("\(numbers[2])"), "\(text)")
                try expect(text[1].contains("doctor") == (numbers[2] < 1200), "\(text)")
                try expect(text[2].contains("\(numbers[3])"), "\(text)")
                try expect(text[3].contains("\(numbers[4])") && text[3].contains("\(numbers[5])"), "\(text)")
                try expect(text[4].contains("\(water) ml"), "\(text)")
            }
        },
        Scenario("The plan of a week is in the texts of its tasks", clause: "§3 generator") { _, anna in
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let plan = try await anna.send(GTSD.GeneratePlan()).plan
            try expect(plan.educationalContent.sections[5].content.contains("10 weeks"), "no timeline")
            let texts = try await anna.tasks().map(\.description)
            try expect(
                Array(texts[2...4]),
                equals: [
                    "Eat at least \(plan.targets.proteinGrams) g of protein today.",
                    "Aim for \(plan.targets.targetCalories) kcal today.", "Drink 2800 ml of water today.",
                ])
            // An existing plan does not change.
            var body = Person.body
            body.currentWeight = 100
            let _: GTSD.OnboardingStatus = try await anna.send(body)
            let _: GTSD.GeneratedPlan = try await anna.send(GTSD.GeneratePlan(forceRecompute: true))
            try expect(try await anna.tasks().map(\.description), equals: texts)
        },
        Scenario("Onboarding is kept, and replaced", clause: "§6 onboarding") { _, anna in
            let body: JSONValue = [
                "dateOfBirth": "1990-01-15T23:30:00-05:00", "gender": "non-binary", "primaryGoal": "gain_muscle",
                "currentWeight": 80.5, "height": 180, "activityLevel": "sedentary", "timezone": "Pacific/Auckland",
                "allergies": [" nuts "],
            ]
            let kept: JSONValue = [
                "dateOfBirth": "1990-01-15", "gender": "other", "primaryGoal": "gain_muscle", "currentWeight": 80.5,
                "targetWeight": nil, "height": 180, "activityLevel": "sedentary", "targetDate": nil,
                "timezone": "Pacific/Auckland", "dietaryPreferences": [], "allergies": ["nuts"], "mealsPerDay": 3,
                "hasCompletedOnboarding": true,
            ]
            try expect(try await anna.post("/v1/onboarding", body).data(201)["profile"], equals: kept)
            try expect(try await anna.get("/v1/onboarding").data()["profile"], equals: kept)
            let me = try await anna.get("/auth/me").data()
            try expect(me["hasCompletedOnboarding"], equals: true)
            try expect(me["timezone"], equals: "Pacific/Auckland")
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let again = try await anna.send(GTSD.GetOnboarding()).profile
            try expect(again.gender, equals: .male)
            try expect(again.timezone, equals: "Pacific/Auckland")
            try await anna.post("/v1/onboarding", body).data(200)
        },
        Scenario("What a body cannot be", clause: "§6 onboarding") { world, anna in
            let good: [String: JSONValue] = [
                "dateOfBirth": "1990-01-15", "gender": "male", "primaryGoal": "maintain", "currentWeight": 80,
                "height": 180, "activityLevel": "sedentary",
            ]
            try await anna.post("/v1/onboarding", [:]).invalid(
                good.keys.sorted { order($0) < order($1) }.map { "\($0): Required" }.joined(separator: ", "))
            let bad: [(String, JSONValue)] = [
                ("dateOfBirth", "15.1.1990"), ("dateOfBirth", "1890-01-01"), ("dateOfBirth", "2020-01-01"),
                ("dateOfBirth", "2999-01-01"), ("gender", ""), ("gender", "xxxxxxxxxxxxxxxxxxxxx"),
                ("primaryGoal", "win"), ("currentWeight", 29.9), ("currentWeight", 300.1), ("targetWeight", 0),
                ("height", 99), ("height", 251), ("activityLevel", "lazy"), ("targetDate", "2001-01-01"),
                ("timezone", "Mars/Olympus"), ("allergies", [""]), ("mealsPerDay", 0), ("mealsPerDay", 11),
            ]
            for (name, value) in bad {
                try await anna.post("/v1/onboarding", .object(good.merging([name: value]) { $1 }))
                    .invalid("\(name): Invalid \(name)", "\(name) \(value)")
            }
            try await anna.post("/v1/onboarding", .object(good.merging(["height": "180", "allergies": "nuts"]) { $1 }))
                .invalid("height: Expected number, allergies: Expected array")
            let today = try await anna.tasks()[0].dueDate
            for (ahead, isTaken) in [(0, false), (1, true)] {
                let target = good.merging(["targetDate": .string(today.advanced(by: ahead).description)]) { $1 }
                // This is another user, without a plan.
                let berta = try await world.person()
                let answer = try await berta.post("/v1/onboarding", .object(target))
                if isTaken {
                    try answer.data(201)
                } else {
                    try answer.invalid("targetDate: Invalid targetDate")
                }
            }
            // Mistakes that only the server's calendar can find are reported together, too.
            let days: [String: JSONValue] = ["dateOfBirth": "2999-01-01", "targetDate": "2001-01-01"]
            try await anna.post("/v1/onboarding", .object(good.merging(days) { $1 }))
                .invalid("dateOfBirth: Invalid dateOfBirth, targetDate: Invalid targetDate")
            try await anna.get("/v1/onboarding").refused(404, "Onboarding has not been completed")
        },
    ]

    private static func order(_ name: String) -> Int {
        ["dateOfBirth", "gender", "primaryGoal", "currentWeight", "height", "activityLevel"].firstIndex(of: name) ?? 9
    }
}
