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
        GET /api/auth/user
        < 200 \(user)

        PUT /api/auth/user
        > { "username": "newname" }
        > { "username": "new_Name 7" }
        < 200 \(user)

        POST /api/auth/user/profile-picture key
        > form
        < 200 \(user)

        DELETE /api/auth/user
        < 200 { "message": = "Account deleted" }
        """
}
