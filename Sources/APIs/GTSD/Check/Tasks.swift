@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    /// Returns 0 for Monday to 6 for Sunday. 1970-01-01 was a Thursday.
    static func weekday(of day: Day) -> Int { Int((day.daysSince1970 + 3) % 7) }

    static let tasks: [Scenario<GTSDWorld>] = [
        Scenario("A day has its tasks, the same each time, by id", clause: "GET /v1/tasks/today", level: .contract) {
            _, anna in
            let first = try await anna.send(GTSD.ListTasks())
            let again = try await anna.send(GTSD.ListTasks())
            try expect(first, equals: again)
            try expect(first.tasks.map(\.id), equals: first.tasks.map(\.id).sorted())
            try expect(first.totalTasks, equals: first.tasks.count)
            try expect(first.completedTasks, equals: 0)
            try expect(Set(first.tasks.map(\.dueDate)).count, equals: 1)
        },
        Scenario("A week's tasks are those of the table", clause: "§3 generator") { _, anna in
            let today = try await anna.tasks()[0].dueDate
            let monday = today.advanced(by: (7 - weekday(of: today)) % 7)
            let daily = [
                "Daily Walk: Walk for 20 minutes at a brisk pace.",
                "Hit Your Protein Target: Have a source of protein with every meal.",
                "Stay on Your Calorie Target: Eat three balanced meals today.",
                "Drink Your Water: Drink 2000 ml of water today.",
            ]
            let photo =
                "Weekly Progress Photo: Take one photo from the front, in the same light as last week."
            // From today on these are seven days, so every weekday is among them.
            for ahead in 0...6 {
                let day = today.advanced(by: ahead)
                let tasks = try await anna.tasks(on: day)
                let weekday = weekday(of: day)
                let titles = [
                    "Strength: Lower Body", "Cardio: Intervals", "Strength: Upper Body", "Cardio: Steady Run",
                    "Strength: Full Body", "Cardio: Long Session", "Cardio: Active Recovery",
                ]
                let isStrength = [0, 2, 4].contains(weekday)
                let session =
                    try titles[weekday]
                    + (isStrength ? ": 45 minutes of strength training." : ": 30 minutes at a pace that suits you.")
                try expect(
                    tasks.map { "\($0.title): \($0.description)" },
                    equals: [session] + daily + (day == monday ? [photo] : []))
                let types: [GTSD.TaskType] = [
                    isStrength ? .strength : .cardio, .cardio, .nutrition, .nutrition, .nutrition,
                ]
                try expect(tasks.map(\.type), equals: types + (day == monday ? [.photos] : []))
                try expect(tasks.allSatisfy { $0.dueDate == day && !$0.completed && $0.evidence == nil }, "\(tasks)")
            }
        },
        Scenario("Days before the sign-up, and more than a week ahead, are empty", clause: "§3 generator") { _, anna in
            let today = try await anna.tasks()[0].dueDate
            let table: [(ahead: Int, counts: ClosedRange<Int>)] = [
                (-1, 0...0), (-366, 0...0), (7, 5...6), (8, 0...0), (400, 0...0),
            ]
            for (ahead, counts) in table {
                let count = try await anna.tasks(on: today.advanced(by: ahead)).count
                try expect(counts ~= count, "\(ahead) days ahead: \(count) tasks")
            }
        },
        Scenario("Filters, pages and counts", clause: "GET /v1/tasks/today", level: .contract) { _, anna in
            let all = try await anna.tasks()
            try await anna.prove(all[2])
            let nutrition = try await anna.get("/v1/tasks/today?type=nutrition").data()
            try expect(nutrition["totalTasks"], equals: 3)
            try expect(nutrition["completedTasks"], equals: 1)
            try expect(
                nutrition["tasks"]?.elements.map { $0["type"] }, equals: ["nutrition", "nutrition", "nutrition"])
            let page = try await anna.get("/v1/tasks/today?limit=2&offset=1").data()
            try expect(page["tasks"]?.elements.map { $0["id"]?.integer }, equals: all[1...2].map(\.id.rawValue))
            try expect(page["totalTasks"]?.integer, equals: Int64(all.count))
            try expect(try await anna.get("/v1/tasks/today?offset=99").data()["tasks"], equals: [])
        },
        Scenario("What cannot be asked for", clause: "§1 GET /v1/tasks/today") { _, anna in
            let format = "date: Date must be in YYYY-MM-DD format"
            let table = [
                ("date=today", format), ("date=2025-1-1", format), ("date=", format),
                ("date=2025-10-26T00:00:00Z", format),
                ("date=2025-02-29", "date: Invalid date provided"), ("date=2025-13-01", "date: Invalid date provided"),
                ("limit=0", "limit: Limit must be between 1 and 100"),
                ("limit=101", "limit: Limit must be between 1 and 100"),
                ("limit=x", "limit: Limit must be between 1 and 100"),
                ("offset=-1", "offset: Offset must be 0 or more"),
                ("offset=1.5", "offset: Offset must be 0 or more"), ("type=sleep", "type: Invalid task type"),
                ("type=Cardio", "type: Invalid task type"),
                (
                    "type=&offset=x&limit=x&date=x",
                    "\(format), limit: Limit must be between 1 and 100, offset: Offset must be 0 or more, "
                        + "type: Invalid task type"
                ),
            ]
            for (query, text) in table { try await anna.get("/v1/tasks/today?\(query)").invalid(text, query) }
        },
        Scenario("An answer says truthfully that it comes from the cache", clause: "Cached responses") {
            _, anna, berta in
            @Sendable func isCached(_ person: Person, _ query: String = "") async throws -> JSONValue? {
                try await person.get("/v1/tasks/today\(query)").succeeded(200)["cached"]
            }
            let task = try await anna.tasks()[0]
            try expect(try await isCached(anna), equals: true)
            try expect(try await isCached(anna, "?limit=1"), equals: false)
            try expect(try await isCached(anna, "?limit=1"), equals: true)
            try expect(try await isCached(berta), equals: false)
            let changes: [@Sendable () async throws -> Void] = [
                { try await anna.prove(task) },
                { let _: GTSD.ChangedTask = try await anna.send(GTSD.UncompleteTask(task.id)) },
                { let _: GTSD.ChangedTask = try await anna.send(GTSD.CompleteTask(task.id)) },
                { let _: GTSD.OnboardingStatus = try await anna.send(Person.body) },
                { let _: GTSD.GeneratedPlan = try await anna.send(GTSD.GeneratePlan()) },
                {
                    let bytes = SampleImage.jpeg(width: 8, height: 8)
                    let place = try await anna.put(bytes)
                    let photo: GTSD.ConfirmedPhoto = try await anna.send(
                        GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: bytes.count, contentType: "image/jpeg"))
                    try expect(try await isCached(anna), equals: false)
                    let _: NoData = try await anna.send(GTSD.DeletePhoto(photo.photoId))
                },
            ]
            for change in changes {
                _ = try await isCached(anna)
                try expect(try await isCached(anna), equals: true)
                try await change()
                let answer = try await anna.get("/v1/tasks/today").succeeded(200)
                try expect(answer["cached"], equals: false)
                try expect(try await isCached(anna), equals: true)
            }
            _ = try await isCached(berta)
            try expect(try await isCached(berta), equals: true)
        },
    ]

    static let evidence: [Scenario<GTSDWorld>] = [
        Scenario("Evidence completes its task", clause: "POST /v1/evidence", level: .contract) { _, anna in
            let task = try await anna.tasks()[1]
            let body: JSONValue = [
                "taskId": task.id.json, "type": "text_log", "data": ["text": "5 km"], "notes": " windy ",
            ]
            let data = try await anna.post("/v1/evidence", body).data(201)
            try expect(data["evidence"]?["taskId"], equals: task.id.json)
            try expect(data["evidence"]?["data"], equals: ["text": "5 km"])
            try expect(data["evidence"]?["notes"], equals: "windy")
            let shown = try await anna.get("/v1/tasks/today").data()["tasks"]?[1]
            try expect(shown?["completed"], equals: true)
            try expect(shown?["evidence"]?["id"], equals: data["evidence"]?["id"])
            try expect(shown?["completedAt"], equals: data["evidence"]?["createdAt"])
        },
        Scenario("The latest of several evidences is shown, and the first completed", clause: "§2 task") { _, anna in
            let task = try await anna.tasks()[1]
            let first = try await anna.prove(task, "one")
            let second = try await anna.prove(task, "two")
            let shown = try await anna.tasks()[1]
            try expect(shown.evidence?.id, equals: second.evidence.id)
            try expect(shown.evidence?.notes, equals: nil)
            try expect(shown.completedAt, equals: first.evidence.createdAt)
        },
        Scenario("Evidence holds what its type names, and nothing else is kept", clause: "§2 evidence") { _, anna in
            let task = try await anna.tasks()[0]
            func send(_ type: String, _ data: JSONValue) async throws -> RawAnswer {
                try await anna.post("/v1/evidence", ["taskId": task.id.json, "type": .string(type), "data": data])
            }
            func many(_ count: Int) -> JSONValue {
                .object(Dictionary((0..<count).map { ("m\($0)", .integer(Int64($0))) }) { first, _ in first })
            }
            let url: JSONValue = "https://example.com/a.jpg"
            let long = String(repeating: "x", count: 2001)
            let good: [(String, JSONValue, kept: JSONValue)] = [
                ("text_log", ["text": " a "], ["text": "a"]),
                ("text_log", ["text": .string(String(long.dropLast()))], ["text": .string(String(long.dropLast()))]),
                (
                    "metrics", ["metrics": ["kg": 82.5, "note": "ok", "n": 3]],
                    ["metrics": ["kg": 82.5, "note": "ok", "n": 3]]
                ),
                ("metrics", ["metrics": many(50)], ["metrics": many(50)]),
                ("photo_reference", ["photoUrl": url], ["photoUrl": url]),
                (
                    "text_log", ["text": "a", "metrics": ["a": 1], "photoUrl": url, "x": 1],
                    ["text": "a", "metrics": ["a": 1], "photoUrl": url]
                ),
                ("text_log", ["text": "a", "metrics": nil], ["text": "a"]),
            ]
            for (type, data, kept) in good {
                let evidence = try await send(type, data).data(201, "\(data)")["evidence"]
                try expect(evidence?["data"] ?? nil, equals: kept)
                try expect(
                    try await anna.get("/v1/tasks/today").data()["tasks"]?[0]?["evidence"]?["data"], equals: kept)
            }
            let bad: [(String, JSONValue)] = [
                ("text_log", [:]), ("text_log", ["text": " "]), ("text_log", ["text": .string(long)]),
                ("text_log", ["text": 5]), ("text_log", ["metrics": ["a": 1]]), ("metrics", ["metrics": [:]]),
                ("metrics", ["metrics": many(51)]), ("metrics", ["metrics": ["": 1]]), ("metrics", ["metrics": [1]]),
                ("metrics", ["metrics": ["a": true]]), ("metrics", ["metrics": ["a": ["b": 1]]]),
                ("metrics", ["metrics": ["a": .string(String(repeating: "x", count: 201))]]),
                ("metrics", ["metrics": [String(repeating: "k", count: 65): 1]]),
                ("metrics", ["metrics": ["\u{200B}": 1]]), ("text_log", ["text": "\u{200B}\u{2800}"]),
                ("photo_reference", ["photoUrl": "ftp://a/b"]), ("photo_reference", ["photoUrl": "a.jpg"]),
                ("photo_reference", ["photoUrl": "https://a/b c"]), ("photo_reference", ["photoUrl": "https://a\n/b"]),
                ("photo_reference", ["photoUrl": "https:///b"]),
                ("photo_reference", ["photoUrl": .string("https://a/" + long + long)]),
                ("text_log", ["text": "a", "photoUrl": "x"]), ("text_log", ["text": "a", "metrics": 5]),
            ]
            for (type, data) in bad {
                try await send(type, data).invalid("data: Evidence data must match the specified type", "\(data)")
            }
            for notes in [" ", "", "\n"] as [JSONValue] {
                let evidence = try await anna.post(
                    "/v1/evidence",
                    ["taskId": task.id.json, "type": "text_log", "data": ["text": "a"], "notes": notes]
                ).data(201)["evidence"]
                try expect(evidence?["notes"], equals: .null)
            }
            try await send("photo", [:]).invalid("type: Invalid evidence type")
            for id in [0, -1] {
                try await anna.post(
                    "/v1/evidence", ["taskId": .integer(Int64(id)), "type": "text_log", "data": ["text": "a"]]
                )
                .invalid("taskId: Task ID must be a positive integer")
            }
            try await anna.post(
                "/v1/evidence",
                [
                    "taskId": task.id.json, "type": "text_log", "data": ["text": "a"],
                    "notes": .string(String(repeating: "n", count: 1001)),
                ]
            ).invalid("notes: Notes must be at most 1000 characters")
        },
        Scenario("Evidence tells when it happened, for two days", clause: "POST /v1/evidence") { _, anna in
            let task = try await anna.tasks()[0]
            let me: GTSD.User = try await anna.send(GTSD.GetMe())
            let now = me.createdAt.milliseconds
            func body(_ time: String) -> JSONValue {
                ["taskId": task.id.json, "type": "text_log", "data": ["text": "a"], "occurredAt": .string(time)]
            }
            func text(_ hours: Int64) -> String { GTSD.Timestamp(milliseconds: now - hours * 3_600_000).description }
            try await anna.post("/v1/evidence", body("yesterday")).invalid("occurredAt: Invalid occurredAt")
            try await anna.post("/v1/evidence", body(text(50))).invalid(
                "occurredAt: Evidence can be at most 48 hours old")
            try await anna.post("/v1/evidence", body(text(-2))).invalid(
                "occurredAt: Evidence cannot be from the future")
            try expect(try await anna.tasks()[0].completed, equals: false)
            let time = text(1)
            let evidence = try await anna.post("/v1/evidence", body(time)).data(201)["evidence"]
            try expect(evidence?["occurredAt"], equals: .string(time))
            try expect(try await anna.get("/v1/tasks/today").data()["tasks"]?[0]?["completedAt"], equals: .string(time))
        },
        Scenario("Completing and uncompleting are the same however often", clause: "§6 complete") { _, anna in
            let task = try await anna.tasks()[0]
            let first: GTSD.ChangedTask = try await anna.send(GTSD.CompleteTask(task.id))
            let again: GTSD.ChangedTask = try await anna.send(GTSD.CompleteTask(task.id))
            try expect(first, equals: again)
            try expect(first.task.completed, equals: true)
            try await anna.prove(task)
            for _ in 0..<2 {
                let undone: GTSD.ChangedTask = try await anna.send(GTSD.UncompleteTask(task.id))
                try expect(!undone.task.completed && undone.task.completedAt == nil, "still completed")
                try expect(undone.task.evidence?.data.text, equals: "Done.")
            }
        },
    ]
}
