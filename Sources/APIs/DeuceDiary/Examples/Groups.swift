extension DeuceDiaryExamples {
    private static let groupMembers = """
          "id": "\(groupID)",
          "name": "Throne Room",
          "description": "Optional group description" | null,
          "createdBy": "user_abc123",
          "createdAt": "2025-06-01T12:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        """

    package static let group = "{ \(groupMembers) }"

    static let groups = """
        POST /api/groups key: Creates a group, with the caller as its admin.
        > { "name": "Throne Room", "description": "Optional group description" }
        > { "name": "Throne Room" }
        > { "name": \(oddName), "description": \(odd) }
        < 200 \(group)
        ! 400 Text contains a word that is not allowed here

        GET /api/groups +limit +before: Returns the caller's groups, ordered by their newest entry, newest first; groups without entries come last.
        >
        > /api/groups?limit=20&before=\(groupID)
        < 200 [
          {
            \(groupMembers),
            "memberCount": 2,
            "entryCount": 14,
            "lastActivity": "2025-06-10T08:00:00.000Z" | null
          }
        ]
        ! 400 Invalid cursor

        GET /api/groups/{groupId} +limit +before: Returns a group with its members and entries.
        > /api/groups/\(groupID)
        > /api/groups/\(groupID)?limit=2&before=\(entryID)
        < 200 {
          "group": \(group),
          "members": [
            {
              "id": #1,
              "groupId": "\(groupID)",
              "userId": "user_abc123",
              "role": "admin" | "member",
              "joinedAt": "2025-06-01T12:00:00.000Z",
              "user": \(user),
              "personalRecord": { "date": "2025-05-20", "count": #5 } | null
            }
          ],
          "entries": [{ \(entryMembers), "user": \(user) }]
        }
        ! 400 Invalid cursor
        ! 403 Not authorized
        ! 404 Group not found
        """
}
