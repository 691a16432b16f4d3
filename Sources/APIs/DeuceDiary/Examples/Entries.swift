extension DeuceDiaryExamples {
    static let entryMembers = """
          "id": "\(entryID)",
          "userId": "user_abc123",
          "groupId": "\(groupID)",
          "location": "Home",
          "thoughts": "A throne worthy of a king",
          "loggedAt": "2025-06-10T08:00:00.000Z",
          "createdAt": "2025-06-10T08:01:00.000Z"
        """

    package static let entry = "{ \(entryMembers) }"

    static let entries = """
        POST /api/deuces key
        > {
          "groupIds": ["\(groupID)"],
          "location": "Home",
          "thoughts": "A throne worthy of a king",
          "loggedAt": "2025-06-10T08:00:00.000Z"
        }
        > { "groupIds": ["\(groupID)", "other"], "location": "Home", "thoughts": "" }
        > { "groupIds": ["\(groupID)"], "location": \(odd), "thoughts": \(odd) }
        < 200 { "entries": [\(entry)], "count": 1 }

        GET /api/deuces
        >
        > /api/deuces?groupId=\(groupID)&limit=2&before=\(entryID)
        < 200 [{ \(entryMembers), "user": \(user), "reactions": [\(reaction)] }]

        DELETE /api/deuces/{entryId}
        > /api/deuces/\(entryID)
        < 200 { "message": = "Entry deleted" }
        """
}
