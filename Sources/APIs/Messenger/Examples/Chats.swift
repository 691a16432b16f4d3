extension MessengerExamples {
    package static let created = #"{ "id": #5, "type": = "created" }"#

    private static let row = """
          "id": #5,
          "type": "direct" | "group",
          "name": null | "Team",
          "updated_at": "2026-02-23T11:00:00Z",
          "last_message": "Hey there!" | null
        """
    package static let chatSummary = "{ \(row) }"

    package static let chat = """
        {
          "id": #5,
          "type": "group" | "direct",
          "name": "Team Alpha" | null,
          "owner_id": #1,
          "created_at": "2026-02-23T10:00:00Z",
          "members": [
            { "id": #1, "username": "alice", "display_name": "Alice", "role": "owner" | "member" },
            { "id": #2, "username": "bob",   "display_name": "Bob",   "role": "member" | "owner" }
          ]
        }
        """

    static let chats = #"""
        POST /chats key
        > { "type": "direct", "member_ids": [2] }
        > { "type": "group", "name": "Team Alpha", "member_ids": [2, 3, 4] }
        > { "type": "group", "name": "Team \"α\"", "member_ids": [2, 3, 9223372036854775807] }
        < 201 \#(created)
        < 200 { "id": #5, "type": = "existing" }

        GET /chats
        >
        > /chats?limit=20&before=5
        > /chats?include=unread
        > /chats?include=unread%2C%20x%26y
        < 200 [\#(chatSummary)]
        < 200 []
        < 200 including unread [{ \#(row), "unread_count": 3 }]

        GET /chats/{id}
        > /chats/5
        < 200 \#(chat)
        """#
}
