extension DeuceDiaryExamples {
    static let live = """
        SOCKET /ws?token=a.b.c
        > { "type": "join_group", "groupId": "\(groupID)" }
        < {
          "type": "deuce_logged",
          "message": "johndoe logged a new deuce",
          "entry": { \(entryMembers), "user": \(user) },
          "userId": "user_abc123"
        }

        > + { "type": "auth", "token": "a.b.c" }
        < + { "type": "error", "message": "Not a member of this group" }
        """
}
