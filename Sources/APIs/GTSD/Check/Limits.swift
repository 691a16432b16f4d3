@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    private static let limited: [(path: String, limit: Int, text: String)] = [
        ("/v1/progress/photo/presign", 20, "Too many presign requests, please try again later"),
        ("/v1/progress/photo/confirm", 30, "Too many photo confirmation requests, please try again later"),
        ("/v1/streaks/check-compliance", 20, "Too many requests, please try again later"),
        ("/v1/plans/generate", 20, "Too many requests, please try again later"),
    ]

    static let limits: [Scenario<GTSDWorld>] = [
        Scenario("Each limited operation counts for itself and each person, down to none", clause: "Rate limiting") {
            _, anna, berta in
            for (path, limit, text) in limited {
                var resets: Set<Date> = []
                for count in 1...limit {
                    // These requests are refused for their fields, and count nevertheless.
                    let answer = try await anna.raw(.post, path, body: count % 2 == 0 ? "{" : #"{"date":"x"}"#)
                    try expect(answer.status != 429, "\(path): the \(count)th of \(limit) is too many")
                    try expect(answer.limit?.limit, equals: limit)
                    try expect(answer.limit?.remaining, equals: limit - count)
                    if let reset = answer.limit?.resetsAt { resets.insert(reset) }
                }
                try expect(resets.count == 1, "\(path): the window moves")
                for body in ["{}", "{", String(repeating: " ", count: 2_000_000)] {
                    let answer = try await anna.raw(.post, path, body: body)
                    try answer.refused(429, text, path)
                    try expect(answer.limit?.remaining, equals: 0)
                    let seconds = answer.headers[.retryAfter].flatMap(Int.init) ?? 0
                    try expect(1...60 ~= seconds, "Retry-After is \(seconds)")
                }
                let other = try await berta.post(path)
                try expect(other.limit?.remaining, equals: limit - 1)
            }
        },
        Scenario("Many at once are counted each", clause: "Rate limiting") { _, anna in
            let answers = try await together(40) { _ in try await anna.post("/v1/streaks/check-compliance") }
            try expect(answers.filter { $0.status == 200 }.count, equals: 20)
            try expect(
                answers.filter { $0.status == 200 }.compactMap { $0.limit?.remaining }.sorted(), equals: Array(0..<20))
        },
        Scenario("A stranger is not counted, and other operations say nothing of limits", clause: "Rate limiting") {
            world, anna in
            for (path, _, _) in limited {
                let answer = try await world.raw.send(.post, path, body: "{}")
                try answer.refused(401, "Authentication required")
                try expect(answer.limit == nil, "\(path) tells a stranger")
            }
            for path in ["/v1/streaks/me", "/v1/badges/me", "/v1/tasks/today", "/auth/me"] {
                try expect(try await anna.get(path).limit == nil, "\(path) has a limit")
            }
        },
        Scenario("The SDK tells how much of a limit is left", clause: "§7 rate limits") { _, anna in
            let answer = try await anna.client.answer(GTSD.CheckCompliance())
            try expect(answer.rateLimit?.remaining, equals: 19)
            for _ in 0..<19 { _ = try await anna.client.answer(GTSD.CheckCompliance()) }
            let refusal = try await expectRefusal(429, "Too many requests, please try again later") {
                _ = try await anna.client.answer(GTSD.CheckCompliance())
            }
            try expect(refusal.rateLimit?.remaining, equals: 0)
            try expect(refusal.rateLimit?.resetsAt, equals: answer.rateLimit?.resetsAt)
            try expect(refusal.gtsd?.message, equals: "Too many requests, please try again later")
        },
    ]

    static let idempotency: [Scenario<GTSDWorld>] = [
        Scenario("A repeat under one key gets the first answer again, and does nothing", clause: "§1 Idempotency-Key") {
            world, anna in
            let task = try await anna.tasks()[0]
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            let place = try await anna.put(bytes)
            let onboarding: JSONValue = [
                "dateOfBirth": "1990-01-15", "gender": "male", "primaryGoal": "maintain", "currentWeight": 80,
                "height": 180, "activityLevel": "sedentary",
            ]
            let table: [(String, JSONValue, other: JSONValue, Int)] = [
                (
                    "/v1/evidence", ["taskId": task.id.json, "type": "text_log", "data": ["text": "a"]],
                    ["taskId": task.id.json, "type": "text_log", "data": ["text": "b"]], 201
                ),
                (
                    "/v1/progress/photo/presign", ["fileName": "a.jpg", "contentType": "image/jpeg", "fileSize": 9],
                    ["fileName": "a.jpg", "contentType": "image/jpeg", "fileSize": 8], 200
                ),
                (
                    "/v1/progress/photo/confirm",
                    [
                        "fileKey": .string(place.fileKey), "fileSize": .integer(Int64(bytes.count)),
                        "contentType": "image/jpeg",
                    ],
                    [
                        "fileKey": .string(place.fileKey), "fileSize": .integer(Int64(bytes.count)),
                        "contentType": "image/jpeg", "width": 8,
                    ], 201
                ),
                ("/v1/onboarding", onboarding, .object(["mealsPerDay": 4].merging(onboarding.members) { $1 }), 201),
                ("/v1/plans/generate", ["forceRecompute": true], [:], 201),
            ]
            for (path, body, other, status) in table {
                let request = KeyedRequest(path, status) { usual, key in
                    let answer = try await anna.post(path, usual ? body : other, headers: key)
                    if answer.status == status { try answer.data(status, path) }
                    return answer
                }
                try await world.check(request, repeats: 5, isFirstAlone: true) { Array($0.textWithoutSignatures.utf8) }
                try await world.refuseBadKeys(of: request)
            }
            try expect(try await anna.get("/v1/progress/photos").data()["photos"]?.elements.count, equals: 1)
        },
        Scenario("A sign-up that is repeated gets tokens of its own", clause: "§1 Idempotency-Key") { world in
            let key = world.freshKey()
            let body: JSONValue = ["email": .string(world.freshEmail()), "password": .string(Person.password)]
            let answers = try await together(5) { _ in try await world.post("/auth/signup", body, headers: key) }
            try expect(answers.allSatisfy { $0.status == 201 }, "\(answers.map(\.text))")
            try expect(answers.filter { $0.headers[.idempotentReplayed] == nil }.count, equals: 1)
            let tokens = try answers.map { try $0.json()["data"]?["refreshToken"]?.string ?? "" }
            try expect(Set(tokens).count, equals: 5)
            try expect(Set(try answers.map { try $0.json()["data"]?["user"]?["id"] }).count, equals: 1)
            for token in tokens { try await world.post("/auth/refresh", ["refreshToken": .string(token)]).data() }
            // The stored answer of a deleted account is not returned again.
            let first = try answers[0].json()["data"]
            try await world.raw.send(
                .delete, "/auth/me", token: first?["accessToken"]?.string, body: #"{"password":"\#(Person.password)"}"#
            ).succeeded(200)
            let anew = try await world.post("/auth/signup", body, headers: key).data(201)
            try expect(anew["user"]?["id"] != first?["user"]?["id"], "the account that was deleted")
            try await world.raw.send(.get, "/auth/me", token: anew["accessToken"]?.string).data()
        },
        Scenario("A refused request leaves its key free", clause: "§1 only 2xx are kept") { world, anna in
            let (key, id) = (world.freshKey(), try await anna.tasks()[0].id)
            for (task, status) in [(id.rawValue + 1_000_000, 404), (id.rawValue, 201)] {
                let body: JSONValue = ["taskId": .integer(task), "type": "text_log", "data": ["text": "a"]]
                let answer = try await anna.post("/v1/evidence", body, headers: key)
                try expect(answer.status, equals: status)
            }
        },
    ]
}

extension RawAnswer {
    /// The body without what differs in a repetition: the expiry times and signatures of its URLs.
    fileprivate var textWithoutSignatures: String {
        text.replacing(#/(expires|signature|X-Amz-Date|X-Amz-Signature)=[^&"]*/#) { "\($0.output.1)=" }
    }
}
