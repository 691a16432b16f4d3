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
        POST /posts key: Publishes a post.
        > { "content": "Hello world" }
        > { "content": "\r\n\t\u001fé🎉" }
        > form { "content": "Hello world" }
        > form { "content": "" }
        < 201 \#(post)
        ! 400 Only image and video files are allowed!
        ! 400 Image is damaged or incomplete
        ! 400 Image too large (max 40 megapixels)
        ! 400 Text contains a word that is not allowed here

        GET /users/{id}/posts +limit +before: Returns a user's posts, newest first.
        > /users/1/posts
        > /users/1/posts?limit=3&before=9
        < 200 [\#(post)]

        GET /posts/{id} +limit +before: Returns a user's posts, newest first; the id is the user's.
        > /posts/1
        > /posts/1?limit=3&before=9
        < 200 [\#(post)]

        GET /posts +limit +before: Returns a user's posts, newest first.
        > /posts?userId=1
        > /posts?userId=1&limit=3&before=9
        < 200 [\#(post)]

        GET /feed +limit +before: Returns the caller's own posts and those of the users whom the caller follows, newest first.
        >
        > /feed?limit=4&before=6
        < 200 [\#(post)]

        DELETE /posts/{id}: Deletes a post of the caller's, or any post if the caller is an admin, with its comments and files.
        > /posts/1
        < 200 \#(message("Post deleted"))
        ! 403 Not authorized to delete this post
        ! 404 Post not found
        """#
}
