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
        POST /auth/register open key
        > { "username": "alice", "email": "alice@example.com", "password": "secret123" }
        > { "username": "älice \"b\"", "email": "a+b@example.com", "password": "p\\ss/word 🎉", "display_name": "A" }
        < 201 \#(registered)

        POST /auth/login open
        > { "username": "alice", "password": "secret123" }
        < 200 \#(tokens)

        POST /auth/refresh open
        > { "refresh_token": "eyJ..." }
        < 200 \#(refreshed)

        POST /auth/logout open
        > { "refresh_token": "eyJ..." }
        < 204

        GET /me
        < 200 \#(myself)
        """#
}
