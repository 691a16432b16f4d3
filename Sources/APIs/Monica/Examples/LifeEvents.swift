extension MonicaExamples {
    package static let lifeEvent = """
        {
          "id": #1,
          "object": = "lifeevent",
          "name": "At the bakery" | null,
          "note": "She had hoped for it" | null,
          "happened_at": "2024-10-20T00:00:00Z",
          "happened_at_month_unknown": false,
          "happened_at_day_unknown": false,
          "life_event_type": {
            "id": #1,
            "object": = "lifeeventtype",
            "name": "New job",
            "core_monica_data": = true,
            "default_life_event_type_key": "new_job",
            "life_event_category": {
              "id": #1,
              "object": = "lifeeventcategory",
              "name": "Work & education",
              "core_monica_data": = true,
              "default_life_event_category_key": "work_education",
              "account": \(owner),
              "created_at": "2024-01-15T10:30:00Z",
              "updated_at": "2024-01-15T10:30:00Z"
            },
            "account": \(owner),
            "created_at": "2024-01-15T10:30:00Z",
            "updated_at": "2024-01-15T10:30:00Z"
          },
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let lifeEvents = resource(
        "lifeevents", "a life event", lifeEvent, lists: "?contact_id=5&page=1&limit=10&sort=-happened_at",
        requests: (
            new: """
            { "contact_id": 5, "life_event_type_id": 1, "happened_at": "2024-10-20T00:00:00Z",
              "name": "At the bakery", "note": "She had hoped for it", "has_reminder": true,
              "happened_at_month_unknown": false, "happened_at_day_unknown": false }
            """,
            changed: """
            { "contact_id": 5, "life_event_type_id": 18, "happened_at": "2024-10-01T00:00:00Z",
              "name": null | "To Lyon", "note": null | "Near the river", "has_reminder": false,
              "happened_at_month_unknown": false, "happened_at_day_unknown": true }
            """
        ), required: "The selected life event type id is invalid.", created: 200,
        names: ("life event", "life events"), isNested: false)
}
