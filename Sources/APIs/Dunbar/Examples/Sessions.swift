extension DunbarExamples {
    package static let session = """
        {
          "id": #4503599627370496,
          "device": "John's iPhone" | null,
          "createdAt": "2025-01-01T00:00:00.000Z" | null,
          "lastUsedAt": "2025-01-01T01:00:00.000Z",
          "address": "203.0.113.7" | null,
          "isCurrent": true
        }
        """

    static let sessions = #"""
        GET /sessions addition: Returns the sessions of the caller's account, the one that was used last first: at most the 500 that were.
        < 200 [\#(session)]

        DELETE /sessions addition: Ends all sessions of the caller's account but the caller's own.
        < 200 \#(message("Other sessions ended"))

        DELETE /sessions/{id} addition: Ends a session of the caller's account.
        > /sessions/4503599627370496
        < 200 \#(message("Session ended"))
        ! 400 Invalid session ID
        ! 404 Session not found
        """#
}
