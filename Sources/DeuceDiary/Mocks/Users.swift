import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiary.User {
    /// John, who is signed in.
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

    /// Jane, as John sees her.
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
    }
}
