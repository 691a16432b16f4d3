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
        POST /posts/{id}/comments key: Comments on a post that the caller may see.
        > /posts/1/comments { "content": "string" }
        > /posts/1/comments { "content": "é🎉" }
        < 201 \(comment)
        ! 400 Text contains a word that is not allowed here
        ! 404 Post not found

        GET /posts/{id}/comments +limit +before: Returns the comments on a post that the caller may see, oldest first.
        > /posts/1/comments
        > /posts/1/comments?limit=3&before=9
        < 200 [\(comment)]
        ! 404 Post not found

        DELETE /comments/{id} addition: Deletes a comment of the caller's, a comment on a post of the caller's, or any comment if the caller is an admin.
        > /comments/1
        < 200 \(message("Comment deleted"))
        ! 403 Not authorized to delete this comment
        ! 404 Comment not found
        """
}
