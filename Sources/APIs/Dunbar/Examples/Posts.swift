extension DunbarExamples {
    package static let post = """
        {
          "id": #1,
          "content": "Hello world",
          "media": ["\(pictures)/post1.jpg"],
          "userId": #1,
          "createdAt": "2025-01-01T00:00:00.000Z",
          "user": \(john)
        }
        """

    static let posts = #"""
        POST /posts key
        > { "content": "Hello world" }
        > { "content": "\r\n\t\u001fé🎉" }
        > form { "content": "Hello world" }
        > form { "content": "" }
        < 201 \#(post)

        GET /users/{id}/posts
        > /users/1/posts
        > /users/1/posts?limit=3&before=9
        < 200 [\#(post)]

        GET /posts/{id}
        > /posts/1
        > /posts/1?limit=3&before=9
        < 200 [\#(post)]

        GET /posts
        > /posts?userId=1
        > /posts?userId=1&limit=3&before=9
        < 200 [\#(post)]

        GET /feed
        >
        > /feed?limit=4&before=6
        < 200 [\#(post)]

        DELETE /posts/{id}
        > /posts/1
        < 200 \#(message("Post deleted"))
        """#
}
