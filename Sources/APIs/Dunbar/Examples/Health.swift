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
        """
}
