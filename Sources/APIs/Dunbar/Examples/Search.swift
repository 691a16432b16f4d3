extension DunbarExamples {
    static let search = """
        GET /users/search
        > /users/search?q=query
        > /users/search?q=50%25%20%26%20a%2Bb%3Dc%3F%2F%23%C3%A9
        < 200 [\(user)]
        """
}
