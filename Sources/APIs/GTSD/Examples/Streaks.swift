extension GTSDExamples {
    package static let streak = #"""
        {
          "id": "1",
          "userId": "1",
          "currentStreak": 14,
          "longestStreak": 21,
          "totalCompliantDays": 42,
          "lastCompliantDate": "2025-10-27" | "",
          "createdAt": "2025-10-01T08:00:00.000Z",
          "updatedAt": "2025-10-27T19:00:00.000Z"
        }
        """#

    package static let badge = #"""
        {
          "id": "2",
          "userId": "1",
          "badgeType": "week_warrior",
          "awardedAt": "2025-10-20T19:00:00.000Z",
          "metadata": {}
        }
        """#

    static let streaks = #"""
        GET /v1/streaks/me: Returns the caller's streak.
        < 200 \#(
            success(
                #"""
                {
                  "streak": \#(streak),
                  "todayCompliance": null | {
                    + "date": "2025-10-28", + "isCompliant": true, + "tasksCompleted": 4, + "tasksTotal": 5
                  },
                  "canIncrementToday": true
                }
                """#))

        GET /v1/badges/me: Returns the caller's own badges, newest first.
        < 200 \#(
            success(
                #"""
                { "badges": [\#(badge)], "totalBadges": 5, "totalAvailable": = 16, "completionPercentage": 31 }
                """#))

        POST /v1/streaks/check-compliance limited: Checks whether enough of a day's tasks is done; today then counts.
        > {}
        > { "date": "2025-10-26" }
        < 200 \#(
            success(
                #"""
                {
                  "isCompliant": true,
                  "streakData": {
                    "currentStreak": 15,
                    "longestStreak": 21,
                    "totalCompliantDays": 43,
                    + "id": "1",
                    + "userId": "1",
                    + "lastCompliantDate": "2025-10-28" | "",
                    + "createdAt": "2025-10-01T08:00:00.000Z",
                    + "updatedAt": "2025-10-28T19:00:00.000Z"
                  },
                  "newlyAwardedBadges": [
                    {
                      "id": "2",
                      "badgeType": "week_warrior",
                      "awardedAt": "2025-10-20T19:00:00.000Z",
                      + "userId": "1",
                      + "metadata": {}
                    }
                  ]
                }
                """#))

        GET /v1/streaks/history addition: Returns every day of a period, ascending.
        >
        > /v1/streaks/history?from=2025-10-01&to=2025-10-26
        < 200 \#(
            success(
                #"""
                {
                  "days": [
                    {
                      "date": "2025-10-28", "totalTasks": 5, "completedTasks": 4, "isCompliant": true, "credited": true
                    }
                  ]
                }
                """#))

        GET /v1/badges/available addition: Returns all badges that can be earned.
        < 200 \#(
            success(
                #"""
                {
                  "badges": [
                    {
                      "badgeType": "week_warrior",
                      "name": "Week Warrior",
                      "description": "Keep a streak of 7 days.",
                      "earned": true,
                      "awardedAt": "2025-10-20T19:00:00.000Z" | null
                    }
                  ]
                }
                """#))
        """#
}
