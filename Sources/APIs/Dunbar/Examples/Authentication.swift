extension DunbarExamples {
    static let accountMembers = """
          "id": #1,
          "username": "jdoe",
          "email": "john.doe@example.com",
          "bio": "Hello world" | null,
          "photo": "\(pictures)/profile.jpg" | null,
          "isAdmin": false,
          "createdAt": "2025-01-01T00:00:00.000Z",
          "isPrivate": true,
          "displayName": "John Doe"
        """

    package static let account = "{ \(accountMembers) }"

    private static let registered = """
        {
          "id": #1,
          "username": "jdoe",
          "email": "john.doe@example.com",
          "bio": null | "Hello world",
          "photo": null | "\(pictures)/profile.jpg",
          "isAdmin": false,
          "createdAt": "2025-01-01T00:00:00.000Z",
          "isPrivate": true,
          "displayName": "John Doe",
          "message": "Please check your email to verify your account"
        }
        """

    static let authentication = #"""
        POST /login open: Begins a session, and ends the session that the request came with.
        > { "username": "jdoe", "password": "secret123" }
        > { "username": "string", "password": "string" }
        > { "username": "jdoe", "password": "secret123", + "deviceName": "John's iPhone" }
        < 200 \#(related(account))
        ! 401 Invalid username or password
        ! 403 Access from this network is not allowed

        POST /register open key: Creates an account and signs in.
        > {
          "username": "jdoe",
          "email": "john.doe@example.com",
          "password": "secret123",
          "displayName": "John Doe"
        }
        > { "username": "string", "email": "s@tring", "password": "stringstring", "displayName": "string" }
        > {
          "username": "älice\"b\"",
          "email": "a+b@example.com",
          "password": "p\\ss/word 🎉",
          "displayName": "A",
          + "confirmPassword": "p\\ss/word 🎉",
          + "deviceName": "John's iPhone"
        }
        > {
          "username": "rroe",
          "email": "richard.roe@example.com",
          "password": "secret123",
          "displayName": "Richard Roe",
          + "acceptedTerms": "2026-11",
          + "invitationCode": "K7QM-2XWA-9DHT"
        }
        < 201 \#(related(registered))
        ! 400 Username already exists
        ! 400 Email already exists
        ! 400 Passwords don't match
        ! 400 The terms of version 2026-11 must be accepted
        ! 400 Text contains a word that is not allowed here
        ! 403 Registration is closed
        ! 403 Registration needs an invitation code
        ! 403 Invitation code is not valid
        ! 403 Email address is not allowed here
        ! 403 Access from this network is not allowed
        ! 401 Unauthorized

        POST /logout open: Ends the session.
        > {}
        < 200 \#(message("Logged out successfully"))

        GET /user: Returns the signed-in user, with emailVerified.
        < 200 \#(related("{ \(accountMembers), \"emailVerified\": true }"))

        GET /verify-email/{token} open addition: Verifies an e-mail address; it is the link in an e-mail.
        > /verify-email/abc
        < 200 \#(message("Email verified"))
        ! 400 Invalid or expired verification token
        ! 400 Email already exists

        POST /verify-email/resend addition: Sends the e-mail that verifies the caller's address again.
        > {}
        < 200 \#(message("Verification email sent"))
        ! 400 Email already verified
        """#
}
