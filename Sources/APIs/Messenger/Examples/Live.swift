extension MessengerExamples {
    static let live = """
        SOCKET /ws
        > { "type": "auth", "token": "<access_token>" }
        < { "type": "auth_ok", "user_id": #1, +? "chats": true }
        < { "type": "error", "message": "Invalid or expired access token", +? "chat_id": #5 }
        > { "type": "subscribe", "chat_id": 5 }
        < { "type": "subscribed", "chat_id": #5 }
        < {
          "type": "message",
          "id": #99,
          "chat_id": #5,
          "sender_id": #2,
          "content": "Hey!",
          "message_type": "text" | "file" | "voice",
          + "file_id": null | #42,
          "created_at": "2026-02-23T11:05:00Z"
        }
        > { "type": "ping" }
        < { "type": "pong" }

        > { "type": "auth", "token": "<access_token>", +? "chats": true }
        < + { "type": "chat_added", "chat_id": #5 }
        < + { "type": "chat_removed", "chat_id": #5 }
        < + { "type": "chats_changed" }
        > { "type": "subscribe", "chat_id": 5, +? "since": 98 }
        > { "type": "subscribe", "chat_id": 5, +? "since": 0 }
        > + { "type": "unsubscribe", "chat_id": 5 }
        > + { "type": "typing", "chat_id": 5 }
        < + { "type": "unsubscribed", "chat_id": #5 }
        < + { "type": "resync", "chat_id": #5 }
        < + { "type": "typing", "chat_id": #5, "user_id": #2 }
        < + { "type": "member_added", "chat_id": #5, "user_id": #2 }
        < + { "type": "member_removed", "chat_id": #5, "user_id": #2 }
        """
}
