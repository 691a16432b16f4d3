extension DeuceDiaryExamples {
    package static let location = """
        {
          "id": #1,
          "name": "Home",
          "isDefault": true,
          "createdBy": null | "user_abc123",
          "createdAt": "2025-01-01T00:00:00.000Z"
        }
        """

    package static let otherLocation = """
        {
          "id": #5,
          "name": "The Office",
          "isDefault": false,
          "createdBy": "user_abc123" | null,
          "createdAt": "2025-06-01T12:00:00.000Z"
        }
        """

    static let locations = """
        GET /api/locations open +limit +page: Returns the default locations, then the others, each by name.
        >
        > /api/locations?limit=2&page=3
        < 200 [\(location), \(otherLocation)]

        POST /api/locations key: Adds a location to the shared list, at most 100 from one user.
        > { "name": "Grandma's House" }
        > { "name": \(oddName) }
        < 200 {
          "id": #6,
          "name": "Grandma's House",
          "isDefault": false,
          "createdBy": "user_abc123" | null,
          "createdAt": "2025-06-10T12:00:00.000Z"
        }
        ! 400 Location already exists
        ! 400 Location limit reached
        ! 400 Text contains a word that is not allowed here
        """
}
