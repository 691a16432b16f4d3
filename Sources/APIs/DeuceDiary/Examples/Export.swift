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

        GET /about open addition: Returns who runs the server, and on which terms.
        < 200 {
          "name": "Example Club" | null,
          "contact": "help@example.com" | null,
          "terms": "https://example.com/terms" | null,
          "privacy": "https://example.com/privacy" | null,
          "version": "2026-11" | null
        }
        """
}
