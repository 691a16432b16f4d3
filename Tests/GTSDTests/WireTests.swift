import Contract
import Foundation
import GTSDAPI
import Testbed
import Testing

/// Every request of the contract, from its code blocks.
@Suite(.timeLimit(.minutes(30))) struct GTSDRequestWireTests {
    static let literals: [WireRequest] = [
        WireRequest(
            GTSD.SignUp(email: "anna@example.com", password: "Secret-123"), is: "POST /auth/signup",
            #"{ "email": "anna@example.com", "password": "Secret-123" }"#),
        WireRequest(
            GTSD.LogIn(email: "anna@example.com", password: "Secret-123"), is: "POST /auth/login",
            #"{ "email": "anna@example.com", "password": "Secret-123" }"#),
        WireRequest(GTSD.Refresh(refreshToken: "r"), is: "POST /auth/refresh", #"{ "refreshToken": "r" }"#),
        WireRequest(GTSD.LogOut(refreshToken: "r"), is: "POST /auth/logout", #"{ "refreshToken": "r" }"#),
        WireRequest(GTSD.GetMe(), is: "GET /auth/me"),
        WireRequest(GTSD.ListTasks(), is: "GET /v1/tasks/today"),
        WireRequest(
            GTSD.ListTasks(date: day("2025-10-26"), limit: 50, offset: 0, type: .cardio),
            is: "GET /v1/tasks/today?date=2025-10-26&limit=50&offset=0&type=cardio"),
        WireRequest(
            GTSD.SubmitEvidence(taskId: 123, type: .textLog, data: .init(text: "string"), notes: "string"),
            is: "POST /v1/evidence",
            #"{ "taskId": 123, "type": "text_log", "data": { "text": "string" }, "notes": "string" }"#),
        WireRequest(
            GTSD.SubmitEvidence(taskId: 123, type: .metrics, data: .init(metrics: ["km": 5])),
            is: "POST /v1/evidence", #"{ "taskId": 123, "type": "metrics", "data": { "metrics": { "km": 5 } } }"#),
        WireRequest(
            GTSD.SubmitEvidence(taskId: 123, type: .photoReference, data: .init(photoUrl: "https://a/b")),
            is: "POST /v1/evidence",
            #"{ "taskId": 123, "type": "photo_reference", "data": { "photoUrl": "https://a/b" } }"#),
        WireRequest(
            GTSD.PresignPhoto(fileName: "string.jpg", contentType: "image/jpeg", fileSize: 10_485_760),
            is: "POST /v1/progress/photo/presign",
            #"{ "fileName": "string.jpg", "contentType": "image/jpeg", "fileSize": 10485760 }"#),
        WireRequest(
            GTSD.ConfirmPhoto(
                fileKey: "string", width: 1920, height: 1080, fileSize: 2_048_576, contentType: "image/jpeg",
                takenAt: time("2025-10-26T10:00:00.000Z"), taskId: 123, evidenceType: .before),
            is: "POST /v1/progress/photo/confirm",
            """
            {
              "fileKey": "string",
              "width": 1920,
              "height": 1080,
              "fileSize": 2048576,
              "contentType": "image/jpeg",
              "takenAt": "2025-10-26T10:00:00.000Z",
              "taskId": 123,
              "evidenceType": "before"
            }
            """),
        WireRequest(
            GTSD.ListPhotos(limit: 50, offset: 0, taskId: 123),
            is: "GET /v1/progress/photos?limit=50&offset=0&taskId=123"),
        WireRequest(GTSD.DeletePhoto(789), is: "DELETE /v1/progress/photo/789"),
        WireRequest(GTSD.GetStreak(), is: "GET /v1/streaks/me"),
        WireRequest(GTSD.ListBadges(), is: "GET /v1/badges/me"),
        WireRequest(
            GTSD.CheckCompliance(date: day("2025-10-26")), is: "POST /v1/streaks/check-compliance",
            #"{ "date": "2025-10-26" }"#),
        WireRequest(GTSD.CheckCompliance(), is: "POST /v1/streaks/check-compliance", "{}"),
        WireRequest(
            GTSD.GeneratePlan(forceRecompute: false), is: "POST /v1/plans/generate", #"{ "forceRecompute": false }"#),
        WireRequest(
            GTSD.CompleteOnboarding(
                dateOfBirth: day("1990-01-15"), gender: .male, primaryGoal: .loseWeight, currentWeight: 80,
                targetWeight: 75, height: 180, activityLevel: .moderatelyActive, targetDate: day("2026-06-01"),
                timezone: "Europe/Berlin", dietaryPreferences: [], allergies: ["nuts"], mealsPerDay: 3),
            is: "POST /v1/onboarding",
            """
            {
              "dateOfBirth": "1990-01-15",
              "gender": "male",
              "primaryGoal": "lose_weight",
              "currentWeight": 80,
              "targetWeight": 75,
              "height": 180,
              "activityLevel": "moderately_active",
              "targetDate": "2026-06-01",
              "timezone": "Europe/Berlin",
              "dietaryPreferences": [],
              "allergies": ["nuts"],
              "mealsPerDay": 3
            }
            """),
        WireRequest(GTSD.GetOnboarding(), is: "GET /v1/onboarding"),
        WireRequest(GTSD.CompleteTask(123), is: "POST /v1/tasks/123/complete", "{}"),
        WireRequest(GTSD.UncompleteTask(123), is: "POST /v1/tasks/123/uncomplete", "{}"),
        WireRequest(GTSD.DeleteMe(password: "Secret-123"), is: "DELETE /auth/me", #"{ "password": "Secret-123" }"#),
        WireRequest(
            GTSD.GetHistory(from: day("2025-10-01"), to: day("2025-10-26")),
            is: "GET /v1/streaks/history?from=2025-10-01&to=2025-10-26"),
        WireRequest(GTSD.ListAvailableBadges(), is: "GET /v1/badges/available"),
    ]

    @Test(arguments: literals)
    func travels(_ request: WireRequest) throws {
        try request.encodes()
        try request.decodes()
    }

    @Test func everyOperationHasItsLiteral() {
        let lines = Set(Self.literals.map { String($0.line.prefix { $0 != "?" }).replacing(#/\d{3}/#, with: "{}") })
        #expect(lines == Set(GTSD.endpoints.map { $0.signature.replacing(#/{\w+}/#, with: "{}") }))
    }
}

/// Every answer of the contract, from its code blocks.
@Suite(.timeLimit(.minutes(30))) struct GTSDAnswerWireTests {
    private static let created = time("2025-10-26T10:00:00.000Z")
    private static let user = GTSD.User(
        id: "12", email: "anna@example.com", createdAt: created, updatedAt: created)
    private static let userLiteral = """
        {
          "id": "12",
          "email": "anna@example.com",
          "createdAt": "2025-10-26T10:00:00.000Z",
          "updatedAt": "2025-10-26T10:00:00.000Z"
        }
        """
    private static let userWritten = """
        {"id": "12", "email": "anna@example.com", "createdAt": "2025-10-26T10:00:00.000Z",
         "updatedAt": "2025-10-26T10:00:00.000Z", "name": null, "emailVerified": false,
         "hasCompletedOnboarding": false, "timezone": "UTC"}
        """
    private static let streak = GTSD.Streak(
        id: "3", userId: "12", currentStreak: 14, longestStreak: 21, totalCompliantDays: 42,
        lastCompliantDate: day("2025-10-25"), createdAt: created, updatedAt: created)

    static let literals: [WireAnswer] = [
        WireAnswer(
            of: GTSD.SignUp.self, 201,
            #"{"success": true, "data": {"user": \#(userLiteral), "accessToken": "a", "refreshToken": "r"}}"#,
            is: .init(.init(user: user, accessToken: "a", refreshToken: "r")),
            written: #"{"success": true, "data": {"user": \#(userWritten), "accessToken": "a", "refreshToken": "r"}}"#),
        WireAnswer(
            of: GTSD.LogIn.self, 200,
            #"{"success": true, "data": {"user": \#(userLiteral), "accessToken": "a", "refreshToken": "r"}}"#,
            is: .init(.init(user: user, accessToken: "a", refreshToken: "r")),
            written: #"{"success": true, "data": {"user": \#(userWritten), "accessToken": "a", "refreshToken": "r"}}"#),
        WireAnswer(
            of: GTSD.Refresh.self, 200,
            #"{"success": true, "data": {"accessToken": "string", "refreshToken": "string"}}"#,
            is: .init(.init(accessToken: "string", refreshToken: "string"))),
        WireAnswer(
            of: GTSD.LogOut.self, 200, #"{"success": true, "message": "Logged out successfully"}"#,
            is: .init(message: "Logged out successfully")),
        WireAnswer(
            of: GTSD.GetMe.self, 200, #"{"success": true, "data": \#(userLiteral)}"#, is: .init(user),
            written: #"{"success": true, "data": \#(userWritten)}"#),
        WireAnswer(
            of: GTSD.ListTasks.self, 200,
            """
            {
              "success": true,
              "data": {
                "totalTasks": 10,
                "completedTasks": 5,
                "tasks": [
                  {
                    "id": 123,
                    "type": "cardio",
                    "title": "string",
                    "description": "string",
                    "dueDate": "2025-10-26",
                    "completed": true,
                    "completedAt": "2025-10-26T10:00:00.000Z",
                    "evidence": {
                      "id": 456,
                      "type": "text_log",
                      "data": {},
                      "notes": null
                    }
                  },
                  {
                    "id": 124,
                    "type": "strength",
                    "title": "string",
                    "description": "string",
                    "dueDate": "2025-10-26",
                    "completed": false,
                    "completedAt": null,
                    "evidence": null
                  }
                ]
              },
              "cached": true
            }
            """,
            is: .init(
                .init(
                    totalTasks: 10, completedTasks: 5,
                    tasks: [
                        .init(
                            id: 123, type: .cardio, title: "string", description: "string",
                            dueDate: day("2025-10-26"), completed: true, completedAt: created,
                            evidence: .init(id: 456, type: .textLog, data: .init(), notes: nil)),
                        .init(
                            id: 124, type: .strength, title: "string", description: "string",
                            dueDate: day("2025-10-26"), completed: false, completedAt: nil, evidence: nil),
                    ]), cached: true)),
        WireAnswer(
            of: GTSD.SubmitEvidence.self, 201,
            """
            {
              "success": true,
              "data": {
                "evidence": {
                  "id": 456,
                  "taskId": 123,
                  "type": "text_log",
                  "data": {},
                  "notes": "string",
                  "createdAt": "2025-10-26T10:00:00.000Z"
                },
                "streakUpdated": true,
                "newStreak": 7
              }
            }
            """,
            is: .init(
                .init(
                    evidence: .init(
                        id: 456, taskId: 123, type: .textLog, data: .init(), notes: "string", createdAt: created),
                    streakUpdated: true, newStreak: 7))),
        WireAnswer(
            of: GTSD.PresignPhoto.self, 200,
            """
            {
              "success": true,
              "data": {
                "uploadUrl": "https://s3.amazonaws.com/...",
                "fileKey": "progress-photos/{userId}/{uuid}-{filename}",
                "expiresIn": 3600
              }
            }
            """,
            is: .init(
                .init(
                    uploadUrl: "https://s3.amazonaws.com/...", fileKey: "progress-photos/{userId}/{uuid}-{filename}",
                    expiresIn: 3600))),
        WireAnswer(
            of: GTSD.ConfirmPhoto.self, 201,
            #"{"success": true, "data": {"photoId": 789, "downloadUrl": "https://s3.amazonaws.com/..."}}"#,
            is: .init(.init(photoId: 789, downloadUrl: "https://s3.amazonaws.com/..."))),
        WireAnswer(
            of: GTSD.ListPhotos.self, 200,
            """
            {
              "success": true,
              "data": {
                "photos": [
                  {
                    "id": 789,
                    "fileKey": "string",
                    "fileSize": 2048576,
                    "mimeType": "image/jpeg",
                    "width": 1920,
                    "height": 1080,
                    "takenAt": null,
                    "uploadedAt": "2025-10-26T10:00:00.000Z",
                    "createdAt": "2025-10-26T10:00:00.000Z",
                    "downloadUrl": "https://s3.amazonaws.com/...",
                    "evidenceType": null
                  }
                ],
                "pagination": {
                  "limit": 50,
                  "offset": 0,
                  "total": 25
                }
              }
            }
            """,
            is: .init(
                .init(
                    photos: [
                        .init(
                            id: 789, fileKey: "string", fileSize: 2_048_576, mimeType: "image/jpeg", width: 1920,
                            height: 1080, takenAt: nil, uploadedAt: created, createdAt: created,
                            downloadUrl: "https://s3.amazonaws.com/...", evidenceType: nil)
                    ], pagination: .init(limit: 50, offset: 0, total: 25)))),
        WireAnswer(
            of: GTSD.DeletePhoto.self, 200, #"{"success": true, "message": "Photo deleted successfully"}"#,
            is: .init(message: "Photo deleted successfully")),
        WireAnswer(
            of: GTSD.GetStreak.self, 200,
            """
            {
              "success": true,
              "data": {
                "streak": {
                  "id": "3",
                  "userId": "12",
                  "currentStreak": 14,
                  "longestStreak": 21,
                  "totalCompliantDays": 42,
                  "lastCompliantDate": "2025-10-25",
                  "createdAt": "2025-10-26T10:00:00.000Z",
                  "updatedAt": "2025-10-26T10:00:00.000Z"
                },
                "todayCompliance": null,
                "canIncrementToday": true
              }
            }
            """, is: .init(.init(streak: streak, todayCompliance: nil, canIncrementToday: true))),
        WireAnswer(
            of: GTSD.ListBadges.self, 200,
            """
            {
              "success": true,
              "data": {
                "badges": [
                  {
                    "id": "4",
                    "userId": "12",
                    "badgeType": "first_day",
                    "awardedAt": "2025-10-26T10:00:00.000Z",
                    "metadata": {}
                  }
                ],
                "totalBadges": 5,
                "totalAvailable": 16,
                "completionPercentage": 31
              }
            }
            """,
            is: .init(
                .init(
                    badges: [.init(id: "4", userId: "12", badgeType: .firstDay, awardedAt: created)], totalBadges: 5,
                    totalAvailable: 16, completionPercentage: 31))),
        WireAnswer(
            of: GTSD.CheckCompliance.self, 200,
            """
            {
              "success": true,
              "data": {
                "isCompliant": true,
                "streakData": {
                  "currentStreak": 15,
                  "longestStreak": 21,
                  "totalCompliantDays": 43
                },
                "newlyAwardedBadges": [
                  {
                    "id": "5",
                    "badgeType": "week_warrior",
                    "awardedAt": "2025-10-26T10:00:00.000Z"
                  }
                ]
              }
            }
            """,
            is: .init(
                .init(
                    isCompliant: true,
                    streakData: .init(currentStreak: 15, longestStreak: 21, totalCompliantDays: 43),
                    newlyAwardedBadges: [.init(id: "5", badgeType: .weekWarrior, awardedAt: created)])),
            written: """
                {"success": true, "data": {"isCompliant": true, "streakData": {"currentStreak": 15,
                "longestStreak": 21, "totalCompliantDays": 43, "lastCompliantDate": ""}, "newlyAwardedBadges":
                [{"id": "5", "badgeType": "week_warrior", "awardedAt": "2025-10-26T10:00:00.000Z"}]}}
                """),
        WireAnswer(
            of: GTSD.GeneratePlan.self, 201,
            """
            {
              "success": true,
              "data": {
                "plan": {
                  "id": "6",
                  "userId": "12",
                  "weekStartDate": "2025-10-20",
                  "weekEndDate": "2025-10-26",
                  "targets": {
                    "bmr": 1800,
                    "tdee": 2400,
                    "targetCalories": 2000,
                    "proteinGrams": 150,
                    "carbGrams": 200,
                    "fatGrams": 65
                  },
                  "educationalContent": {
                    "title": "Why This Plan Works",
                    "sections": [
                      {
                        "heading": "Your Energy Needs",
                        "content": "string"
                      }
                    ]
                  },
                  "createdAt": "2025-10-26T10:00:00.000Z"
                },
                "recomputed": false
              }
            }
            """,
            is: .init(
                .init(
                    plan: .init(
                        id: "6", userId: "12", weekStartDate: day("2025-10-20"), weekEndDate: day("2025-10-26"),
                        targets: .init(
                            bmr: 1800, tdee: 2400, targetCalories: 2000, proteinGrams: 150, carbGrams: 200,
                            fatGrams: 65),
                        educationalContent: .init(
                            title: "Why This Plan Works",
                            sections: [.init(heading: "Your Energy Needs", content: "string")]),
                        createdAt: created), recomputed: false))),
    ]

    @Test(arguments: literals)
    func isReadAndWritten(_ answer: WireAnswer) throws {
        try answer.decodes()
        try answer.encodes()
    }

    @Test func everyOperationOfTheContractHasItsLiteral() {
        let additions = [
            "DELETE /auth/me", "POST /v1/tasks/{taskId}/complete", "POST /v1/tasks/{taskId}/uncomplete",
            "GET /v1/streaks/history", "GET /v1/badges/available", "POST /v1/onboarding", "GET /v1/onboarding",
        ]
        #expect(
            Set(Self.literals.map(\.signature)) == Set(GTSD.endpoints.map { $0.signature }).subtracting(additions))
    }
}
