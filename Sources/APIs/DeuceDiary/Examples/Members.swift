extension DeuceDiaryExamples {
    static let members = """
        POST /api/groups/{groupId}/leave addition: Ends the caller's membership and the invites that they created; their entries stay.
        > /api/groups/\(groupID)/leave {}
        < 200 { "message": = "Left group" }
        ! 403 Not authorized
        ! 404 Group not found

        DELETE /api/groups/{groupId}/members/{userId} addition: Ends the membership of another user, with the invites that they created and those with which they joined; only admins may.
        > /api/groups/\(groupID)/members/user_def456
        < 200 { "message": = "Member removed" }
        ! 400 Use leave to remove yourself
        ! 403 Not authorized
        ! 404 Group not found
        ! 404 Member not found
        """
}
