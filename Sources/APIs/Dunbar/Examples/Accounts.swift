extension DunbarExamples {
    static let accounts = #"""
        POST /forgot-password open addition: Requests an e-mail with a token that sets a new password.
        > { "email": "s@tring" }
        > { "email": "é@x" }
        < 200 \#(message("If an account exists with this email, you will receive password reset instructions."))

        POST /reset-password open addition: Sets a new password with the token of an e-mail, which also verifies the address, and ends every session of the account.
        > { "token": "abc", "newPassword": "stringstring" }
        > { "token": "a-b_c", "newPassword": "p\\ss/word 🎉" }
        < 200 \#(message("Password has been reset"))
        ! 400 Invalid or expired reset token

        POST /account/password key addition: Changes the caller's password.
        > { "currentPassword": "string", "newPassword": "stringstring" }
        > { "currentPassword": "p\\ss/word 🎉", "newPassword": "P\\ss/word 🎉" }
        < 200 \#(message("Password changed"))
        ! 400 Invalid password

        POST /account/email addition: Requests an e-mail to another address, with a link that verifies it.
        > { "email": "s@tring", "password": "string" }
        < 200 \#(message("Verification email sent"))
        ! 400 Invalid password
        ! 400 Email already exists
        ! 403 Email address is not allowed here

        POST /account/delete addition: Deletes the caller's account with all its posts, comments, follows, requests, blocks, reports, files and sessions.
        > { "password": "string" }
        < 200 \#(message("Account deleted successfully"))
        ! 400 Invalid password
        ! 400 Cannot delete admin account through this endpoint
        """#
}
