extension MessengerExamples {
    static let blocks = """
        POST /users/{id}/block
        > /users/2/block {}
        < 204

        DELETE /users/{id}/block
        > /users/2/block
        < 204

        GET /me/blocks
        < 200 [{ "id": #2, "username": "bob", "display_name": "Bob" }]
        < 200 []
        """
}
