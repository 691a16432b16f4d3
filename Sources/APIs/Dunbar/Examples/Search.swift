extension DunbarExamples {
    static let search = """
        GET /users/search +include: Returns the first 20 users, by username, whose username or display name contains the text, regardless of case.
        > /users/search?q=query
        > /users/search?q=50%25%20%26%20a%2Bb%3Dc%3F%2F%23%C3%A9
        > /users/search?q=query&include=relationship
        < 200 [\(user)]
        < 200 including relationship [\(relatedUser)]
        """
}
