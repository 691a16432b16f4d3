extension DunbarExamples {
    private static let userMembers = """
          "id": #1,
          "username": "jdoe",
          "displayName": "John Doe",
          "bio": "Hello world" | null,
          "photo": "\(pictures)/profile.jpg" | null,
          "isPrivate": true,
          "createdAt": "2025-01-01T00:00:00.000Z"
        """
    package static let user = "{ \(userMembers) }"

    private static let sarahsMembers = """
          "id": #2,
          "username": "sarah",
          "displayName": "Sarah Smith",
          "bio": null | "Hello world",
          "photo": "\(pictures)/sarah.jpg" | null,
          "isPrivate": true,
          "createdAt": "2025-01-01T00:00:00.000Z"
        """
    static let sarahsProfile = "{ \(sarahsMembers) }"

    /// The members of a user that the word `relationship` asks a list for.
    private static let relationship = #"+ "isFollowing": false, + "isPending": false"#
    static let relatedUser = "{ \(userMembers), \(relationship) }"
    static let relatedSarah = "{ \(sarahsMembers), \(relationship) }"

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
        GET /users/{id} open: Returns any user's profile.
        > /users/1
        < 200 \#(related(user))
        ! 404 User not found

        // An admin who changes another's profile sees what everybody sees.
        PATCH /users/{id}: Changes the caller's own profile, or any profile if the caller is an admin.
        > /users/1 { "displayName": "string", "bio": "string", "isPrivate": true }
        > /users/1 { "displayName": "N \"α\"", "bio": "", "isPrivate": false }
        < 200 \#(account) | \#(user)
        ! 400 Text contains a word that is not allowed here
        ! 403 Not authorized to update this profile
        ! 404 User not found

        POST /users/{id}/photo key: Uploads up to 50 MiB of JPEG, PNG, GIF, WebP or HEIC, which become a JPEG of at most 1024 by 1024 pixels without metadata.
        > /users/1/photo form
        < 200 \#(account) | \#(user)
        ! 400 Only image files are allowed
        ! 400 Image is damaged or incomplete
        ! 400 Image too large (max 40 megapixels)
        ! 403 Not authorized to update this profile
        ! 404 User not found
        """#
}
