extension DunbarExamples {
    static let blocks = """
        POST /users/{id}/block: Blocks a user.
        > /users/2/block {}
        < 200 \(message("User blocked"))
        ! 400 Cannot block yourself
        ! 404 User not found

        DELETE /users/{id}/block: Removes a block.
        > /users/2/block
        < 200 \(message("User unblocked"))
        ! 404 User not found

        GET /blocks: Returns the users whom the caller has blocked, newest block first.
        >
        > /blocks?limit=4&before=6
        < 200 [\(sarahsProfile)]
        """
}
