extension MessengerExamples {
    package static let registered = #"{ "id": #1, "username": "alice" }"#

    package static let tokens = """
        {
          "access_token": "eyJ...",
          "refresh_token": "eyJ...",
          "token_type": = "Bearer",
          "expires_in": = 3600,
          "user_id": #1
        }
        """

    package static let refreshed = #"{ "access_token": "eyJ...", "token_type": = "Bearer", "expires_in": = 3600 }"#

    static let auth = #"""
        POST /auth/register open key: Creates an account.
        > { "username": "alice", "email": "alice@example.com", "password": "secret123" }
        > { "username": "älice \"b\"", "email": "a+b@example.com", "password": "p\\ss/word 🎉", + "display_name": "A" }
        < 201 \#(registered)
        ! 409 Username or email already taken

        POST /auth/login open: Starts a new session.
        > { "username": "alice", "password": "secret123" }
        > { "username": "alice", "password": "secret123", + "device_name": "Alice's iPhone" }
        < 200 \#(tokens)
        ! 401 Invalid credentials

        POST /auth/refresh open: Returns another access token.
        > { "refresh_token": "eyJ..." }
        < 200 \#(refreshed)
        ! 401 Invalid or expired refresh token

        POST /auth/logout open addition: Ends a session with its access tokens and sockets.
        > { "refresh_token": "eyJ..." }
        < 204

        GET /me: Returns the caller's own account.
        < 200 \#(myself)
        """#
}
