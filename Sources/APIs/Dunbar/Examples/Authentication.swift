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
        POST /login open
        > { "username": "string", "password": "string" }
        < 200 \#(related(account))

        POST /register open key
        > { "username": "string", "email": "s@tring", "password": "stringstring", "displayName": "string" }
        > {
          "username": "älice\"b\"",
          "email": "a+b@example.com",
          "password": "p\\ss/word 🎉",
          "displayName": "A",
          "confirmPassword": "p\\ss/word 🎉"
        }
        < 201 \#(related(registered))

        POST /logout open
        > {}
        < 200 \#(message("Logged out successfully"))

        GET /user
        < 200 \#(related("{ \(accountMembers), \"emailVerified\": true }"))

        GET /verify-email/{token} open
        > /verify-email/abc
        < 200 \#(message("Email verified"))

        POST /verify-email/resend
        > {}
        < 200 \#(message("Verification email sent"))
        """#
}
