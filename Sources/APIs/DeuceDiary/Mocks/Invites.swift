import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples
import HTTPTypes

extension DeuceDiary.CreatedInvite {
    /// The example: an invite to "Throne Room".
    public static let example: Self = contractExample(DeuceDiaryExamples.createdInvite)
}

extension DeuceDiary.InvitePreview {
    /// The example: the preview of "Throne Room".
    public static let example: Self = contractExample(DeuceDiaryExamples.preview)
}

extension DeuceDiary.GroupInvite {
    /// The example: John's invite to "Throne Room".
    public static let example: Self = contractExample(DeuceDiaryExamples.groupInvite)
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
            guard request.invite.isUUID else { throw Problem(.notFound, DeuceDiary.errorMessages.notFound) }
            return Answer(.found, headers: [.location: "deucediary://join/\(request.invite)"])
        }
    }
}
