extension DunbarExamples {
    package static let comment = """
        {
          "id": #1,
          "content": "Great post!",
          "postId": #1,
          "userId": #2,
          "createdAt": "2025-01-01T00:00:00.000Z",
          "user": \(sarah)
        }
        """

    static let comments = """
        POST /posts/{id}/comments key
        > /posts/1/comments { "content": "string" }
        > /posts/1/comments { "content": "é🎉" }
        < 201 \(comment)

        GET /posts/{id}/comments
        > /posts/1/comments
        > /posts/1/comments?limit=3&before=9
        < 200 [\(comment)]

        DELETE /comments/{id}
        > /comments/1
        < 200 \(message("Comment deleted"))
        """
}
