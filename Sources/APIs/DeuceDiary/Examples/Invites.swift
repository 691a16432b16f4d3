extension DeuceDiaryExamples {
    package static let createdInvite = """
        { "inviteLink": "https://deucediary.com/join/\(inviteID)", "id": "\(inviteID)" }
        """

    package static let preview = """
        { "name": "Throne Room", "memberCount": 2, "deuceCount": 1, "expiresAt": "2025-06-17T08:00:00.000Z" }
        """

    package static let groupInvite = """
        {
          "id": "\(inviteID)",
          "inviteLink": "https://deucediary.com/join/\(inviteID)",
          "createdBy": "user_abc123",
          "expiresAt": "2025-06-17T08:00:00.000Z",
          "createdAt": "2025-06-10T08:00:00.000Z"
        }
        """

    static let invites = """
        POST /api/groups/{groupId}/invite key
        > /api/groups/\(groupID)/invite {}
        < 200 \(createdInvite)

        POST /api/join/{inviteId}
        > /api/join/\(inviteID) {}
        < 200 { "group": \(group), ? "message": = "Already a member of this group" }

        GET /join/{inviteId} open
        > /join/\(inviteID)
        < 302

        GET /api/groups/preview/{inviteId} open
        > /api/groups/preview/\(inviteID)
        < 200 \(preview)

        GET /api/groups/{groupId}/invites
        > /api/groups/\(groupID)/invites
        > /api/groups/\(groupID)/invites?limit=2&before=\(inviteID)
        < 200 [\(groupInvite)]

        DELETE /api/invites/{inviteId}
        > /api/invites/\(inviteID)
        < 200 { "message": = "Invite revoked" }
        """
}
