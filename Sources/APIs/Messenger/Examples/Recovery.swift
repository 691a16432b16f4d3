extension MessengerExamples {
    static let recovery = #"""
        POST /auth/forgot-password open addition: Requests an e-mail with a token that sets a new password.
        > { "email": "alice@example.com" }
        < 204

        POST /auth/reset-password open addition: Sets a new password with the token of an e-mail, and ends every session of the account, with its sockets and devices.
        > { "token": "abc", "new_password": "another one" }
        > { "token": "a-b_c", "new_password": "p\\ss/word 🎉" }
        < 204
        ! 400 Invalid or expired reset token

        POST /me/email addition: Requests an e-mail to another address, with a token that verifies it.
        > { "email": "alice@example.org", "password": "secret123" }
        < 204
        ! 403 Invalid password
        ! 403 Email address is not allowed here
        ! 409 Username or email already taken

        POST /auth/verify-email open addition: Gives an account the address to which the token was sent.
        > { "token": "abc" }
        < 204
        ! 400 Invalid or expired verification token
        ! 409 Username or email already taken
        """#
}
