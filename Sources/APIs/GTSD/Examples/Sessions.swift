extension GTSDExamples {
    package static let session = #"""
        {
          "id": "4503599627370496",
          "device": "Anna's iPhone" | null,
          "createdAt": "2025-10-01T08:00:00.000Z" | null,
          "lastUsedAt": "2025-10-28T07:30:00.000Z",
          "address": "203.0.113.7" | null,
          "current": true
        }
        """#

    static let sessions = #"""
        GET /auth/sessions addition: Returns the sessions of the caller's account, the one that was used last first: at most the 500 that were.
        < 200 \#(success(#"{ "sessions": [\#(session)] }"#))

        DELETE /auth/sessions addition: Ends all sessions of the caller's account but the caller's own.
        < 200 \#(message("Other sessions ended successfully"))

        DELETE /auth/sessions/{sessionId} addition: Ends a session of the caller's account.
        > /auth/sessions/4503599627370496
        < 200 \#(message("Session ended successfully"))
        ! 404 Session not found
        """#
}
