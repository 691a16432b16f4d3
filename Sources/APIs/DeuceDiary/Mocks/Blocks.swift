import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiaryMock {
    func blocks() {
        server.example(of: DeuceDiary.BlockUser.self) { [memory] request in
            try Self.requireJane(request.user, or: "You can't block yourself")
            memory.use { $0.isJaneBlocked = true }
            return .init(message: "User blocked")
        }
        server.example(of: DeuceDiary.UnblockUser.self) { [memory] request in
            if request.user == DeuceDiary.User.otherExample.id { memory.use { $0.isJaneBlocked = false } }
            return .init(message: "User unblocked")
        }
        server.example(of: DeuceDiary.ListBlocks.self) { [memory] _ in
            memory.use { $0.isJaneBlocked } ? [.otherExample] : []
        }
    }
}
