extension GTSDExamples {
    package static let user = #"""
        {
          "id": "1",
          "email": "anna@example.com",
          "createdAt": "2025-10-01T08:00:00.000Z",
          "updatedAt": "2025-10-01T08:05:00.000Z",
          + "name": "Anna" | null,
          + "emailVerified": false,
          + "hasCompletedOnboarding": true,
          + "timezone": "Europe/Berlin"
        }
        """#

    package static let signedIn = #"{ "user": \#(user), "accessToken": "eyJ...", "refreshToken": "eyJ..." }"#

    static let auth = #"""
        POST /auth/signup open key
        > { "email": "anna@example.com", "password": "Secret-123" }
        > { "email": "a+b@example.com", "password": "P\\ss 🎉 12", "name": "Ä", "timezone": "UTC" }
        < 201 \#(success(signedIn))

        POST /auth/login open
        > { "email": "anna@example.com", "password": "Secret-123" }
        < 200 \#(success(signedIn))

        POST /auth/refresh open
        > { "refreshToken": "eyJ..." }
        < 200 \#(success(#"{ "accessToken": "eyJ...", "refreshToken": "eyJ..." }"#))

        POST /auth/logout open
        > { "refreshToken": "eyJ..." }
        > {}
        < 200 \#(message("Logged out successfully"))

        GET /auth/me
        < 200 \#(success(user))

        DELETE /auth/me
        > { "password": "Secret-123" }
        < 200 \#(message("Account deleted successfully"))
        """#
}
