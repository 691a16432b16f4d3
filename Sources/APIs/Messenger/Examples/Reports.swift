extension MessengerExamples {
    package static let report = #"{ "id": #1 }"#

    static let reports = #"""
        POST /reports key addition: Reports a user, a message or both to the operator.
        > { "user_id": 2, "reason": "spam", "details": "Every day" }
        > { "message_id": 99, "reason": "rude" }
        > { "user_id": 2, "message_id": 99, "reason": "é🎉", "details": "\r\n" }
        < 201 \#(report)
        ! 400 user_id or message_id required
        ! 404 Message not found
        ! 404 User not found
        """#
}
