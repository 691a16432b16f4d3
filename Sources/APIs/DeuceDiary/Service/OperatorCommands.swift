import Backend

extension DeuceDiaryService {
    /// Deletes a location that a user has added from the list that all users read.
    public struct DeleteLocation: OperatorCommand {
        public static let name = "deuce-diary location delete"
        public static let role = OperatorRole.all

        /// The location's name, in upper or lower case.
        var location: String

        public init(_ location: String) { self.location = location }

        public func run(in context: OperatorContext) async throws {
            let quoted = location.quoted
            switch try await DeuceDiaryService.deleteLocation(
                location, in: context.database, audit: context.audit)
            {
            case .deleted: try await context.print("\(quoted) was deleted")
            case .unknown: throw OperatorError("There is no location \(quoted)")
            case .isDefault: throw OperatorError("\(quoted) is a default location and cannot be deleted")
            }
        }
    }
}
