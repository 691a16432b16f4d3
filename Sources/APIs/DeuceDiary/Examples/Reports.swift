extension DeuceDiaryExamples {
    static let reports = """
        POST /api/users/{userId}/report key addition: Reports a user with whom the caller shares a group, or whose entries the caller sees, to the server's operator.
        > /api/users/user_def456/report { "reason": "rude" }
        > /api/users/user_def456/report { "reason": \(odd), "details": \(odd) }
        < 200 { "message": = "User reported" }
        ! 400 You can't report yourself
        ! 400 You've already reported this user
        ! 404 User not found

        POST /api/entries/{entryId}/report key addition: Reports an entry of the caller's groups to the server's operator.
        > /api/entries/\(entryID)/report { "reason": "rude" }
        > /api/entries/\(entryID)/report { "reason": \(odd), "details": \(odd) }
        < 200 { "message": = "Entry reported" }
        ! 400 You can't report your own entry
        ! 400 You've already reported this entry
        ! 403 Not authorized to access this entry
        ! 404 Entry not found
        """
}
