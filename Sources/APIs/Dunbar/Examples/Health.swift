extension DunbarExamples {
    package static let healthReport = """
        {
          "status": = "healthy",
          "components": { "server": = "healthy", "database": = "healthy", "storage": = "healthy" },
          "timestamp": "2025-01-01T00:00:00.000Z"
        }
        """

    static let health = """
        GET /storage/health open: Checks whether the server is awake and healthy; otherwise it answers 503 with the same body.
        < 200 \(healthReport)

        GET /about open addition: Returns who runs the server, and on which terms.
        < 200 {
          "name": "Example Club" | null,
          "contact": "help@example.com" | null,
          "terms": "https://example.com/terms" | null,
          "privacy": "https://example.com/privacy" | null,
          "version": "2026-11" | null
        }
        """
}
