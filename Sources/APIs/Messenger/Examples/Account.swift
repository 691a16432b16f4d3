extension MessengerExamples {
    package static let myself = """
        {
          "id": #1,
          "username": "alice",
          "email": "alice@example.com",
          "display_name": "Alice",
          "bio": "Hello world" | null,
          "created_at": "2026-02-23T10:00:00Z",
          + "avatar_file_id": null | #42
        }
        """

    static let account = #"""
        PUT /me addition: Changes the caller's profile.
        > { "display_name": "Alice", "bio": "Hello world", "avatar_file_id": 42 }
        > { "display_name": "Älice \"b\"", "bio": "\r\n\t\u001fé🎉" }
        > { "bio": null, "avatar_file_id": null }
        > {}
        < 200 \#(myself)
        ! 400 avatar must be an image
        ! 400 Text contains a word that is not allowed here
        ! 404 File not found

        POST /me/password key addition: Changes the caller's password.
        > { "current_password": "secret123", "new_password": "another one" }
        > { "current_password": "p\\ss/word 🎉", "new_password": "P\\ss/word 🎉" }
        < 204
        ! 403 Invalid password

        DELETE /me addition: Deletes the caller's account for good.
        > { "password": "secret123" }
        > { "password": "p\\ss/word 🎉" }
        < 204
        ! 403 Invalid password
        """#
}
