extension DunbarExamples {
    static let blocks = """
        POST /users/{id}/block addition: Blocks a user.
        > /users/2/block {}
        < 200 \(message("User blocked"))
        ! 400 Cannot block yourself
        ! 404 User not found

        DELETE /users/{id}/block addition: Removes a block.
        > /users/2/block
        < 200 \(message("User unblocked"))
        ! 404 User not found

        GET /blocks addition: Returns the users whom the caller has blocked, newest block first.
        >
        > /blocks?limit=4&before=6
        > /blocks?include=relationship
        < 200 [\(sarahsProfile)]
        < 200 including relationship [\(relatedSarah)]
        """
}
