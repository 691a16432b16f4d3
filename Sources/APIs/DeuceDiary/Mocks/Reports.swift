import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiaryMock {
    func reports() {
        server.example(of: DeuceDiary.ReportUser.self) { request in
            try Self.requireJane(request.user, or: "You can't report yourself")
            return .init(message: "User reported")
        }
        server.example(of: DeuceDiary.ReportEntry.self) { [memory] request in
            let entries = memory.use { $0.entries }
            guard let entry = entries.first(where: { $0.id == request.entry }) else {
                throw Problem(.notFound, "Entry not found")
            }
            guard entry.userId != DeuceDiary.User.example.id else {
                throw Problem(.badRequest, "You can't report your own entry")
            }
            return .init(message: "Entry reported")
        }
    }

    /// - Parameter refusal: The message when the user is John, who is signed in.
    static func requireJane(_ user: DeuceDiary.User.ID, or refusal: String) throws {
        guard user != DeuceDiary.User.example.id else { throw Problem(.badRequest, refusal) }
        guard user == DeuceDiary.User.otherExample.id else { throw Problem(.notFound, "User not found") }
    }
}
