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
        POST /api/deuces key: Logs an entry into one or more groups, into all of them or none.
        > {
          "groupIds": ["\(groupID)"],
          "location": "Home",
          "thoughts": "A throne worthy of a king",
          "loggedAt": "2025-06-10T08:00:00.000Z"
        }
        > { "groupIds": ["\(groupID)", "other"], "location": "Home", "thoughts": "" }
        > { "groupIds": ["\(groupID)"], "location": \(odd), "thoughts": \(odd) }
        < 200 { "entries": [\(entry)], "count": 1 }
        ! 400 Cannot log a deuce in the future
        ! 400 Text contains a word that is not allowed here
        ! 403 Not authorized for group 6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071

        GET /api/deuces addition: Returns the entries of all the caller's groups, or of one group, newest first.
        >
        > /api/deuces?groupId=\(groupID)&limit=2&before=\(entryID)
        < 200 [{ \(entryMembers), "user": \(user), "reactions": [\(reaction)] }]
        ! 400 Invalid cursor
        ! 403 Not authorized
        ! 404 Group not found

        DELETE /api/deuces/{entryId} addition: Removes an entry of the caller's from one group, with its reactions.
        > /api/deuces/\(entryID)
        < 200 { "message": = "Entry deleted" }
        ! 403 Not authorized to delete this entry
        ! 404 Entry not found
        """
}
