extension DeuceDiaryExamples {
    static let members = """
        POST /api/groups/{groupId}/leave
        > /api/groups/\(groupID)/leave {}
        < 200 { "message": = "Left group" }

        DELETE /api/groups/{groupId}/members/{userId}
        > /api/groups/\(groupID)/members/user_def456
        < 200 { "message": = "Member removed" }
        """
}
