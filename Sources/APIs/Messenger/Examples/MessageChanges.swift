extension MessengerExamples {
    static let messageChanges = #"""
        PUT /chats/{id}/messages/{msgId} addition: Replaces the text of a text message that the caller sent.
        > /chats/5/messages/99 { "content": "Hello?" }
        > /chats/5/messages/99 { "content": "\r\n\t\u001fé🎉" }
        < 200 { \#(sent), "edited_at": "2026-02-23T11:05:00Z" }
        ! 400 Only text messages can be changed
        ! 400 Text contains a word that is not allowed here
        ! 403 Not a member of this chat
        ! 403 Only the sender can change a message
        ! 403 You cannot message this user
        ! 404 Message not found

        DELETE /chats/{id}/messages/{msgId} addition: Deletes a message of any type that the caller sent, for every member, and with it their access to its file.
        > /chats/5/messages/99
        < 204
        ! 403 Not a member of this chat
        ! 403 Only the sender can change a message
        ! 404 Message not found

        GET /chats/{id}/changes addition: Returns the messages that were edited or deleted after a version of the chat, each once and as it is now.
        > /chats/5/changes
        > /chats/5/changes?after=11&limit=50
        < 200 {
          "version": 12,
          "is_complete": true,
          "changes": [{ "id": #99, "content": "Hey?" | null, "edited_at": "2026-02-23T11:05:00Z" | null }]
        }
        ! 400 Invalid after
        ! 403 Not a member of this chat

        SOCKET /ws
        < + {
          "type": "message_edited",
          "id": #99,
          "chat_id": #5,
          "content": "Hey?",
          "edited_at": "2026-02-23T11:05:00Z"
        }
        < + { "type": "message_deleted", "id": #99, "chat_id": #5 }
        """#
}
