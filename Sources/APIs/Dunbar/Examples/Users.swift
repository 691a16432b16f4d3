extension DunbarExamples {
    package static let user = """
        {
          "id": #1,
          "username": "jdoe",
          "displayName": "John Doe",
          "bio": "Hello world" | null,
          "photo": "\(pictures)/profile.jpg" | null,
          "isPrivate": true,
          "createdAt": "2025-01-01T00:00:00.000Z"
        }
        """

    static let sarahsProfile = """
        {
          "id": #2,
          "username": "sarah",
          "displayName": "Sarah Smith",
          "bio": null | "Hello world",
          "photo": "\(pictures)/sarah.jpg" | null,
          "isPrivate": true,
          "createdAt": "2025-01-01T00:00:00.000Z"
        }
        """

    package static let john = summary(1, "jdoe", "John Doe", "profile")
    package static let sarah = summary(2, "sarah", "Sarah Smith", "sarah")
    package static let alex = summary(3, "alex", "Alex Johnson", "alex")

    private static func summary(_ id: Int, _ username: String, _ name: String, _ photo: String) -> String {
        """
        {
          "id": #\(id),
          "username": "\(username)",
          "displayName": "\(name)",
          "photo": "\(pictures)/\(photo).jpg" | null
        }
        """
    }

    static let users = #"""
        GET /users/{id} open
        > /users/1
        < 200 \#(related(user))

        // An admin who changes another's profile sees what everybody sees.
        PATCH /users/{id}
        > /users/1 { "displayName": "string", "bio": "string", "isPrivate": true }
        > /users/1 { "displayName": "N \"α\"", "bio": "", "isPrivate": false }
        < 200 \#(account) | \#(user)

        POST /users/{id}/photo key
        > /users/1/photo form
        < 200 \#(account) | \#(user)
        """#
}
