extension MessengerExamples {
    static let messageChanges = #"""
        PUT /chats/{id}/messages/{msgId}
        > /chats/5/messages/99 { "content": "Hello?" }
        > /chats/5/messages/99 { "content": "\r\n\t\u001fé🎉" }
        < 200 { \#(sent), "edited_at": "2026-02-23T11:05:00Z" }

        DELETE /chats/{id}/messages/{msgId}
        > /chats/5/messages/99
        < 204

        SOCKET /ws
        < {
          "type": "message_edited",
          "id": #99,
          "chat_id": #5,
          "content": "Hey?",
          "edited_at": "2026-02-23T11:05:00Z"
        }
        < { "type": "message_deleted", "id": #99, "chat_id": #5 }
        """#
}
