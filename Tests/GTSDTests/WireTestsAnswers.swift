import Contract
import Foundation
import GTSDAPI
import Testbed
import Testing

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
