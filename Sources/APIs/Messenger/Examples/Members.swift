extension MessengerExamples {
    static let members = """
        POST /chats/{id}/members key addition: Adds members; only the owner may.
        > /chats/5/members { "user_ids": [3, 4] }
        > /chats/5/members { "user_ids": [8, 9223372036854775807] }
        < 200 \(chat)
        ! 400 Unknown member_ids: 7, 9
        ! 400 Not a group chat
        ! 400 a group has at most 500 members
        ! 403 Only the owner can do this
        ! 404 Chat not found or access denied

        DELETE /chats/{id}/members/{userId} addition: Removes another member; only the owner may.
        > /chats/5/members/2
        < 204
        ! 400 Not a group chat
        ! 400 Use leave
        ! 403 Only the owner can do this
        ! 404 Chat not found or access denied
        ! 404 Member not found

        POST /chats/{id}/leave addition: Leaves a chat.
        > /chats/5/leave {}
        < 204
        ! 400 Not a group chat
        ! 404 Chat not found or access denied
        """
}
