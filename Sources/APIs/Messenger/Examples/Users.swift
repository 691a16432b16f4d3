extension MessengerExamples {
    package static let user = """
        { "id": #2, "username": "bob", "display_name": "Bob", "bio": null | "Hi", + "avatar_file_id": null | #42 }
        """

    package static let summary = #"{ "id": #1, "username": "alice", "display_name": "Alice" }"#

    static let users = """
        GET /users/{id}
        > /users/2
        < 200 \(user)

        GET /users/search
        > /users/search?q=ali
        > /users/search?q=50%25%20%26%20a%2Bb%3Dc%3F%2F%23%C3%A9
        < 200 [\(summary)]
        < 200 []
        """
}
