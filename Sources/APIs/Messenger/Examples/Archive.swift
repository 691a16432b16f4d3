extension MessengerExamples {
    private static let object = """
        {
          "state": "ready" | "preparing" | "failed",
          "requested_at": "2026-02-23T10:00:00Z",
          "size": 1048576 | null,
          "url": "https://example.com/objects/archive.zip" | null,
          "expires_at": "2026-02-25T10:00:00Z" | null
        }
        """

    static let archive = """
        POST /me/archive addition: Asks for an archive of all that the server keeps of the caller.
        > {}
        < 202 \(object)

        GET /me/archive addition: Returns the state of the caller's archive.
        < 200 \(object)
        ! 404 No archive was requested
        """
}
