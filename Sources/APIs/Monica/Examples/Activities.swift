extension MonicaExamples {
    package static let activity = "\(activity("null", "null")) | \(activity("#1", activityType))"

    private static func activity(_ typeID: String, _ type: String) -> String {
        """
        {
          "id": #1,
          + "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6077",
          + "object": = "activity",
          + "activity_type_id": \(typeID),
          + "summary": "Had dinner",
          + "description": null | "At home",
          + "happened_at": "2024-10-20",
          + "activity_type": \(type),
          + "attendees": { "total": 1, "contacts": [\(shortContact)] },
          + "contacts": [\(shortContact)],
          + "emotions": [],
          + "url": "https://monica.example/api/activities/1",
          + "account": \(owner),
          + \(times)
        }
        """
    }

    static let activities = resource(
        "activities", "an activity", activity, lists: "?contact_id=5&page=2&limit=3&sort=happened_at",
        requests: (
            new: """
            { "summary": "x", "description": "y", "happened_at": "2024-10-20", "contacts": [1, 2],
              "activity_type_id": 3 }
            """,
            changed: """
            { "summary": "x", "description": null | "y", "happened_at": "2024-10-20", "contacts": [1],
              "activity_type_id": null | 3 }
            """
        ), required: "The selected activity type id is invalid.", isShown: true)
}
