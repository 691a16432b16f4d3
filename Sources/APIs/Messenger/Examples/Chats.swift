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

    package static let peer =
        #"{ "id": #2, "username": "bob", "display_name": "Bob", "avatar_file_id": null | #42 }"#

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
        POST /chats key: Creates a chat.
        > { "type": "direct", "member_ids": [2] }
        > { "type": "group", "name": "Team Alpha", "member_ids": [2, 3, 4] }
        > { "type": "group", "name": "Team \"α\"", "member_ids": [2, 3, 9223372036854775807] }
        < 201 \#(created)
        < 200 { "id": #5, "type": = "existing" }
        ! 400 Unknown member_ids: 7, 9
        ! 400 direct chat requires exactly one other member_id
        ! 400 name required for group chats
        ! 400 a group has at most 500 members
        ! 400 Text contains a word that is not allowed here
        ! 403 You cannot message this user

        GET /chats +limit +before +include: Returns the caller's chats, ordered by their newest message, newest first.
        >
        > /chats?limit=20&before=5
        > /chats?include=unread
        > /chats?include=unread%2C%20x%26y
        > /chats?include=peer
        > /chats?include=newest
        > /chats?include=muted
        < 200 [\#(chatSummary)]
        < 200 []
        < 200 including unread [{ \#(row), + "unread_count": 3 }]
        < 200 including peer [{ \#(row), + "peer": \#(peer) | null }]
        < 200 including newest [{ \#(row), + "newest_message": \#(message) | null }]
        < 200 including muted [{ \#(row), + "mute": null | \#(mute) }]

        GET /chats/{id}: Returns a chat.
        > /chats/5
        < 200 \#(chat)
        ! 404 Chat not found or access denied
        """#
}
