extension DeuceDiaryExamples {
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
        < 200 [\(otherUser)]
        """
}
