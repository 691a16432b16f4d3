extension MessengerExamples {
    package static let session = """
        {
          "id": #4503599627370496,
          "device": "Alice's iPhone" | null,
          "created_at": "2026-02-23T10:00:00Z" | null,
          "last_used_at": "2026-02-23T11:00:00Z",
          "address": "203.0.113.7" | null,
          "current": true
        }
        """

    static let sessions = #"""
        GET /me/sessions addition: Returns the sessions of the caller's account, the one that was used last first: at most the 500 that were.
        < 200 [\#(session)]

        DELETE /me/sessions addition: Ends all sessions of the caller's account but the caller's own, with their sockets and devices.
        < 204

        DELETE /me/sessions/{id} addition: Ends a session of the caller's account, with its sockets and devices.
        > /me/sessions/4503599627370496
        < 204
        ! 404 Session not found
        """#
}
