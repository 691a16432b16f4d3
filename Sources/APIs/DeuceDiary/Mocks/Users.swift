import Contract
import ContractMocks
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiary.User {
    /// The example: John, who is signed in.
    public static let example: Self = contractExample(
        """
        {
          "id": "user_abc123",
          "email": "john@example.com",
          "firstName": "John",
          "lastName": "Doe",
          "username": "johndoe",
          "profileImageUrl": "/uploads/user_abc123-1700000000.jpg",
          "deuceCount": 42,
          "createdAt": "2025-01-15T10:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """)

    /// A second example: Jane, as John sees her.
    public static let otherExample: Self = contractExample(
        """
        {
          "id": "user_def456",
          "email": null,
          "firstName": "Jane",
          "lastName": "Roe",
          "username": "janeroe",
          "profileImageUrl": null,
          "deuceCount": 7,
          "createdAt": "2025-02-01T10:00:00.000Z",
          "updatedAt": "2025-06-01T12:00:00.000Z"
        }
        """)
}

extension DeuceDiaryMock {
    func users() {
        server.example(of: DeuceDiary.GetUser.self) { _ in .example }
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
        server.example(of: DeuceDiary.DeleteUser.self) { _ in .init(message: "Account deleted") }
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
