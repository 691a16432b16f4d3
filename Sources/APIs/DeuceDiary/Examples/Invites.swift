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
          "groupId": "\(groupID)",
          "inviteLink": "https://deucediary.com/join/\(inviteID)",
          "createdBy": "user_abc123",
          "expiresAt": "2025-06-17T08:00:00.000Z",
          "createdAt": "2025-06-10T08:00:00.000Z"
        }
        """

    static let invites = """
        POST /api/groups/{groupId}/invite key: Creates a link with which any number of users may join, for 7 days.
        > /api/groups/\(groupID)/invite {}
        < 200 \(createdInvite)
        ! 400 Invite limit reached
        ! 403 Not authorized

        POST /api/join/{inviteId}: Accepts an invite.
        > /api/join/\(inviteID) {}
        < 200 { "group": \(group), ? "message": = "Already a member of this group" }
        ! 400 Invalid or expired invite

        GET /join/{inviteId} open: Sends a browser to the app.
        > /join/\(inviteID)
        < 302

        GET /api/groups/preview/{inviteId} open addition: Returns what an invite leads to.
        > /api/groups/preview/\(inviteID)
        < 200 \(preview)
        ! 404 Invite not found or expired

        GET /api/groups/{groupId}/invites addition: Returns the invites of a group, newest first: a member sees their own, an admin sees all.
        > /api/groups/\(groupID)/invites
        > /api/groups/\(groupID)/invites?limit=2&before=\(inviteID)
        < 200 [\(groupInvite)]
        ! 400 Invalid cursor
        ! 403 Not authorized

        DELETE /api/invites/{inviteId} addition: Revokes an invite.
        > /api/invites/\(inviteID)
        < 200 { "message": = "Invite revoked" }
        ! 403 Not authorized
        ! 404 Invite not found
        """
}
