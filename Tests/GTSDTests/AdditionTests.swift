import GTSDAPI
import GTSDCheck
import Testbed
import Testing

/// Additions to the published contract are marked, and lists say what a large `limit` does.
@Suite(.timeLimit(.minutes(30))) struct GTSDAdditionTests {
    private static let signedIn = "success data(user(id email createdAt updatedAt) accessToken refreshToken)"
    private static let evidence = "id type data(*) notes"

    /// The names in the published contract, and the fields of sign-up and sessions that its answers imply.
    private static let contract = PublishedContract(
        """
        POST /auth/signup > email password < \(signedIn)
        POST /auth/login > email password < \(signedIn)
        POST /auth/refresh > refreshToken < success data(accessToken refreshToken)
        POST /auth/logout > refreshToken < success message
        GET /auth/me < success data(id email createdAt updatedAt)
        GET /v1/tasks/today > date limit offset type < success cached data(totalTasks completedTasks tasks(id type title description dueDate completed completedAt evidence(\(evidence))))
        POST /v1/evidence > taskId type data(text metrics(*) photoUrl) notes < success data(evidence(\(evidence) taskId createdAt) streakUpdated newStreak)
        POST /v1/progress/photo/presign > fileName contentType fileSize < success data(uploadUrl fileKey expiresIn)
        POST /v1/progress/photo/confirm > fileKey width height fileSize contentType takenAt taskId evidenceType < success data(photoId downloadUrl)
        GET /v1/progress/photos > limit offset taskId < success data(photos(id fileKey fileSize mimeType width height takenAt uploadedAt createdAt downloadUrl evidenceType) pagination(limit offset total))
        DELETE /v1/progress/photo/{photoId} < success message
        GET /v1/streaks/me < success data(streak(id userId currentStreak longestStreak totalCompliantDays lastCompliantDate createdAt updatedAt) todayCompliance canIncrementToday)
        GET /v1/badges/me < success data(badges(id userId badgeType awardedAt metadata(*)) totalBadges totalAvailable completionPercentage)
        POST /v1/streaks/check-compliance > date < success data(isCompliant streakData(currentStreak longestStreak totalCompliantDays) newlyAwardedBadges(id badgeType awardedAt))
        POST /v1/plans/generate > forceRecompute < success data(plan(id userId weekStartDate weekEndDate targets(bmr tdee targetCalories proteinGrams carbGrams fatGrams) educationalContent(title sections(heading content)) createdAt) recomputed)
        failure error(message requestId stack)
        """)

    @Test func theMarksAreTheContracts() async {
        GTSDLawTests.laws.checkAdditions(to: Self.contract)
        GTSDLawTests.laws.checkAdditions(in: await Described.api.description, to: Self.contract)
    }

    @Test(arguments: Stack.all)
    func theDescriptionSaysWhatALimitDoes(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            try await GTSDLawTests.laws.checkLimits(in: await Described.api.description, at: [:]) {
                try await anna.get($0)
            }
        }
    }
}
