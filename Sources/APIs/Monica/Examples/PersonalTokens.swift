extension MonicaExamples {
    package static let personalToken = """
        {
          "id": #1,
          "object": = "token",
          "name": "Phone",
          "dialect": "contract" | "monica4",
          "is_current": false,
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "last_used_at": "2024-01-16T08:00:00Z" | null,
          "expires_at": "2024-02-14T10:30:00Z" | null
        }
        """

    static let personalTokens = """
        GET /me/tokens limited addition: Returns the tokens of the caller's account, the oldest first, those of apps included.
        > /me/tokens
        < 200 { "data": [\(personalToken)] }

        POST /me/tokens limited addition: Makes a token of the caller's account, which is shown once.
        > { "name": "Phone", "dialect": "monica4" }
        < 200 {
          "data": {
            "id": #1,
            "object": = "token",
            "name": "Phone",
            "dialect": "contract" | "monica4",
            "is_current": = false,
            "account": \(owner),
            "created_at": "2024-01-15T10:30:00Z",
            "last_used_at": = null,
            "expires_at": = null,
            "text": "3q2-7wUu6R0nV5gG1sJfKzX8yQbLcTdWmEhPoIvAaNs"
          }
        }
        ! 422 The name field is required.

        DELETE /me/tokens/{id} limited addition: Revokes a token of the caller's account, which may be the one of the request.
        > /me/tokens/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 The requested token was not found.
        """
}
