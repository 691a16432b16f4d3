import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiaryMock {
    func members() {
        server.example(of: DeuceDiary.LeaveGroup.self) { request in
            try Self.requireGroup(request.group)
            return .init(message: "Left group")
        }
        server.example(of: DeuceDiary.RemoveMember.self) { request in
            try Self.requireGroup(request.group)
            guard request.user != DeuceDiary.User.example.id else {
                throw Problem(.badRequest, "Use leave to remove yourself")
            }
            guard request.user == DeuceDiary.User.otherExample.id else {
                throw Problem(.notFound, "Member not found")
            }
            return .init(message: "Member removed")
        }
    }

    static func requireGroup(_ group: DeuceDiary.Group.ID) throws {
        guard group == DeuceDiary.Group.example.id else { throw Problem(.notFound, "Group not found") }
    }
}
