extension DunbarExamples {
    static let accounts = #"""
        POST /forgot-password open
        > { "email": "s@tring" }
        > { "email": "é@x" }
        < 200 \#(message("If an account exists with this email, you will receive password reset instructions."))

        POST /reset-password open
        > { "token": "abc", "newPassword": "stringstring" }
        > { "token": "a-b_c", "newPassword": "p\\ss/word 🎉" }
        < 200 \#(message("Password has been reset"))

        POST /account/delete
        > { "password": "string" }
        < 200 \#(message("Account deleted successfully"))
        """#
}
