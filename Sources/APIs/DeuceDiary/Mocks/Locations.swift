import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiary.Location {
    /// The example: a default location.
    public static let example: Self = contractExample(
        """
        { "id": 1, "name": "Home", "isDefault": true, "createdBy": null, "createdAt": "2025-01-01T00:00:00.000Z" }
        """)

    /// A second example: a location that John has added.
    public static let otherExample: Self = contractExample(
        """
        {
          "id": 5,
          "name": "The Office",
          "isDefault": false,
          "createdBy": "user_abc123",
          "createdAt": "2025-06-01T12:00:00.000Z"
        }
        """)
}

extension DeuceDiaryMock {
    func locations() {
        server.example(of: DeuceDiary.ListLocations.self) { request in
            (request.page ?? 1) == 1 ? Array([.example, .otherExample].prefix(request.limit ?? .max)) : []
        }
        server.example(of: DeuceDiary.CreateLocation.self) { request in
            let known = [DeuceDiary.Location.example, .otherExample].map { $0.name.lowercased() }
            guard !known.contains(request.name.lowercased()) else {
                throw Problem(.badRequest, "Location already exists")
            }
            return .init(
                id: 6, name: request.name, isDefault: false, createdBy: DeuceDiary.User.example.id,
                createdAt: DeuceDiary.DeuceEntry.example.createdAt)
        }
    }
}
