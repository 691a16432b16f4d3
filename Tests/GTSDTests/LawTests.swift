import Backend
import Contract
import GTSDAPI
import GTSDService
import Testbed
import Testing

extension Example {
    /// One for every operation; of each optional field one that has it.
    static let gtsd: [Example] = {
        do {
            return [
                try Example(GTSD.SignUp(email: "a+b@example.com", password: "P\\ss 🎉 12", name: "Ä", timezone: "UTC")),
                try Example(GTSD.SignUp(email: "a+b@example.com", password: "Secret-123")),
                try Example(GTSD.LogIn(email: "a@b.cd", password: " ")),
                try Example(GTSD.Refresh(refreshToken: "a-b_c")),
                try Example(GTSD.LogOut(refreshToken: "a-b_c")),
                try Example(GTSD.LogOut()),
                try Example(GTSD.GetMe()),
                try Example(GTSD.DeleteMe(password: "x")),
                try Example(GTSD.ListTasks()),
                try Example(GTSD.ListTasks(date: day("2025-10-26"), limit: 3, offset: 9, type: .cardio)),
                try Example(
                    GTSD.SubmitEvidence(
                        taskId: 7, type: .metrics,
                        data: .init(text: "é", metrics: ["kg": 80], photoUrl: "https://a/b?c=d"), notes: "\"n\"")),
                try Example(GTSD.CompleteTask(7)),
                try Example(GTSD.UncompleteTask(7)),
                try Example(GTSD.PresignPhoto(fileName: "é/\\\".jpg", contentType: "image/jpeg", fileSize: 9)),
                try Example(
                    GTSD.ConfirmPhoto(
                        fileKey: "progress-photos/1/x", width: 1, height: 2, fileSize: 3, contentType: "image/png",
                        takenAt: time("2025-10-26T10:00:00.123Z"), taskId: 7, evidenceType: .during)),
                try Example(GTSD.ListPhotos()),
                try Example(GTSD.ListPhotos(limit: 1, offset: 2, taskId: 3)),
                try Example(GTSD.DeletePhoto(7)),
                try Example(GTSD.GetStreak()),
                try Example(GTSD.ListBadges()),
                try Example(GTSD.CheckCompliance()),
                try Example(GTSD.CheckCompliance(date: day("2024-02-29"))),
                try Example(GTSD.GetHistory(from: day("2025-01-01"), to: day("2025-01-31"))),
                try Example(GTSD.ListAvailableBadges()),
                try Example(GTSD.GeneratePlan(forceRecompute: true)),
                try Example(GTSD.GeneratePlan()),
                try Example(
                    GTSD.CompleteOnboarding(
                        dateOfBirth: day("1990-01-15"), gender: .female, primaryGoal: .maintain, currentWeight: 62.5,
                        targetWeight: 60, height: 170.5, activityLevel: .sedentary, targetDate: day("2030-01-01"),
                        timezone: "Europe/Berlin", dietaryPreferences: ["vegan"], allergies: [], mealsPerDay: 4)),
                try Example(GTSD.GetOnboarding()),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct GTSDLawTests {
    /// The contract's headings, in its order, each followed by what the decisions add to its section.
    static let summary = [
        "POST /auth/signup", "POST /auth/login", "POST /auth/refresh", "POST /auth/logout", "GET /auth/me",
        "DELETE /auth/me",
        "GET /v1/tasks/today", "POST /v1/evidence", "POST /v1/tasks/{taskId}/complete",
        "POST /v1/tasks/{taskId}/uncomplete",
        "POST /v1/progress/photo/presign", "POST /v1/progress/photo/confirm", "GET /v1/progress/photos",
        "DELETE /v1/progress/photo/{photoId}",
        "GET /v1/streaks/me", "GET /v1/badges/me", "POST /v1/streaks/check-compliance", "GET /v1/streaks/history",
        "GET /v1/badges/available",
        "POST /v1/plans/generate",
        "POST /v1/onboarding", "GET /v1/onboarding",
    ]

    static let open: Set = ["POST /auth/signup", "POST /auth/login", "POST /auth/refresh", "POST /auth/logout"]

    /// Decisions §1: "on signup, evidence, presign, confirm, generate, onboarding".
    static let keyed: Set = [
        "POST /auth/signup", "POST /v1/evidence", "POST /v1/progress/photo/presign",
        "POST /v1/progress/photo/confirm", "POST /v1/plans/generate", "POST /v1/onboarding",
    ]

    static let laws = Laws<GTSD>(summary: summary, open: open, examples: Example.gtsd) { _, message, id in
        #"{"error":{"message":"\#(message)","requestId":"\#(id)"}}"#
    }

    @Test func theTypesAreTheContracts() {
        Self.laws.holdTheTypes()
        Self.laws.holdTheKeys(Self.keyed)
    }

    @Test(arguments: Example.gtsd)
    func aRequestSurvivesTheWire(_ example: Example) throws { try example.surviveTheWire() }

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let beyond = Self.laws.beyond(host.app.router)
            // Stored objects refuse every other method in their own words: the signature names it.
            let objects = beyond.filter { $0.hasSuffix(" /objects/{key*}") }
            #expect(beyond.subtracting(objects) == ["GET /health", "GET /ready"])
            #expect(objects.isSuperset(of: ["GET /objects/{key*}", "HEAD /objects/{key*}", "PUT /objects/{key*}"]))
        }
    }

    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { try await Self.laws.refuseStrangers(of: $0, "Authentication required") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredToAnybody(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            try await Self.laws.answerHealth(of: host, #"{"success":true,"data":{"status":"ok"}}"#)
        }
    }
}
