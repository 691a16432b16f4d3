import Contract
import Foundation
import GTSDAPI
import GTSDExamples
import Testbed
import Testing

/// The types equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct GTSDWireTests {
    /// The requests of all examples, as an app writes them.
    static let requests: [ExampleRequest] = [
        .init(GTSD.SignUp(email: "anna@example.com", password: "Secret-123")),
        .init(GTSD.SignUp(email: "a+b@example.com", password: "P\\ss 🎉 12", name: "Ä", timezone: "UTC")),
        .init(GTSD.SignUp(email: "anna@example.com", password: "Secret-123", deviceName: "Anna's iPhone")),
        .init(
            GTSD.SignUp(
                email: "ben@example.com", password: "Secret-123", acceptedTerms: "2026-11",
                invitationCode: "K7QM-2XWA-9DHT")),
        .init(GTSD.LogIn(email: "anna@example.com", password: "Secret-123")),
        .init(GTSD.LogIn(email: "anna@example.com", password: "Secret-123", deviceName: "Anna's iPhone")),
        .init(GTSD.Refresh(refreshToken: "eyJ...")),
        .init(GTSD.LogOut(refreshToken: "eyJ...")),
        .init(GTSD.LogOut()),
        .init(GTSD.GetMe()),
        .init(GTSD.UpdateMe(name: "Anna", timezone: "Europe/Berlin")),
        .init(GTSD.UpdateMe(name: "Ä \"b\"")),
        .init(GTSD.UpdateMe()),
        .init(GTSD.ChangePassword(currentPassword: "Secret-123", newPassword: "Secret-456")),
        .init(GTSD.DeleteMe(password: "Secret-123")),
        .init(GTSD.RequestArchive()),
        .init(GTSD.GetArchive()),
        .init(GetAbout<GTSD>()),
        .init(GTSD.ListSessions()),
        .init(GTSD.EndOtherSessions()),
        .init(GTSD.EndSession("4503599627370496")),
        .init(GTSD.ForgotPassword(email: "anna@example.com")),
        .init(GTSD.ResetPassword(token: "abc", newPassword: "Secret-456")),
        .init(GTSD.ChangeEmail(email: "anna@example.org", password: "Secret-123")),
        .init(GTSD.VerifyEmail(token: "abc")),
        .init(GTSD.ListTasks()),
        .init(GTSD.ListTasks(date: day("2025-10-26"), limit: 50, offset: 0, type: .cardio)),
        .init(
            GTSD.SubmitEvidence(
                taskId: 123, type: .textLog, data: .init(text: "Ran for 30 minutes"), notes: "Felt good")),
        .init(GTSD.SubmitEvidence(taskId: 123, type: .textLog, data: .init(text: "string"), notes: "string")),
        .init(GTSD.SubmitEvidence(taskId: 123, type: .metrics, data: .init(metrics: ["km": 5]))),
        .init(
            GTSD.SubmitEvidence(
                taskId: 123, type: .photoReference, data: .init(photoUrl: "https://a/b?c=d"), notes: "\"n\"")),
        .init(GTSD.SubmitEvidence.text("a", for: 123, occurredAt: time("2025-10-28T07:30:00.000Z"))),
        .init(GTSD.CompleteTask(123)),
        .init(GTSD.UncompleteTask(123)),
        .init(GTSD.PresignPhoto(fileName: "string.jpg", contentType: "image/jpeg", fileSize: 10_485_760)),
        .init(GTSD.PresignPhoto(fileName: "é/\\\".jpg", contentType: "image/jpeg", fileSize: 9)),
        .init(
            GTSD.ConfirmPhoto(
                fileKey: key, width: 1920, height: 1080, fileSize: 2_048_576, contentType: "image/jpeg",
                takenAt: time("2025-10-26T10:00:00.000Z"), taskId: 123, evidenceType: .before)),
        .init(GTSD.ListPhotos()),
        .init(GTSD.ListPhotos(limit: 50, offset: 0, taskId: 123)),
        .init(GTSD.DeletePhoto(789)),
        .init(GTSD.GetStreak()),
        .init(GTSD.ListBadges()),
        .init(GTSD.CheckCompliance()),
        .init(GTSD.CheckCompliance(date: day("2025-10-26"))),
        .init(GTSD.GetHistory()),
        .init(GTSD.GetHistory(from: day("2025-10-01"), to: day("2025-10-26"))),
        .init(GTSD.ListAvailableBadges()),
        .init(GTSD.GeneratePlan(forceRecompute: false)),
        .init(GTSD.GeneratePlan()),
        .init(
            GTSD.CompleteOnboarding(
                dateOfBirth: day("1990-01-15"), gender: .male, primaryGoal: .loseWeight, currentWeight: 80,
                targetWeight: 75, height: 180, activityLevel: .moderatelyActive, targetDate: day("2026-06-01"),
                timezone: "Europe/Berlin", dietaryPreferences: [], allergies: ["nuts"], mealsPerDay: 3)),
        .init(GTSD.GetOnboarding()),
    ]

    /// The values of the answers in the examples.
    static let answers: [ExampleAnswer] = [
        .init(of: GTSD.SignUp.self, .init(signedIn(user)), contractAlone: .init(signedIn(plainUser))),
        .init(of: GTSD.LogIn.self, .init(signedIn(user)), contractAlone: .init(signedIn(plainUser))),
        .init(of: GTSD.Refresh.self, .init(.init(accessToken: "eyJ...", refreshToken: "eyJ..."))),
        .init(of: GTSD.LogOut.self, .init(message: "Logged out successfully")),
        .init(of: GTSD.GetMe.self, .init(user), contractAlone: .init(plainUser)),
        .init(of: GTSD.UpdateMe.self, .init(user), contractAlone: .init(plainUser)),
        .init(of: GTSD.ChangePassword.self, .init(message: "Password changed successfully")),
        .init(of: GTSD.DeleteMe.self, .init(message: "Account deleted successfully")),
        .init(of: GetAbout<GTSD>.self, .init(.example)),
        .init(
            of: GTSD.RequestArchive.self,
            .init(
                .init(
                    state: .ready, requestedAt: time("2025-10-26T14:22:00.000Z"), size: 1_048_576,
                    url: "https://example.com/objects/archive.zip", expiresAt: time("2025-10-28T14:22:00.000Z")))),
        .init(
            of: GTSD.GetArchive.self,
            .init(
                .init(
                    state: .ready, requestedAt: time("2025-10-26T14:22:00.000Z"), size: 1_048_576,
                    url: "https://example.com/objects/archive.zip", expiresAt: time("2025-10-28T14:22:00.000Z")))),
        .init(
            of: GTSD.ListSessions.self,
            .init(
                .init(sessions: [
                    .init(
                        id: "4503599627370496", device: "Anna's iPhone", createdAt: created, lastUsedAt: proven,
                        address: "203.0.113.7", current: true)
                ]))),
        .init(of: GTSD.EndOtherSessions.self, .init(message: "Other sessions ended successfully")),
        .init(of: GTSD.EndSession.self, .init(message: "Session ended successfully")),
        .init(
            of: GTSD.ForgotPassword.self,
            .init(
                message: "If an account exists with this email, you will receive password reset instructions.")),
        .init(of: GTSD.ResetPassword.self, .init(message: "Password reset successfully")),
        .init(of: GTSD.ChangeEmail.self, .init(message: "Verification email sent")),
        .init(of: GTSD.VerifyEmail.self, .init(message: "Email verified successfully")),
        .init(of: GTSD.ListTasks.self, .init(.init(totalTasks: 10, completedTasks: 5, tasks: [task]), cached: true)),
        .init(of: GTSD.SubmitEvidence.self, .init(.init(evidence: evidence, streakUpdated: true, newStreak: 7))),
        .init(of: GTSD.CompleteTask.self, .init(.init(task: task, streakUpdated: true, newStreak: 7))),
        .init(of: GTSD.UncompleteTask.self, .init(.init(task: task, streakUpdated: true, newStreak: 7))),
        .init(of: GTSD.PresignPhoto.self, .init(.init(uploadUrl: "data:,", fileKey: key, expiresIn: 3600))),
        .init(of: GTSD.ConfirmPhoto.self, .init(.init(photoId: 789, downloadUrl: photo.downloadUrl))),
        .init(
            of: GTSD.ListPhotos.self,
            .init(.init(photos: [photo], pagination: .init(limit: 50, offset: 0, total: 25)))),
        .init(of: GTSD.DeletePhoto.self, .init(message: "Photo deleted successfully")),
        .init(of: GTSD.GetStreak.self, .init(.init(streak: streak, todayCompliance: nil, canIncrementToday: true))),
        .init(
            of: GTSD.ListBadges.self,
            .init(
                .init(
                    badges: [.init(id: "2", userId: "1", badgeType: .weekWarrior, awardedAt: awarded)],
                    totalBadges: 5, totalAvailable: 16, completionPercentage: 31))),
        .init(
            of: GTSD.CheckCompliance.self,
            .init(
                .init(
                    isCompliant: true,
                    streakData: .init(
                        currentStreak: 15, longestStreak: 21, totalCompliantDays: 43, id: "1", userId: "1",
                        lastCompliantDate: day("2025-10-28"), createdAt: created,
                        updatedAt: time("2025-10-28T19:00:00.000Z")),
                    newlyAwardedBadges: [
                        .init(.init(id: "2", userId: "1", badgeType: .weekWarrior, awardedAt: awarded))
                    ])),
            contractAlone: .init(
                .init(
                    isCompliant: true, streakData: .init(currentStreak: 15, longestStreak: 21, totalCompliantDays: 43),
                    newlyAwardedBadges: [.init(id: "2", badgeType: .weekWarrior, awardedAt: awarded)]))),
        .init(
            of: GTSD.GetHistory.self,
            .init(
                .init(days: [
                    .init(
                        date: day("2025-10-28"), totalTasks: 5, completedTasks: 4, isCompliant: true, credited: true)
                ]))),
        .init(
            of: GTSD.ListAvailableBadges.self,
            .init(
                .init(badges: [
                    .init(
                        badgeType: .weekWarrior, name: "Week Warrior", description: "Keep a streak of 7 days.",
                        earned: true, awardedAt: awarded)
                ]))),
        .init(of: GTSD.GeneratePlan.self, .init(.init(plan: plan, recomputed: false))),
        .init(of: GTSD.CompleteOnboarding.self, .init(.init(profile: profile))),
        .init(of: GTSD.GetOnboarding.self, .init(.init(profile: profile))),
    ]

    @Test(arguments: requests)
    func aRequestIsAnExample(_ request: ExampleRequest) throws { try GTSDLawTests.laws.check(request) }

    @Test(arguments: answers)
    func anAnswerIsAnExample(_ answer: ExampleAnswer) throws { try GTSDLawTests.laws.check(answer) }

    @Test func everyExampleHasItsValue() { GTSDLawTests.laws.checkExamplesAreUsed(Self.answers) }

    @Test func everyVariantOfAnAnswerIsReadAndWritten() throws { try GTSDLawTests.laws.checkAnswers() }

    // MARK: The world of the examples

    private static let created = time("2025-10-01T08:00:00.000Z")
    private static let proven = time("2025-10-28T07:30:00.000Z")
    private static let uploaded = time("2025-10-27T07:00:00.000Z")
    private static let awarded = time("2025-10-20T19:00:00.000Z")
    private static let key = "progress-photos/1/2d9f5c1e-6a0b-4f7c-9d3e-8b1a2c4d5e6f-front.jpg"

    private static let plainUser = GTSD.User(
        id: "1", email: "anna@example.com", createdAt: created, updatedAt: time("2025-10-01T08:05:00.000Z"))
    private static let user: GTSD.User = {
        var user = plainUser
        (user.name, user.hasCompletedOnboarding, user.timezone) = ("Anna", true, "Europe/Berlin")
        return user
    }()
    private static func signedIn(_ user: GTSD.User) -> GTSD.SignedIn {
        .init(user: user, accessToken: "eyJ...", refreshToken: "eyJ...")
    }

    private static let data = GTSD.EvidenceData(text: "8 times 400 m")
    private static let task = GTSD.Task(
        id: 123, type: .cardio, title: "Cardio: Intervals", description: "30 minutes at a pace that suits you.",
        dueDate: day("2025-10-28"), completed: true, completedAt: proven,
        evidence: .init(id: 456, type: .textLog, data: data, notes: nil))
    private static let evidence = {
        var evidence = GTSD.Evidence(
            id: 456, taskId: 123, type: .textLog, data: data, notes: nil, createdAt: proven)
        evidence.occurredAt = proven
        return evidence
    }()
    private static let photo = GTSD.Photo(
        id: 789, fileKey: key, fileSize: 2_048_576, mimeType: "image/jpeg", width: 1920, height: 1080, takenAt: nil,
        uploadedAt: uploaded, createdAt: uploaded, downloadUrl: "data:image/jpeg;base64,/9j/4A==",
        evidenceType: .before)
    private static let streak = GTSD.Streak(
        id: "1", userId: "1", currentStreak: 14, longestStreak: 21, totalCompliantDays: 42,
        lastCompliantDate: day("2025-10-27"), createdAt: created, updatedAt: time("2025-10-27T19:00:00.000Z"))
    private static let plan = GTSD.Plan(
        id: "3", userId: "1", weekStartDate: day("2025-10-27"), weekEndDate: day("2025-11-02"),
        targets: .init(
            bmr: 1800, tdee: 2400, targetCalories: 2000, proteinGrams: 150, carbGrams: 200, fatGrams: 65),
        educationalContent: .init(
            title: "Why This Plan Works",
            sections: [
                .init(
                    heading: "Your Energy Needs",
                    content: "At rest your body uses 1800 kcal a day (BMR). With your activity it is 2400 kcal (TDEE).")
            ]), createdAt: uploaded)
    private static let profile = GTSD.Profile(
        dateOfBirth: day("1997-05-20"), gender: .female, primaryGoal: .maintain, currentWeight: 65, targetWeight: nil,
        height: 165, activityLevel: .lightlyActive, targetDate: nil, timezone: "Europe/Berlin",
        dietaryPreferences: [], allergies: [], mealsPerDay: 3, hasCompletedOnboarding: true)
}
