extension MessengerExamples {
    package static let receipt = """
        { "user_id": #2, "last_read_message_id": #99, "read_at": "2026-02-23T11:02:00Z" }
        """

    static let receipts = """
        POST /chats/{id}/messages/{msgId}/read addition: Marks everything up to this message as read.
        > /chats/5/messages/99/read {}
        < 204
        ! 403 Not a member of this chat
        ! 404 Message not found

        GET /chats/{id}/receipts addition: Returns the receipt of every member who has read something, by user id.
        > /chats/5/receipts
        < 200 [\(receipt)]
        < 200 []
        ! 403 Not a member of this chat

        SOCKET /ws
        < + { "type": "read", "chat_id": #5, "user_id": #2, "message_id": #99, "read_at": "2026-02-23T11:05:00Z" }
        """
}
