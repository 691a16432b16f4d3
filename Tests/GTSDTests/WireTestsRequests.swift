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
