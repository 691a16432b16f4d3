extension MessengerExamples {
    static let members = """
        POST /chats/{id}/members key
        > /chats/5/members { "user_ids": [3, 4] }
        > /chats/5/members { "user_ids": [8, 9223372036854775807] }
        < 200 \(chat)

        DELETE /chats/{id}/members/{userId}
        > /chats/5/members/2
        < 204

        POST /chats/{id}/leave
        > /chats/5/leave {}
        < 204
        """
}
