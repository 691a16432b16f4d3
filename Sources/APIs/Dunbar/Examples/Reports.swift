extension DunbarExamples {
    static let reports = #"""
        POST /posts/{id}/report key addition: Reports a post that the caller may see to the server's operator.
        > /posts/1/report { "reason": "Hateful" }
        > /posts/1/report { "reason": "Harmful_or_Abusive", "details": "\"é\" 🎉\n" }
        > /posts/1/report { "reason": "Criminal_Activity" }
        > /posts/1/report { "reason": "Sexually_Explicit" }
        < 200 \#(message("Post reported"))
        ! 400 You cannot report your own post
        ! 400 You have already reported this post
        ! 404 Post not found

        POST /users/{id}/report key addition: Reports a user to the server's operator.
        > /users/2/report { "reason": "Hateful" }
        > /users/2/report { "reason": "Harmful_or_Abusive", "details": "\"é\" 🎉\n" }
        < 200 \#(message("User reported"))
        ! 400 You cannot report yourself
        ! 400 You have already reported this user
        ! 404 User not found

        POST /comments/{id}/report key addition: Reports a comment that the caller may see to the server's operator.
        > /comments/1/report { "reason": "Hateful" }
        > /comments/1/report { "reason": "Harmful_or_Abusive", "details": "\"é\" 🎉\n" }
        < 200 \#(message("Comment reported"))
        ! 400 You cannot report your own comment
        ! 400 You have already reported this comment
        ! 404 Comment not found
        """#
}
