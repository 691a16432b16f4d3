extension DeuceDiaryExamples {
    static let export = """
        GET /api/auth/user/export addition: Returns everything that the server stores about the caller, with Content-Disposition: attachment.
        < 200 {
          "exportedAt": "2025-06-10T12:00:00.000Z",
          "user": \(user),
          "groups": [
            {
              "id": "\(groupID)",
              "name": "Throne Room",
              "role": "admin" | "member",
              "joinedAt": "2025-06-01T12:00:00.000Z"
            }
          ],
          "entries": [{ \(entryMembers) }],
          "reactions": [{ \(reactionMembers) }],
          "locations": [\(otherLocation)]
        }
        """
}
