extension DunbarExamples {
    static let blocks = """
        POST /users/{id}/block
        > /users/2/block {}
        < 200 \(message("User blocked"))

        DELETE /users/{id}/block
        > /users/2/block
        < 200 \(message("User unblocked"))

        GET /blocks
        >
        > /blocks?limit=4&before=6
        < 200 [\(sarahsProfile)]
        """
}
