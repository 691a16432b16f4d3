import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples

extension DeuceDiary.Location {
    /// The example: a default location.
    public static let example: Self = contractExample(DeuceDiaryExamples.location)

    /// A second example: a location that John has added.
    public static let otherExample: Self = contractExample(DeuceDiaryExamples.otherLocation)
}

extension DeuceDiaryMock {
    func locations() {
        server.example(of: DeuceDiary.ListLocations.self) { request in
            (request.page ?? 1) == 1 ? Array([.example, .otherExample].prefix(request.limit ?? .max)) : []
        }
        server.example(of: DeuceDiary.CreateLocation.self) { request in
            let known = [DeuceDiary.Location.example, .otherExample].map { $0.name.foldedForComparison }
            guard !known.contains(request.name.trimmed.foldedForComparison) else {
                throw Problem(.badRequest, "Location already exists")
            }
            return .init(
                id: 6, name: request.name, isDefault: false, createdBy: DeuceDiary.User.example.id,
                createdAt: DeuceDiary.DeuceEntry.example.createdAt)
        }
    }
}
