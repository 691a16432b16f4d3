// Written by Tools/swift-calls from the wire tests (make describe).
extension GTSDExamples {
    static let calls = ##"""
        GTSD.SignUp: try await client.signUp(email: "anna@example.com", password: "Secret-123")
        GTSD.LogIn: try await client.signIn(email: "anna@example.com", password: "Secret-123")
        GTSD.Refresh: // The client renews its session by itself.
        GTSD.LogOut: try await client.signOut()
        GTSD.ChangePassword: try await client.changePassword(from: "Secret-123", to: "Secret-456")
        GTSD.DeleteMe: try await client.deleteAccount(password: "Secret-123")
        GTSD.RequestArchive: try await client.downloadArchive(to: file)
        GTSD.PresignPhoto: try await client.uploadPhoto(Upload(fileAt: file))
        GTSD.GetMe()
        GTSD.UpdateMe(name: "Anna", timezone: "Europe/Berlin")
        GTSD.GetArchive()
        GetAbout<GTSD>()
        GTSD.ListSessions()
        GTSD.EndOtherSessions()
        GTSD.EndSession("4503599627370496")
        GTSD.ForgotPassword(email: "anna@example.com")
        GTSD.ResetPassword(token: "abc", newPassword: "Secret-456")
        GTSD.ChangeEmail(email: "anna@example.org", password: "Secret-123")
        GTSD.VerifyEmail(token: "abc")
        GTSD.ListTasks()
        GTSD.SubmitEvidence(
            taskId: 123, type: .textLog, data: .init(text: "Ran for 30 minutes"), notes: "Felt good")
        GTSD.CompleteTask(123)
        GTSD.UncompleteTask(123)
        GTSD.ConfirmPhoto(
            fileKey: key, width: 1920, height: 1080, fileSize: 2_048_576, contentType: "image/jpeg",
            takenAt: time("2025-10-26T10:00:00.000Z"), taskId: 123, evidenceType: .before)
        GTSD.ListPhotos()
        GTSD.DeletePhoto(789)
        GTSD.GetStreak()
        GTSD.ListBadges()
        GTSD.CheckCompliance()
        GTSD.GetHistory()
        GTSD.ListAvailableBadges()
        GTSD.GeneratePlan(forceRecompute: false)
        GTSD.CompleteOnboarding(
            dateOfBirth: day("1990-01-15"), gender: .male, primaryGoal: .loseWeight, currentWeight: 80,
            targetWeight: 75, height: 180, activityLevel: .moderatelyActive, targetDate: day("2026-06-01"),
            timezone: "Europe/Berlin", dietaryPreferences: [], allergies: ["nuts"], mealsPerDay: 3)
        GTSD.GetOnboarding()
        """##
}
