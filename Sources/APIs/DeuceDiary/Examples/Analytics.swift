extension DeuceDiaryExamples {
    package static let topDay = #"{ "date": "2025-05-20", "count": #5 }"#

    static let analytics = """
        GET /api/analytics/most-deuces: Returns the day on which the caller logged the most entries.
        < 200 \(topDay) | { "date": = "", "count": = 0 }
        """
}
