import Contract
import ContractMocks
import MessengerAPI

extension MessengerMock {
    func members() {
        server.example(of: Messenger.AddMembers.self) { try Self.chat($0.chat) }
        server.example(of: Messenger.RemoveMember.self) { request in
            let chat = try Self.chat(request.chat)
            guard chat.members.contains(where: { $0.id == request.user }) else {
                throw Problem(.notFound, "Member not found")
            }
            guard request.user != chat.owner else { throw Problem(.badRequest, "Use leave") }
            return Empty()
        }
        server.example(of: Messenger.LeaveChat.self) { request in
            _ = try Self.chat(request.chat)
            return Empty()
        }
    }
}
