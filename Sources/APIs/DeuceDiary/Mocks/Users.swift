import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples
import HTTPTypes

extension DeuceDiary.User {
    /// The example: John, who is signed in.
    public static let example: Self = contractExample(DeuceDiaryExamples.user)

    /// A second example: Jane, as John sees her.
    public static let otherExample: Self = contractExample(DeuceDiaryExamples.otherUser)
}

extension DeuceDiaryMock {
    func users() {
        server.example(of: DeuceDiary.UpdateUser.self) { request in
            var user = DeuceDiary.User.example
            user.username = request.username
            return user
        }
        server.example(of: DeuceDiary.UploadProfilePicture.self) { request in
            guard request.picture.contentType.lowercased().hasPrefix("image/") else {
                throw Problem(.badRequest, "Only image files are allowed")
            }
            return .example
        }
        server.example(answering: DeuceDiary.ExportUser.self) { [memory] _ in
            let john = DeuceDiary.User.example
            let entries = memory.use { $0.entries }.map(\.value).filter { $0.userId == john.id }
            let export = DeuceDiary.UserExport(
                exportedAt: john.updatedAt, user: john, groups: [.example], entries: entries, reactions: [.example],
                locations: [.otherExample])
            return Answer(.ok, export, headers: [.contentDisposition: "attachment"])
        }
    }
}

extension DeuceDiary.ExportedGroup {
    /// The group "Throne Room", as John created it.
    public static let example = Self(
        id: DeuceDiary.Group.example.id, name: DeuceDiary.Group.example.name, role: .admin,
        joinedAt: DeuceDiary.Group.example.createdAt)
}

extension HTTPField.Name {
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
