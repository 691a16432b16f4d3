extension GTSDExamples {
    static let recovery = #"""
        POST /auth/forgot-password open addition: Requests an e-mail with a token that sets a new password.
        > { "email": "anna@example.com" }
        < 200 \#(message("If an account exists with this email, you will receive password reset instructions."))

        POST /auth/reset-password open addition: Sets a new password with the token of an e-mail, which also verifies the address, and ends every session of the account.
        > { "token": "abc", "newPassword": "Secret-456" }
        < 200 \#(message("Password reset successfully"))
        ! 400 Invalid or expired reset token

        POST /auth/email addition: Requests an e-mail to another address, with a token that verifies it.
        > { "email": "anna@example.org", "password": "Secret-123" }
        < 200 \#(message("Verification email sent"))
        ! 403 Invalid password
        ! 403 Email address is not allowed here
        ! 409 User with this email already exists

        POST /auth/verify-email open addition: Gives an account the address to which the token was sent, verified.
        > { "token": "abc" }
        < 200 \#(message("Email verified successfully"))
        ! 400 Invalid or expired verification token
        ! 409 User with this email already exists
        """#
}
