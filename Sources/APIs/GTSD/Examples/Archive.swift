extension GTSDExamples {
    private static let object = """
        {
          "state": "ready" | "preparing" | "failed",
          "requestedAt": "2025-10-26T14:22:00.000Z",
          "size": 1048576 | null,
          "url": "https://example.com/objects/archive.zip" | null,
          "expiresAt": "2025-10-28T14:22:00.000Z" | null
        }
        """

    static let archive = """
        POST /auth/me/archive addition: Asks for an archive of all that the server keeps of the caller.
        > {}
        < 202 \(success(object))

        GET /auth/me/archive addition: Returns the state of the caller's archive.
        < 200 \(success(object))
        ! 404 No archive was requested
        """
}
