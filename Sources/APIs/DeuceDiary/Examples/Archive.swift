extension DeuceDiaryExamples {
    private static let object = """
        {
          "state": "ready" | "preparing" | "failed",
          "requestedAt": "2025-06-10T12:00:00.000Z",
          "size": 1048576 | null,
          "url": "https://example.com/objects/archive.zip" | null,
          "expiresAt": "2025-06-12T12:00:00.000Z" | null
        }
        """

    static let archive = """
        POST /api/auth/user/archive addition: Asks for an archive of all that the server keeps of the caller.
        > {}
        < 200 \(object)

        GET /api/auth/user/archive addition: Returns the state of the caller's archive.
        < 200 \(object)
        ! 404 No archive was requested
        """
}
