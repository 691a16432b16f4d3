extension DeuceDiaryExamples {
    static let reactionMembers = """
          "id": #1,
          "entryId": "\(entryID)",
          "userId": "user_abc123",
          "emoji": "💩",
          "createdAt": "2025-06-10T09:00:00.000Z"
        """

    package static let reaction = "{ \(reactionMembers) }"

    static let reactions = """
        POST /api/entries/{entryId}/reactions key: Adds a reaction.
        > /api/entries/\(entryID)/reactions { "emoji": "💩" }
        > /api/entries/\(entryID)/reactions { "emoji": "👨‍👩‍👧‍👦" }
        < 200 \(reaction)
        ! 400 You've already reacted with this emoji
        ! 403 Not authorized to react to this entry
        ! 404 Entry not found

        DELETE /api/entries/{entryId}/reactions: Removes the caller's reaction if there is one.
        > /api/entries/\(entryID)/reactions { "emoji": "💩" }
        < 200 { "message": = "Reaction removed" }

        GET /api/entries/{entryId}/reactions +limit +after: Returns the reactions, oldest first.
        > /api/entries/\(entryID)/reactions
        > /api/entries/\(entryID)/reactions?limit=2&after=7
        < 200 [{ \(reactionMembers), "user": \(user) }]
        ! 403 Not authorized to access this entry
        ! 404 Entry not found
        """
}
