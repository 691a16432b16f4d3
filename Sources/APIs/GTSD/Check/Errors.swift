@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

/// Scenarios of rules for every request: the order of checks, the envelope, ids, bodies and fields.
extension GTSDScenarios {
    private static let rules = RequestRules<GTSDWorld>(
        unknownPaths: ["/v2/tasks/today"], noCredentials: "Authentication required",
        badCredentials: { world in
            let anna = try await world.person()
            return [
                "Authentication required": ["", "Basic YTpi", anna.token],
                "Invalid or expired token": [
                    "Bearer", "Bearer x", "bearer \(anna.token)x", "Bearer \(anna.refreshToken)",
                ],
            ]
        },
        empty: .init("/v1/evidence") { try $0.invalid("taskId: Required, type: Required, data: Required", $1) },
        whole: .init("/v1/evidence", #"{"type":"text_log"}"#) { try $0.invalid("taskId: Required, data: Required", $1) }
    )

    static let errors: [Scenario<GTSDWorld>] = [
        rules.unknownPaths(clause: "Error responses"),
        rules.otherMethods("Another method is 405 with Allow, before credentials", clause: "Error responses"),
        rules.credentials(clause: "Unauthorized", level: .contract),
        Scenario("Every answer names its request: by the client's own id, or a new one", clause: "requestId") {
            world, anna in
            for id in ["a", "550e8400-e29b-41d4-a716-446655440000", String(repeating: "~", count: 128)] {
                let headers: HTTPFields = [.requestID: id]
                let refused = try await world.raw.send(.get, "/auth/me", headers: headers)
                try expect(try refused.json()["error"]?["requestId"], equals: .string(id))
                try expect(refused.headers[.requestID], equals: id)
                let answer = try await anna.raw(.get, "/auth/me", headers: headers)
                try answer.data()
                try expect(answer.headers[.requestID], equals: id)
            }
            for id in [String(repeating: "a", count: 129), "a b", "é"] {
                let answer = try await world.raw.send(.get, "/nothing", headers: [.requestID: id])
                let given = try answer.json()["error"]?["requestId"]?.string ?? ""
                try expect(given != id && UUID(uuidString: given) != nil, "\(id) became \(given)")
            }
        },
        rules.bodies(clause: "Error responses"), rules.plainBodies(clause: "Error responses"),
        Scenario("Every mistake of a request is told, in order", clause: "Validation Error", level: .contract) {
            world in
            let answer = try await world.post("/auth/signup", ["email": "x", "password": "Short1!"])
            try answer.invalid("email: Invalid email format, password: Password must be at least 8 characters")
        },
        Scenario("Wrong types and absent fields are told by name", clause: "§1 validation") { world, anna in
            try await world.post("/auth/signup", ["email": 1, "password": nil, "name": [], "timezone": 5])
                .invalid(
                    "email: Expected string, password: Required, name: Expected string, timezone: Expected string")
            try await world.post("/auth/login", [:]).invalid("email: Required, password: Required")
            try await anna.post("/v1/evidence", ["taskId": "1", "type": 1, "data": 1, "notes": 1])
                .invalid(
                    "taskId: Expected number, type: Expected string, data: Expected object, notes: Expected string")
            try await anna.post("/v1/progress/photo/presign", ["fileName": 1, "contentType": nil, "fileSize": "1"])
                .invalid("fileName: Expected string, contentType: Required, fileSize: Expected number")
            try await anna.post("/v1/plans/generate", ["forceRecompute": "yes"])
                .invalid("forceRecompute: Expected boolean")
            try await anna.post("/v1/streaks/check-compliance", ["date": 20_251_026])
                .invalid("date: Expected string")
        },
        Scenario("A number that is no whole one is refused by its field's own words", clause: "§1 validation") {
            _, anna in
            func refused(_ path: String, _ body: String, _ text: String) async throws {
                try await anna.raw(.post, path, body: body).invalid(text, body)
            }
            let sizes = [
                ("1.5", "Invalid fileSize"), ("10485759.5", "Invalid fileSize"), ("-1.5", "File size must be positive"),
                ("10485760.5", "File size must be less than 10MB"), ("1e30", "File size must be less than 10MB"),
                ("true", "Expected number"), (#""9""#, "Expected number"), ("null", "Required"),
            ]
            for (size, text) in sizes {
                try await refused(
                    "/v1/progress/photo/presign",
                    #"{"fileName":"a.jpg","contentType":"image/jpeg","fileSize":\#(size)}"#, "fileSize: \(text)")
            }
            // A zero fraction is no fraction.
            for size in ["9.0", "9e0"] {
                try await anna.raw(
                    .post, "/v1/progress/photo/presign",
                    body: #"{"fileName":"a.jpg","contentType":"image/jpeg","fileSize":\#(size)}"#
                ).data(200, size)
            }
            for id in ["1.5", "1e30"] {
                try await refused(
                    "/v1/evidence", #"{"taskId":\#(id),"type":"text_log","data":{"text":"a"}}"#,
                    "taskId: Task ID must be a positive integer")
                try await refused(
                    "/v1/progress/photo/confirm",
                    #"{"fileKey":"x","fileSize":1,"contentType":"image/png","taskId":\#(id),"evidenceType":"after","#
                        + #""width":\#(id),"height":0.5}"#,
                    "width: Invalid width, height: Invalid height, taskId: Task ID must be a positive integer")
            }
            try await refused(
                "/v1/onboarding",
                #"{"dateOfBirth":"1990-01-15","gender":"male","primaryGoal":"maintain","currentWeight":80,"#
                    + #""height":180,"activityLevel":"sedentary","mealsPerDay":2.5}"#,
                "mealsPerDay: Invalid mealsPerDay")
        },
        Scenario("U+0000 in a text is a mistake of its field", clause: "§1 JSON bodies") { world, anna in
            let task = try await anna.tasks()[0]
            let nul = #"\u0000"#
            try await anna.raw(
                .post, "/v1/evidence",
                body: #"{"taskId":\#(task.id),"type":"text_log","data":{"text":"a\#(nul)"},"notes":"\#(nul)"}"#
            ).invalid("data: Invalid data, notes: Invalid notes")
            try await world.raw.send(
                .post, "/auth/signup", body: #"{"email":"a@b.c","password":"Secret-1\#(nul)"}"#
            ).invalid("password: Invalid password")
            try await world.raw.send(
                .post, "/auth/signup", body: #"{"email":"a\#(nul)@b.c","password":"secret-1\#(nul)","name":"\#(nul)"}"#
            ).invalid(
                "email: Invalid email format, password: Password must contain at least one uppercase letter, "
                    + "name: Name contains invalid characters")
            try await anna.get("/v1/tasks/today?type=%00&date=%00")
                .invalid("date: Date must be in YYYY-MM-DD format, type: Invalid task type")
        },
        Scenario("Unknown members are passed over", clause: "Unexpected fields", level: .contract) { world in
            let email = world.freshEmail()
            let user = try await world.post(
                "/auth/signup",
                [
                    "email": .string(email), "password": .string(Person.password), "id": "987654321",
                    "emailVerified": true, "x": ["y": 1],
                ]
            ).data(201)["user"]
            try expect(user?["email"], equals: .string(email))
            let isTaken = user?["id"] == "987654321" || user?["emailVerified"] == true
            try expect(!isTaken, "taken from the body: \(user ?? nil)")
        },
        Scenario("Health and readiness are answered to anybody", clause: "§6 /health") { world in
            for path in ["/health", "/ready"] {
                try expect(try await world.raw.send(.get, path).data(), equals: ["status": "ok"])
            }
        },
    ]
}
