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
          "createdAt": "2025-10-28T07:30:00.000Z",
          +? "occurredAt": "2025-10-28T07:30:00.000Z"
        }
        """#

    private static let changed = success(#"{ "task": \#(task), "streakUpdated": true, "newStreak": 7 }"#)

    static let tasks = #"""
        GET /v1/tasks/today: Returns a day's tasks, by id.
        >
        > /v1/tasks/today?date=2025-10-26&limit=50&offset=0&type=cardio
        < 200 {
          "success": = true,
          "data": { "totalTasks": 10, "completedTasks": 5, "tasks": [\#(task)] },
          "cached": true
        }

        POST /v1/evidence key: Submits evidence, which completes its task.
        > { "taskId": 123, "type": "text_log", "data": { "text": "Ran for 30 minutes" }, "notes": "Felt good" }
        > { "taskId": 123, "type": "text_log", "data": { "text": "string" }, "notes": "string" }
        > { "taskId": 123, "type": "metrics", "data": { "metrics": { "km": 5 } } }
        > { "taskId": 123, "type": "photo_reference", "data": { "photoUrl": "https://a/b?c=d" }, "notes": "\"n\"" }
        > { "taskId": 123, "type": "text_log", "data": { "text": "a" }, + "occurredAt": "2025-10-28T07:30:00.000Z" }
        < 201 \#(success(#"{ "evidence": \#(evidence), "streakUpdated": true, "newStreak": 7 }"#))
        ! 400 Validation failed: data: Evidence data must match the specified type
        ! 404 Task 123 not found or does not belong to user
        ! 409 Too many evidence entries for this task

        POST /v1/tasks/{taskId}/complete addition: Completes a task without evidence.
        > /v1/tasks/123/complete {}
        < 200 \#(changed)
        ! 404 Task 123 not found or does not belong to user

        POST /v1/tasks/{taskId}/uncomplete addition: Reopens a task.
        > /v1/tasks/123/uncomplete {}
        < 200 \#(changed)
        ! 404 Task 123 not found or does not belong to user
        """#
}
