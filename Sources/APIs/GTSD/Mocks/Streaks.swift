import Contract
import ContractMocks
import GTSDAPI

extension GTSD.Streak {
    /// The example: Anna's streak of 14 days.
    public static let example: Self = contractExample(
        """
        {
          "id": "1",
          "userId": "1",
          "currentStreak": 14,
          "longestStreak": 21,
          "totalCompliantDays": 42,
          "lastCompliantDate": "2025-10-27",
          "createdAt": "2025-10-01T08:00:00.000Z",
          "updatedAt": "2025-10-27T19:00:00.000Z"
        }
        """)
}

extension GTSD.Badge {
    /// The example: Anna's badge for a week.
    public static let example: Self = contractExample(
        """
        {
          "id": "2",
          "userId": "1",
          "badgeType": "week_warrior",
          "awardedAt": "2025-10-20T19:00:00.000Z",
          "metadata": {}
        }
        """)
}

extension GTSDMock {
    func streaks() {
        server.example(of: GTSD.GetStreak.self) { _ in
            APIResponse(.init(streak: .example, todayCompliance: nil, canIncrementToday: true))
        }
        server.example(of: GTSD.ListBadges.self) { _ in
            APIResponse(
                .init(badges: [.example], totalBadges: 5, totalAvailable: 16, completionPercentage: 31))
        }
        server.example(of: GTSD.CheckCompliance.self) { _ in
            APIResponse(
                .init(
                    isCompliant: true,
                    streakData: .init(currentStreak: 15, longestStreak: 21, totalCompliantDays: 43),
                    newlyAwardedBadges: [.init(.example)]))
        }
        server.example(of: GTSD.GetHistory.self) { _ in
            APIResponse(
                .init(days: [
                    .init(
                        date: GTSD.Task.example.dueDate, totalTasks: 5, completedTasks: 4, isCompliant: true,
                        credited: true)
                ]))
        }
        server.example(of: GTSD.ListAvailableBadges.self) { _ in
            APIResponse(
                .init(badges: [
                    .init(
                        badgeType: .weekWarrior, name: "Week Warrior", description: "Keep a streak of 7 days.",
                        earned: true, awardedAt: GTSD.Badge.example.awardedAt)
                ]))
        }
    }
}
