import Contract
import ContractMocks
import MessengerAPI

extension MessengerMock {
    func account() {
        server.example(of: Messenger.GetMe.self) { [memory] _ in memory.use { $0.account } }
        server.example(of: Messenger.UpdateMe.self) { [memory] request in
            if case .to(let picture) = request.avatar { try Self.requireFile(picture) }
            return memory.use { memory in
                if let name = request.displayName?.trimmed { memory.account.displayName = name }
                request.bio.apply(to: &memory.account.bio)
                request.avatar.apply(to: &memory.account.avatar)
                return memory.account
            }
        }
        server.example(of: Messenger.DeleteMe.self) { [memory] _ in
            memory.use { $0.endSessions() }
            return Empty()
        }
    }
}
