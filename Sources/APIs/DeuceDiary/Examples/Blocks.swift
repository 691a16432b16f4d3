extension DeuceDiaryExamples {
    private static let blockedUser = """
        {
          "id": "user_def456",
          "email": null,
          "firstName": "Jane" | null,
          "lastName": "Roe" | null,
          "username": "janeroe" | null,
          "profileImageUrl": null | "/uploads/user_def456-1700000000.jpg",
          "deuceCount": 7,
          "createdAt": "2025-02-01T10:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """

    static let blocks = """
        POST /api/users/{userId}/block addition: Blocks a user with whom the caller shares a group, or whose entries the caller sees.
        > /api/users/user_def456/block {}
        < 200 { "message": = "User blocked" }
        ! 400 You can't block yourself
        ! 404 User not found

        DELETE /api/users/{userId}/block addition: Removes a block if there is one, and succeeds either way.
        > /api/users/user_def456/block
        < 200 { "message": = "User unblocked" }

        GET /api/blocks addition: Returns the users whom the caller has blocked, the newest block first.
        < 200 [\(blockedUser)]
        """
}
