@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

/// Operations that show the same thing show the same values.
extension GTSDScenarios {
    static let agreement: [Scenario<GTSDWorld>] = [
        Scenario("Signing in shows the account as GET /auth/me does", clause: "POST /auth/login") { world in
            let email = world.freshEmail()
            let body: JSONValue = [
                "email": .string(email), "password": .string(Person.password), "name": "Anna",
                "timezone": "Europe/Berlin",
            ]
            let made = try await world.post("/auth/signup", body).data(201)
            let login: JSONValue = ["email": .string(email), "password": .string(Person.password)]
            let data = try await world.post("/auth/login", login).data()
            let token = data["accessToken"]?.string
            let me = try await world.raw.send(.get, "/auth/me", token: token).data()
            try expect(data["user"], equals: me)
            try expect(made["user"], equals: me)
            try expect(me["name"], equals: "Anna")
            let renewed = try await world.post("/auth/refresh", ["refreshToken": data["refreshToken"] ?? nil]).data()
            try await world.raw.send(.get, "/auth/me", token: renewed["accessToken"]?.string).data()
            try await world.post("/auth/logout", ["refreshToken": renewed["refreshToken"] ?? nil]).succeeded(200)
            try await world.raw.send(.get, "/auth/me", token: token).refused(401, "Invalid or expired token")
        },
        Scenario("A changed task is shown as the day's tasks show it", clause: "§6 complete") { _, anna in
            func listed(_ task: GTSD.Task) async throws -> JSONValue? {
                let tasks = try await anna.get("/v1/tasks/today").data()["tasks"]?.elements ?? []
                return tasks.first { $0["id"] == task.id.json }
            }
            let tasks = try await anna.tasks()
            for verb in ["complete", "uncomplete"] {
                let answer = try await anna.post("/v1/tasks/\(tasks[0].id)/\(verb)").data()
                try expect(answer["task"], equals: try await listed(tasks[0]))
                try expect(answer["streakUpdated"], equals: false)
                try expect(answer["newStreak"], equals: 0)
            }
            let sent = try await anna.post(
                "/v1/evidence",
                [
                    "taskId": tasks[1].id.json, "type": "metrics", "data": ["metrics": ["km": 5]], "notes": "windy",
                ]
            ).data(201)["evidence"]
            try expect(sent?["type"], equals: "metrics")
            let shown = try await listed(tasks[1])
            for member in ["id", "type", "data", "notes"] {
                try expect(shown?["evidence"]?[member], equals: sent?[member])
            }
            for verb in ["uncomplete", "complete"] {
                let answer = try await anna.post("/v1/tasks/\(tasks[1].id)/\(verb)").data()
                try expect(answer["task"], equals: try await listed(tasks[1]))
            }
            try await anna.post(
                "/v1/evidence", ["taskId": 999_999_999, "type": "text_log", "data": ["text": "a"]]
            ).refused(404, "Task 999999999 not found or does not belong to user")
        },
        Scenario("Streak, badges and history agree", clause: "POST /v1/streaks/check-compliance") { _, anna in
            func history() async throws -> JSONValue? {
                try await anna.get("/v1/streaks/history").data()["days"]?.elements.last
            }
            let none = try await anna.get("/v1/badges/available").data()["badges"]?.elements ?? []
            try expect(none.allSatisfy { $0["earned"] == false }, "a badge was earned already")
            let before = try await history()
            try expect(before?["completedTasks"], equals: 0)
            let tasks = try await anna.tasks()
            // Ten metrics earn a badge, and the day another one.
            for _ in 0..<10 {
                let _: GTSD.SubmittedEvidence = try await anna.send(
                    GTSD.SubmitEvidence(taskId: tasks[0].id, type: .metrics, data: .init(metrics: ["kg": 80])))
            }
            for task in tasks { try await anna.prove(task) }
            let check = try await anna.post("/v1/streaks/check-compliance").data()
            let status = try await anna.get("/v1/streaks/me").data()
            try expect(check["streakData"], equals: status["streak"])
            try expect(status["streak"]?["userId"], equals: anna.id.json)
            try expect(status["streak"]?["longestStreak"], equals: 1)
            let day = JSONValue.string(try tasks[0].dueDate.description)
            try expect(status["todayCompliance"]?["date"], equals: day)
            let count = JSONValue.integer(Int64(tasks.count))
            try expect(
                try await history(),
                equals: [
                    "date": day, "totalTasks": count, "completedTasks": count, "isCompliant": true, "credited": true,
                ])
            let announced = check["newlyAwardedBadges"]?.elements ?? []
            try expect(
                try await anna.post("/v1/streaks/check-compliance").data()["newlyAwardedBadges"], equals: [])
            let badges = try await anna.get("/v1/badges/me").data()["badges"]?.elements ?? []
            try expect(badges.count > 1, "no second badge")
            try expect(Set(announced), equals: Set(badges))
            let times = badges.map { $0["awardedAt"]?.string ?? "" }
            try expect(times, equals: times.sorted(by: >))
            let ids = badges.compactMap { $0["id"]?.string.flatMap { Int64($0) } }
            try expect(zip(ids, ids.dropFirst()).allSatisfy { $0 > $1 }, "the newest badge is not the first")
            try expect(badges.allSatisfy { $0["userId"] == anna.id.json }, "another user's badge")
            let available = try await anna.get("/v1/badges/available").data()["badges"]?.elements ?? []
            for badge in badges {
                let one = available.first { $0["badgeType"] == badge["badgeType"] }
                try expect(one?["earned"], equals: true)
                try expect(one?["awardedAt"], equals: badge["awardedAt"])
            }
        },
        Scenario("A task takes a hundred entries of evidence", clause: "POST /v1/evidence") { _, anna in
            let task = try await anna.tasks()[0]
            _ = try await together(100, width: 8) { try await anna.prove(task, "\($0)") }
            let body: JSONValue = ["taskId": task.id.json, "type": "text_log", "data": ["text": "a"]]
            try await anna.post("/v1/evidence", body).refused(409, "Too many evidence entries for this task")
        },
        Scenario("A limit's window ends within a minute", clause: "Rate limiting") { _, anna in
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let answer = try await anna.post("/v1/plans/generate")
            let made = try answer.data(201)["plan"]?["createdAt"]?.string.flatMap { GTSD.Timestamp($0) }
            guard let made, let ends = answer.limit?.resetsAt else { throw CheckFailure("no end of the window") }
            // The end is a whole second.
            try expect(-1...61 ~= ends.timeIntervalSince(made.date), "the window ends at \(ends)")
        },
        Scenario("Photos are listed as they were confirmed, page by page", clause: "GET /v1/progress/photos") {
            _, anna in
            var confirmed: [JSONValue] = []
            for width in 1...2 {
                let bytes = SampleImage.jpeg(width: 8, height: 8)
                let place = try await anna.put(bytes)
                let body: JSONValue = [
                    "fileKey": .string(place.fileKey), "fileSize": .integer(Int64(bytes.count)),
                    "contentType": "image/jpeg", "width": .integer(Int64(width)), "height": 7,
                ]
                let id = try await anna.post("/v1/progress/photo/confirm", body).data(201)["photoId"] ?? nil
                confirmed.insert(["id": id, "body": body], at: 0)
            }
            let expected = confirmed
            let photos = try await anna.get("/v1/progress/photos").data()["photos"]?.elements ?? []
            try expect(photos.count, equals: 2)
            for (photo, known) in zip(photos, expected) {
                try expect(photo["id"], equals: known["id"])
                for member in ["fileKey", "fileSize", "width", "height"] {
                    try expect(photo[member], equals: known["body"]?[member])
                }
                try expect(photo["uploadedAt"], equals: photo["createdAt"])
            }
            let first = try await anna.get("/v1/progress/photos?limit=1").data()
            try expect(first["photos"]?.elements.map { $0["id"] }, equals: [expected[0]["id"]])
            let last = try await anna.get("/v1/progress/photos?limit=1&offset=1").data()
            try expect(last["photos"]?.elements.map { $0["id"] }, equals: [expected[1]["id"]])
        },
        Scenario("An onboarding is read as it was sent", clause: "POST /v1/onboarding") { _, anna in
            let today = try await anna.tasks()[0].dueDate
            let body: JSONValue = [
                "dateOfBirth": "1990-01-15", "gender": "male", "primaryGoal": "lose_weight", "currentWeight": 80.5,
                "targetWeight": 75.5, "height": 180, "activityLevel": "sedentary", "mealsPerDay": 4,
                "targetDate": .string(today.advanced(by: 100).description), "dietaryPreferences": ["vegan"],
                "allergies": ["nuts"],
            ]
            let sent = try await anna.post("/v1/onboarding", body).data(201)["profile"]
            for (name, value) in body.members { try expect(sent?[name], equals: value) }
            try expect(try await anna.get("/v1/onboarding").data()["profile"], equals: sent)
        },
    ]
}
