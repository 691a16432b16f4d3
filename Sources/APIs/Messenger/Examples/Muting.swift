extension MessengerExamples {
    package static let mute = #"{ "until": null | "2026-02-24T08:00:00Z" }"#

    static let muting = """
        POST /chats/{id}/mute addition: Mutes a chat for the caller.
        > /chats/5/mute {}
        > /chats/5/mute { "until": "2026-02-24T08:00:00Z" }
        < 204
        ! 400 until must be a time in the future
        ! 403 Not a member of this chat

        DELETE /chats/{id}/mute addition: Has the caller's devices notified of the chat again.
        > /chats/5/mute
        < 204
        ! 403 Not a member of this chat
        """
}
