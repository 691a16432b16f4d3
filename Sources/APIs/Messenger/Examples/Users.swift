extension MessengerExamples {
    package static let user = """
        { "id": #2, "username": "bob", "display_name": "Bob", "bio": null | "Hi", + "avatar_file_id": null | #42 }
        """

    package static let summary = #"{ "id": #1, "username": "alice", "display_name": "Alice" }"#

    static let users = """
        GET /users/{id}: Returns a user.
        > /users/2
        < 200 \(user)
        ! 404 User not found

        GET /users/search: Returns at most 20 users, by username.
        > /users/search?q=ali
        > /users/search?q=50%25%20%26%20a%2Bb%3Dc%3F%2F%23%C3%A9
        < 200 [\(summary)]
        < 200 []
        """
}
