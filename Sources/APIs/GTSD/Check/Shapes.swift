import ContractCheck

/// The names and types on the wire, as the contract's examples show them. They are written by hand and not taken from
/// the SDK's types, which might contain the same mistake.
enum GTSDShapes {
    static let all = WireShapes(
        operations: operations,
        failure: .object(["error": .object(["message": .text, "requestId": .text])]), frames: [:])

    private static let bool = Shape.oneOf([true, false])

    private static func success(_ data: Shape) -> Shape { .object(["success": yes, "data": data]) }
    private static func said(_ message: String) -> Shape {
        .object(["success": yes, "message": .exactly(.string(message))])
    }
    private static let yes = Shape.exactly(true)

    private static let user = Shape.object(
        ["id": .text, "email": .text, "createdAt": .milliseconds, "updatedAt": .milliseconds],
        additions: [
            "name": .nullable(.text), "emailVerified": bool, "hasCompletedOnboarding": bool, "timezone": .text,
        ])
    private static let signedIn = success(.object(["user": user, "accessToken": .text, "refreshToken": .text]))
    private static let types: Shape = .oneOf(["cardio", "strength", "nutrition", "photos"])
    private static let evidenceTypes: Shape = .oneOf(["text_log", "metrics", "photo_reference"])
    private static let stages: Shape = .nullable(.oneOf(["before", "during", "after"]))
    private static let task = Shape.object([
        "id": .id, "type": types, "title": .text, "description": .text, "dueDate": .day, "completed": bool,
        "completedAt": .nullable(.milliseconds),
        "evidence": .nullable(
            .object(["id": .id, "type": evidenceTypes, "data": .anything, "notes": .nullable(.text)])),
    ])
    private static let streak: [String: Shape] = [
        "id": .text, "userId": .text, "currentStreak": .integer, "longestStreak": .integer,
        "totalCompliantDays": .integer, "lastCompliantDate": .anyOf([.exactly(""), .day]),
        "createdAt": .milliseconds, "updatedAt": .milliseconds,
    ]
    private static let badge: [String: Shape] = [
        "id": .text, "badgeType": .text, "awardedAt": .milliseconds,
    ]
    private static let badgeRest: [String: Shape] = ["userId": .text, "metadata": .exactly([:])]
    private static let changed = success(.object(["task": task, "streakUpdated": bool, "newStreak": .integer]))
    private static let profile = success(
        .object([
            "profile": .object([
                "dateOfBirth": .day, "gender": .oneOf(["male", "female", "other"]), "primaryGoal": .text,
                "currentWeight": .anything, "targetWeight": .anything, "height": .anything, "activityLevel": .text,
                "targetDate": .nullable(.day), "timezone": .text, "dietaryPreferences": .list(of: .text),
                "allergies": .list(of: .text), "mealsPerDay": .integer, "hasCompletedOnboarding": yes,
            ])
        ]))
    private static let plan = success(
        .object([
            "plan": .object([
                "id": .text, "userId": .text, "weekStartDate": .day, "weekEndDate": .day,
                "targets": .object([
                    "bmr": .integer, "tdee": .integer, "targetCalories": .integer, "proteinGrams": .integer,
                    "carbGrams": .integer, "fatGrams": .integer,
                ]),
                "educationalContent": .object([
                    "title": "Why This Plan Works",
                    "sections": .list(of: .object(["heading": .text, "content": .text])),
                ]),
                "createdAt": .milliseconds,
            ]),
            "recomputed": bool,
        ]))
    private static let confirmed = success(.object(["photoId": .id, "downloadUrl": .text]))

