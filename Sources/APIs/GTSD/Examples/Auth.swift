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

    static let about = #"""
        {
          "name": "Example Club" | null,
          "contact": "help@example.com" | null,
          "terms": "https://example.com/terms" | null,
          "privacy": "https://example.com/privacy" | null,
          "version": "2026-11" | null
        }
        """#

    static let auth = #"""
        POST /auth/signup open key: Creates an account and signs in to it.
        > { "email": "anna@example.com", "password": "Secret-123" }
        > { "email": "a+b@example.com", "password": "P\\ss 🎉 12", + "name": "Ä", + "timezone": "UTC" }
        > { "email": "anna@example.com", "password": "Secret-123", + "deviceName": "Anna's iPhone" }
        > {
          "email": "ben@example.com",
          "password": "Secret-123",
          + "acceptedTerms": "2026-11",
          + "invitationCode": "K7QM-2XWA-9DHT"
        }
        < 201 \#(success(signedIn))
        ! 400 Validation failed: timezone: Invalid timezone
        ! 400 Validation failed: acceptedTerms: The terms of version 2026-11 must be accepted
        ! 403 Registration is closed
        ! 403 Registration needs an invitation code
        ! 403 Invitation code is not valid
        ! 403 Email address is not allowed here
        ! 403 Access from this network is not allowed
        ! 401 Invalid or expired token
        ! 409 User with this email already exists

        POST /auth/login open: Begins a new session.
        > { "email": "anna@example.com", "password": "Secret-123" }
        > { "email": "anna@example.com", "password": "Secret-123", + "deviceName": "Anna's iPhone" }
        < 200 \#(success(signedIn))
        ! 401 Invalid email or password
        ! 403 Access from this network is not allowed
        ! 403 Account is deactivated

        POST /auth/refresh open: Returns another pair of tokens.
        > { "refreshToken": "eyJ..." }
        < 200 \#(success(#"{ "accessToken": "eyJ...", "refreshToken": "eyJ..." }"#))
        ! 401 Invalid or expired refresh token
        ! 403 Account is deactivated

        POST /auth/logout open: Ends a session.
        > { "refreshToken": "eyJ..." }
        > {}
        < 200 \#(message("Logged out successfully"))

        GET /auth/me: Returns the caller's own account.
        < 200 \#(success(user))

        PATCH /auth/me addition: Changes the caller's name and time zone.
        > { "name": "Anna", "timezone": "Europe/Berlin" }
        > { "name": "Ä \"b\"" }
        > {}
        < 200 \#(success(user))
        ! 400 Validation failed: timezone: Invalid timezone

        POST /auth/password key addition: Changes the caller's password.
        > { "currentPassword": "Secret-123", "newPassword": "Secret-456" }
        < 200 \#(message("Password changed successfully"))
        ! 403 Invalid password

        DELETE /auth/me addition: Deletes the caller's account with everything that belongs to it.
        > { "password": "Secret-123" }
        < 200 \#(message("Account deleted successfully"))
        ! 403 Invalid password

        GET /about open addition: Returns who runs the server, and on which terms.
        < 200 \#(success(about))
        """#
}
