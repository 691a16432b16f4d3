extension MessengerExamples {
    static let blocks = """
        POST /users/{id}/block addition: Blocks a user.
        > /users/2/block {}
        < 204
        ! 400 Cannot block yourself
        ! 404 User not found

        DELETE /users/{id}/block addition: Removes the caller's block.
        > /users/2/block
        < 204
        ! 400 Cannot block yourself
        ! 404 User not found

        GET /me/blocks addition: Returns the users whom the caller has blocked, by username.
        < 200 [{ "id": #2, "username": "bob", "display_name": "Bob" }]
        < 200 []
        """
}
