extension MonicaExamples {
    private static let object = """
        {
          "state": "ready" | "preparing" | "failed",
          "requested_at": "2024-10-26T14:22:00Z",
          "size": 1048576 | null,
          "url": "https://example.com/objects/archive.zip" | null,
          "expires_at": "2024-10-28T14:22:00Z" | null
        }
        """

    static let archive = """
        POST /me/archive limited addition: Asks for an archive of all that the server keeps of the caller.
        > {}
        < 202 \(one(object))

        GET /me/archive limited addition: Returns the state of the caller's archive.
        < 200 \(one(object))
        ! 404 No archive was requested
        """
}