    private static let operations: [WireShapes.Operation] = [
        .init("POST", "/auth/signup", [201: signedIn]),
        .init("POST", "/auth/login", [200: signedIn]),
        .init("POST", "/auth/refresh", [200: success(.object(["accessToken": .text, "refreshToken": .text]))]),
        .init("POST", "/auth/logout", [200: said("Logged out successfully")]),
        .init("GET", "/auth/me", [200: success(user)]),
        .init("DELETE", "/auth/me", [200: said("Account deleted successfully")]),
        .init(
            "GET", "/v1/tasks/today",
            [
                200: .object([
                    "success": yes,
                    "data": .object([
                        "totalTasks": .integer, "completedTasks": .integer, "tasks": .list(of: task),
                    ]), "cached": bool,
                ])
            ]),
        .init(
            "POST", "/v1/evidence",
            [
                201: success(
                    .object([
                        "evidence": .object([
                            "id": .id, "taskId": .id, "type": evidenceTypes, "data": .anything,
                            "notes": .nullable(.text), "createdAt": .milliseconds,
                        ]), "streakUpdated": bool, "newStreak": .integer,
                    ]))
            ]),
        .init("POST", "/v1/tasks/{id}/complete", [200: changed]),
        .init("POST", "/v1/tasks/{id}/uncomplete", [200: changed]),
        .init(
            "POST", "/v1/progress/photo/presign",
            [200: success(.object(["uploadUrl": .text, "fileKey": .text, "expiresIn": 3600]))]),
        .init("POST", "/v1/progress/photo/confirm", [201: confirmed, 200: confirmed]),
        .init(
            "GET", "/v1/progress/photos",
            [
                200: success(
                    .object([
                        "photos": .list(
                            of: .object([
                                "id": .id, "fileKey": .text, "fileSize": .integer, "mimeType": .text,
                                "width": .nullable(.integer), "height": .nullable(.integer),
                                "takenAt": .nullable(.milliseconds), "uploadedAt": .milliseconds,
                                "createdAt": .milliseconds, "downloadUrl": .text, "evidenceType": stages,
                            ])),
                        "pagination": .object(["limit": .integer, "offset": .integer, "total": .integer]),
                    ]))
            ]),
        .init("DELETE", "/v1/progress/photo/{id}", [200: said("Photo deleted successfully")]),
        .init(
            "GET", "/v1/streaks/me",
            [
                200: success(
                    .object([
                        "streak": .object(streak),
                        "todayCompliance": .nullable(
                            .object([
                                "date": .day, "isCompliant": bool, "tasksCompleted": .integer, "tasksTotal": .integer,
                            ])), "canIncrementToday": bool,
                    ]))
            ]),
        .init(
            "GET", "/v1/badges/me",
            [
                200: success(
                    .object([
                        "badges": .list(of: .object(badge.merging(badgeRest) { $1 })), "totalBadges": .integer,
                        "totalAvailable": 16, "completionPercentage": .integer,
                    ]))
            ]),
        .init(
            "POST", "/v1/streaks/check-compliance",
            [
                200: success(
                    .object([
                        "isCompliant": bool,
                        "streakData": .object(
                            streak.filter {
                                ["currentStreak", "longestStreak", "totalCompliantDays"].contains($0.key)
                            },
                            additions: streak.filter {
                                !["currentStreak", "longestStreak", "totalCompliantDays"].contains($0.key)
                            }), "newlyAwardedBadges": .list(of: .object(badge, additions: badgeRest)),
                    ]))
            ]),
        .init(
            "GET", "/v1/streaks/history",
            [
                200: success(
                    .object([
                        "days": .list(
                            of: .object([
                                "date": .day, "totalTasks": .integer, "completedTasks": .integer, "isCompliant": bool,
                                "credited": bool,
                            ]))
                    ]))
            ]),
        .init(
            "GET", "/v1/badges/available",
            [
                200: success(
                    .object([
                        "badges": .list(
                            of: .object([
                                "badgeType": .text, "name": .text, "description": .text, "earned": bool,
                                "awardedAt": .nullable(.milliseconds),
                            ]))
                    ]))
            ]),
        .init("POST", "/v1/plans/generate", [201: plan, 200: plan]),
        .init("POST", "/v1/onboarding", [201: profile, 200: profile]),
        .init("GET", "/v1/onboarding", [200: profile]),
    ]
}
