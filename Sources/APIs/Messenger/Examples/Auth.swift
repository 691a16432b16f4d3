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
        > {
          "username": "bob",
          "email": "bob@example.com",
          "password": "secret123",
          + "accepted_terms": "2026-11",
          + "invitation_code": "K7QM-2XWA-9DHT"
        }
        < 201 \#(registered)
        ! 400 The terms of version 2026-11 must be accepted
        ! 400 Text contains a word that is not allowed here
        ! 403 Registration is closed
        ! 403 Registration needs an invitation code
        ! 403 Invitation code is not valid
        ! 403 Email address is not allowed here
        ! 403 Access from this network is not allowed
        ! 409 Username or email already taken

        POST /auth/login open: Starts a new session.
        > { "username": "alice", "password": "secret123" }
        > { "username": "alice", "password": "secret123", + "device_name": "Alice's iPhone" }
        < 200 \#(tokens)
        ! 401 Invalid credentials
        ! 403 Access from this network is not allowed

        POST /auth/refresh open: Returns another access token.
        > { "refresh_token": "eyJ..." }
        < 200 \#(refreshed)
        ! 401 Invalid or expired refresh token

        POST /auth/logout open addition: Ends a session with its access tokens and sockets.
        > { "refresh_token": "eyJ..." }
        < 204

        GET /me: Returns the caller's own account.
        < 200 \#(myself)

        GET /about open addition: Returns who runs the server, and on which terms.
        < 200 {
          "name": "Example Club" | null,
          "contact": "help@example.com" | null,
          "terms": "https://example.com/terms" | null,
          "privacy": "https://example.com/privacy" | null,
          "version": "2026-11" | null
        }
        """#
}
