extension GTSDExamples {
    private static let evidenceType = #""text_log" | "metrics" | "photo_reference""#

    package static let task = #"""
        {
          "id": #123,
          "type": "cardio" | "strength" | "nutrition" | "photos",
          "title": "Cardio: Intervals",
          "description": "30 minutes at a pace that suits you.",
          "dueDate": "2025-10-28",
          "completed": true,
          "completedAt": "2025-10-28T07:30:00.000Z" | null,
          "evidence": {
            "id": #456,
            "type": \#(evidenceType),
            "data": any { "text": "8 times 400 m" },
            "notes": null | "windy"
          } | null
        }
        """#

    package static let evidence = #"""
        {
          "id": #456,
          "taskId": #123,
          "type": \#(evidenceType),
          "data": any { "text": "8 times 400 m" },
          "notes": null | "windy",
          "createdAt": "2025-10-28T07:30:00.000Z"
        }
        """#

    private static let changed = success(#"{ "task": \#(task), "streakUpdated": true, "newStreak": 7 }"#)

    static let tasks = #"""
        GET /v1/tasks/today
        >
        > /v1/tasks/today?date=2025-10-26&limit=50&offset=0&type=cardio
        < 200 {
          "success": = true,
          "data": { "totalTasks": 10, "completedTasks": 5, "tasks": [\#(task)] },
          "cached": true
        }

        POST /v1/evidence key
        > { "taskId": 123, "type": "text_log", "data": { "text": "string" }, "notes": "string" }
        > { "taskId": 123, "type": "metrics", "data": { "metrics": { "km": 5 } } }
        > { "taskId": 123, "type": "photo_reference", "data": { "photoUrl": "https://a/b?c=d" }, "notes": "\"n\"" }
        < 201 \#(success(#"{ "evidence": \#(evidence), "streakUpdated": true, "newStreak": 7 }"#))

        POST /v1/tasks/{taskId}/complete
        > /v1/tasks/123/complete {}
        < 200 \#(changed)

        POST /v1/tasks/{taskId}/uncomplete
        > /v1/tasks/123/uncomplete {}
        < 200 \#(changed)
        """#
}
