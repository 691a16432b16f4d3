import Contract
import ContractMocks
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiary.CreatedInvite {
    /// The example: an invite to "Throne Room".
    public static let example: Self = contractExample(
        """
        {
          "inviteLink": "https://deucediary.com/join/0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e",
          "id": "0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e"
        }
        """)
}

extension DeuceDiary.InvitePreview {
    /// The example: the preview of "Throne Room".
    public static let example: Self = contractExample(
        #"{ "name": "Throne Room", "memberCount": 2, "deuceCount": 1, "expiresAt": "2025-06-17T08:00:00.000Z" }"#)
}

extension DeuceDiary.GroupInvite {
    /// The example: John's invite to "Throne Room".
    public static let example: Self = contractExample(
        """
        {
          "id": "0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e",
          "inviteLink": "https://deucediary.com/join/0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e",
          "createdBy": "user_abc123",
          "expiresAt": "2025-06-17T08:00:00.000Z",
          "createdAt": "2025-06-10T08:00:00.000Z"
        }
        """)
}

extension DeuceDiaryMock {
    func invites() {
        server.example(of: DeuceDiary.CreateInvite.self) { request in
            guard request.group == DeuceDiary.Group.example.id else { throw Problem(.forbidden, "Not authorized") }
            return .example
        }
        server.example(of: DeuceDiary.JoinGroup.self) { request in
            guard request.invite == DeuceDiary.CreatedInvite.example.id else {
                throw Problem(.badRequest, "Invalid or expired invite")
            }
            return .init(group: .example)
        }
        server.example(of: DeuceDiary.PreviewInvite.self) { [memory] request in
            guard request.invite == DeuceDiary.CreatedInvite.example.id else {
                throw Problem(.notFound, "Invite not found or expired")
            }
            var preview = DeuceDiary.InvitePreview.example
            preview.deuceCount = memory.use { $0.entries.count }
            return preview
        }
        server.example(of: DeuceDiary.ListInvites.self) { request in
            guard request.group == DeuceDiary.Group.example.id else { throw Problem(.forbidden, "Not authorized") }
            if let before = request.before {
                guard before == DeuceDiary.GroupInvite.example.id else { throw Problem(.badRequest, "Invalid cursor") }
                return []
            }
            return [.example]
        }
        server.example(of: DeuceDiary.RevokeInvite.self) { request in
            guard request.invite == DeuceDiary.GroupInvite.example.id else {
                throw Problem(.notFound, "Invite not found")
            }
            return .init(message: "Invite revoked")
        }
        server.example(answering: DeuceDiary.OpenInvite.self) { request in
            guard request.invite.isUUID else { throw Problem(.notFound, DeuceDiary.phrases.notFound) }
            return Answer(.found, headers: [.location: "deucediary://join/\(request.invite)"])
        }
    }
}
