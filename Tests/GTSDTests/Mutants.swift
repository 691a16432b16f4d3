import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

extension Mutant {
    private static let signup = "POST /auth/signup"
    private static let login = "POST /auth/login"
    private static let refresh = "POST /auth/refresh"
    private static let me = "GET /auth/me"
    private static let password = "POST /auth/password"
    private static let today = "GET /v1/tasks/today"
    private static let evidence = "POST /v1/evidence"
    private static let complete = "POST /v1/tasks/{taskId}/complete"
    private static let uncomplete = "POST /v1/tasks/{taskId}/uncomplete"
    private static let presign = "POST /v1/progress/photo/presign"
    private static let confirm = "POST /v1/progress/photo/confirm"
    private static let photos = "GET /v1/progress/photos"
    private static let unphoto = "DELETE /v1/progress/photo/{photoId}"
    private static let onboarding = "POST /v1/onboarding"
    private static let plan = "POST /v1/plans/generate"
    private static let streak = "GET /v1/streaks/me"
    private static let check = "POST /v1/streaks/check-compliance"
    private static let history = "GET /v1/streaks/history"
    private static let available = "GET /v1/badges/available"

    /// The mutants that do not follow from the examples: whose data it is, the days' tasks, limits, texts as they are kept.
    static let gtsd: [Mutant] = [
        .init("Error responses", "reads a compressed body", .anyCoding(evidence)),
        .init("Error responses", "takes a key twice", .keysTwice(evidence)),
        .leaking(evidence), .leaking(complete), .leaking(uncomplete), .leaking(unphoto), .leaking("GET /v1/onboarding"),
        .leaking(confirm),
        .init(signup, "keeps capitals in addresses", .body(signup, #""email":"([a-z])"#, #""email":"X$1"#)),
        .init(signup, "takes passwords without a digit", .succeeding(signup, "one number")),
        .init(signup, "takes passwords without a special character", .succeeding(signup, "one special character")),
        .init(signup, "takes unknown zones", .succeeding(signup, "Invalid timezone")),
        .init(signup, "takes longer terms", .succeeding(signup, "acceptedTerms: Must be at most")),
        .init(signup, "makes accounts verified", .body(signup, #""emailVerified":false"#, #""emailVerified":true"#)),
        .init(login, "tells that there is no account", .refusal(login, "Invalid email or password", "No such user")),
        .init(refresh, "takes a refresh token twice") {
            let tokens = KeptAnswer()
            return .exchange(refresh) { request, forward in try await tokens.repeated(request, forward) }
        },
        .init(refresh, "takes each of two tokens that are made from one") {
            let tokens = KeptAnswer()
            return .exchange(refresh) { request, forward in try await tokens.given(request, forward) }
        },
        .init(
            refresh, "gives the same refresh token again",
            .exchange(refresh) { request, forward in
                var response = try await forward(request)
                guard response.status == .ok, case .object(var body) = response.value,
                    case .object(var data)? = body["data"], let old = request.json["refreshToken"]
                else { return response }
                data["refreshToken"] = old
                body["data"] = .object(data)
                response.text = JSONValue.object(body).description
                return response
            }),
        .leaking("DELETE /auth/sessions/{sessionId}"),
        .init(
            "GET /auth/sessions", "ignores the device's name",
            .request(login, #""deviceName":"[^"]*""#, #""deviceName":" ""#)),
        .init("GET /auth/sessions", "ignores the program", .headerless(login, .userAgent)),
        .init(password, "has no key", .headerless(password, .idempotencyKey)),
        .init(password, "takes a weak one", .succeeding(password, "Password must")),
        .init(password, "lets passwords be tried", .tooMany(password, 403, "Invalid password")),
        .init(password, "does not say when to come back", .header(password, .retryAfter, nil)),
        .init(password, "keeps the other sessions", .succeeding(refresh, "Invalid or expired refresh token")),
        .init(today, "never says that it is cached", .body(today, #""cached":true"#, #""cached":false"#)),
        .init(today, "always says that it is cached", .body(today, #""cached":false"#, #""cached":true"#)),
        .init(today, "counts the page", .body(today, #""totalTasks":\d+"#, #""totalTasks":2"#)),
        .init(today, "never has a photo day", .body(today, "Weekly Progress Photo", "Progress Photo")),
        .init(
            today, "has the same session each day", .body(today, "Strength: (Upper|Full) Body", "Strength: Lower Body")),
        .init(today, "has another amount of water", .body(today, "2000 ml", "2500 ml")),
        .init(today, "has the plan's water rounded otherwise", .body(today, #"Drink (\d+)00 ml"#, "Drink $150 ml")),
        .init(today, "does not name the plan's protein", .body(today, #"Eat at least \d+ g"#, "Eat at least 99 g")),
        .init(evidence, "keeps the spaces around notes", .body(evidence, #""notes":"([^" ])"#, #""notes":" $1"#)),
        .init(evidence, "keeps blank notes", .body(evidence, #""notes":null"#, #""notes":"""#)),
        .init(evidence, "keeps members it does not know", .body(evidence, #""data":\{"#, #""data":{"x":1,"#)),
        .init(evidence, "takes any data", .succeeding(evidence, "Evidence data must match the specified type")),
        .init(evidence, "does not complete the task", .body(today, #""completed":true"#, #""completed":false"#)),
        .init(evidence, "moves the time of completion", .body(today, #""completedAt":"20"#, #""completedAt":"19"#)),
        .init(evidence, "counts the streak twice", .body(evidence, #""newStreak":1"#, #""newStreak":2"#)),
        .init(
            evidence, "never counts the streak", .body(evidence, #""streakUpdated":true"#, #""streakUpdated":false"#)),
        .init(
            uncomplete, "takes the evidence away",
            .body(uncomplete, #""evidence":\{.*\}\},"streak"#, #""evidence":null},"streak"#)),
        .init(presign, "keeps the name's folders", .body(presign, #"-([a-zA-Z0-9_-]+\.)"#, "-x$1")),
        .init(presign, "lets URLs live for a day", .body(presign, #""expiresIn":3600"#, #""expiresIn":86400"#)),
        .init(presign, "takes any extension", .succeeding(presign, "Invalid file extension")),
        .init(
            presign, "does not say how much of a limit is left", .header(presign, .init("X-RateLimit-Remaining")!, nil)),
        .init(check, "has no limit", .header(check, .init("X-RateLimit-Limit")!, "1000")),
        .init(check, "does not say when to come back", .header(check, .retryAfter, nil)),
        .init(plan, "does not say when the window ends", .header(plan, .init("X-RateLimit-Reset")!, "0")),
        .init(confirm, "confirms a file of another size", .succeeding(confirm, "File size mismatch")),
        .init(confirm, "confirms a file of another type", .succeeding(confirm, "Content type mismatch")),
        .init(confirm, "confirms the files of others", .succeeding(confirm, "does not belong to authenticated user")),
        .init(confirm, "answers a repeat with 201", .status(confirm, 200, 201)),
        .init(
            photos, "has the oldest first",
            .answer(photos) { text in
                guard case .object(var body)? = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)),
                    case .object(var data)? = body["data"], case .list(let rows)? = data["photos"], rows.count > 1
                else { return text }
                data["photos"] = .list(rows.reversed())
                body["data"] = .object(data)
                return JSONValue.object(body).description
            }),
        .init(onboarding, "answers a replacement with 201", .status(onboarding, 200, 201)),
        .init(onboarding, "takes children", .succeeding(onboarding, "dateOfBirth")),
        .init(plan, "makes a new plan each time", .status(plan, 200, 201)),
        .init(plan, "eats more", .body(plan, #""targetCalories":(\d)"#, #""targetCalories":1$1"#)),
        .init(plan, "plans without an onboarding", .succeeding(plan, "Please complete onboarding")),
        .init(
            streak, "has null before the first day",
            .body(streak, #""lastCompliantDate":"""#, #""lastCompliantDate":"2025-01-01""#)),
        .init(
            history, "leaves out empty days",
            .answer(history) { text in
                text.replacingOccurrences(
                    of: #"\{[^{}]*"totalTasks":0[^{}]*\},?"#, with: "", options: .regularExpression
                ).replacingOccurrences(of: ",]", with: "]")
            }),
        .init(available, "has other badges", .body(available, "cardio_king", "first_day")),
        .init(me, "has an id of its own for each answer", .header(me, .init("X-Request-Id")!, "x")),
    ]
}

extension Defect {
    /// Keeps a header of an operation's requests from the server.
    fileprivate static func headerless(_ operation: String, _ field: HTTPField.Name) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            request.headers[field] = nil
            return try await forward(request)
        }
    }

    /// Answers a request that came too often as a wrong one.
    fileprivate static func tooMany(_ operation: String, _ status: Int, _ text: String) -> Defect {
        exchange(operation) { request, forward in
            let response = try await forward(request)
            return response.status == .tooManyRequests
                ? .json(status, #"{"error":{"message":"\#(text)","requestId":"x"}}"#) : response
        }
    }

    /// Replaces a refusal, known by a part of its text, by a status of success.
    fileprivate static func succeeding(_ operation: String, _ part: String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.status.code >= 400, response.text.contains(part) { response.status = .ok }
            return response
        }
    }
}

/// Answers a token that was used before as it did the first time.
private actor KeptAnswer {
    private var answers: [JSONValue: TransportResponse] = [:]

    func repeated(_ request: TransportRequest, _ forward: Defect.Forward) async throws -> TransportResponse {
        let response = try await forward(request)
        let token = request.json["refreshToken"] ?? .null
        if response.status == .ok { answers[token] = response }
        return response.status == .unauthorized ? answers[token] ?? response : response
    }

    /// Answers a token that was given and not used since, also where the server refuses it.
    func given(_ request: TransportRequest, _ forward: Defect.Forward) async throws -> TransportResponse {
        let response = try await forward(request)
        if response.status == .ok, case .object(let body) = response.value, case .object(let data)? = body["data"] {
            if let token = request.json["refreshToken"] { answers[token] = nil }
            if let token = data["refreshToken"] { answers[token] = response }
        }
        let kept = request.json["refreshToken"].flatMap { answers[$0] }
        return response.status == .unauthorized ? kept ?? response : response
    }
}
