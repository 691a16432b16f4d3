extension DunbarExamples {
    static let reports = #"""
        POST /posts/{id}/report key
        > /posts/1/report { "reason": "Hateful" }
        > /posts/1/report { "reason": "Harmful_or_Abusive", "details": "\"é\" 🎉\n" }
        > /posts/1/report { "reason": "Criminal_Activity" }
        > /posts/1/report { "reason": "Sexually_Explicit" }
        < 200 \#(message("Post reported"))
        """#
}
