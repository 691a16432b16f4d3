extension DeuceDiaryExamples {
    package static let user = """
        {
          "id": "user_abc123",
          "email": "john@example.com" | null,
          "firstName": "John" | null,
          "lastName": "Doe" | null,
          "username": "johndoe" | null,
          "profileImageUrl": "/uploads/user_abc123-1700000000.jpg" | null,
          "deuceCount": 42,
          "createdAt": "2025-01-15T10:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """

    package static let otherUser = """
        {
          "id": "user_def456",
          "email": null,
          "firstName": "Jane",
          "lastName": "Roe",
          "username": "janeroe",
          "profileImageUrl": null,
          "deuceCount": 7,
          "createdAt": "2025-02-01T10:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """

    static let users = """
        GET /api/auth/user: Returns the caller's own account.
        < 200 \(user)

        PUT /api/auth/user: Sets the username.
        > { "username": "newname" }
        > { "username": "new_Name 7" }
        < 200 \(user)
        ! 400 Username already taken
        ! 400 Text contains a word that is not allowed here

        POST /api/auth/user/profile-picture key: Uploads up to 5 MiB of JPEG, PNG, GIF, WebP or HEIC, which become a JPEG of 200 by 200 pixels.
        > form
        < 200 \(user)
        ! 400 No file uploaded
        ! 400 Only image files are allowed
        ! 400 Failed to upload profile picture

        DELETE /api/auth/user addition: Deletes the caller's account with everything that belongs to it.
        < 200 { "message": = "Account deleted" }
        """
}
