extension MonicaExamples {
    package static let reminder = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607b",
          "object": = "reminder",
          \(reminderMembers)
        }
        """

    static let upcomingReminder = """
        {
          "id": #1,
          "reminder_id": #1,
          "object": = "reminder",
          "planned_date": "2024-11-20T00:00:00Z",
          \(reminderMembers)
        }
        """

    private static let reminderMembers = """
        "title": "Water the plants",
          "description": "Not the cactus" | null,
          "frequency_type": "month" | "one_time" | "week" | "year",
          "frequency_number": 1,
          "initial_date": "2024-10-20T00:00:00Z",
          "delible": = true,
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        """

    static let reminders =
        resource(
            "reminders", "a reminder", reminder, lists: "?contact_id=5&page=1&limit=10&sort=-updated_at",
            requests: (
                new: """
                { "contact_id": 5, "title": "Water the plants", "initial_date": "2024-10-20",
                  "frequency_type": "month", "frequency_number": 2, "description": "Not the cactus" }
                """,
                changed: """
                { "contact_id": 5, "title": "Water the plants", "initial_date": "2024-10-20",
                  "frequency_type": "one_time", "frequency_number": 1, "description": null | "Not the cactus" }
                """
            ), required: "The title field is required.", names: ("reminder", "reminders")) + """


            GET /reminders/upcoming/{month} limited addition: Returns the next dates of reminders that lie in a month, the earliest first.
            > /reminders/upcoming/1
            < 200 { "data": [\(upcomingReminder)] }
            ! 400 The month parameter must be 0 or a positive integer
            """
}
