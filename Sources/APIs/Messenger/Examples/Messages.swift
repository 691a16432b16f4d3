extension MessengerExamples {
    private static let messageKinds = #""text" | "file" | "voice""#
    static let addressed = #""id": #99, "chat_id": #5, "sender_id": #1, "content": "Hello!""#

    /// A message as lists and frames have it.
    private static let listed = """
        \(addressed),
          "message_type": \(messageKinds),
          + "file_id": null | #42,
          "created_at": "2026-02-23T11:01:00Z"
        """
    package static let message = "{ \(listed) }"

    /// A message as it is answered to its sender.
    static let sent = """
        "id": #99,
          "chat_id": #5,
          "sender_id": #1,
          "content": "Hello!",
          "type": \(messageKinds),
          + "file_id": null | #42,
          "created_at": "2026-02-23T11:01:00Z"
        """

    static let messages = #"""
        POST /chats/{id}/messages key: Sends a message.
        > /chats/5/messages { "content": "Hello!", "type": "text" }
        > /chats/5/messages { "content": "", "type": "file", "file_id": 42 }
        > /chats/5/messages { "content": "caption", "type": "voice", "file_id": 42 }
        > /chats/5/messages { "content": "\r\n\t\u001fé🎉", "type": "text" }
        < 201 { \#(sent) }
        ! 400 content or file_id required
        ! 400 Text contains a word that is not allowed here
        ! 403 Not a member of this chat
        ! 403 You cannot message this user
        ! 404 File not found

        GET /chats/{id}/messages +after +include: Returns a page of the history, newest first.
        > /chats/5/messages
        > /chats/5/messages?limit=50&before=99
        > /chats/5/messages?limit=2&after=118
        > /chats/5/messages?limit=50&include=edited
        > /chats/5/messages?include=file
        < 200 [\#(message)]
        < 200 []
        < 200 including edited [{ \#(listed), + "edited_at": "2026-02-23T11:05:00Z" | null }]
        < 200 including file [{
          \#(listed),
          + "file": \#(fileDescription) | null
        }]
        ! 400 before and after cannot be combined
        ! 403 Not a member of this chat
        """#
}
